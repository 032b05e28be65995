// Opens the connection for one outbound request. Looks the host up once, checks every address, dials exactly a checked one, and checks the
// peer.
import { connect as connectTcp, isIP, type Socket } from 'node:net'
import { connect as connectTls } from 'node:tls'
import { FetchRefused } from '../../core/web.ts'
import { type AddressRules, canonicalAddress } from './address-rules.ts'
import type { Lookup } from './host-lookup.ts'
import type { OutboundTarget } from './outbound-url.ts'

// A host may have any number of addresses. All are checked, and the first few are tried.
const addressesTriedMax = 4

type Opening = { rules: AddressRules; lookup: Lookup; connectTimeoutMs: number; signal: AbortSignal }

/**
 * A connected socket (TLS already negotiated for https) before any HTTP. `connectTimeoutMs` limits each of the lookup, the dialling and the
 * TLS handshake. Rejects with FetchRefused.
 */
export async function openGuarded(target: OutboundTarget, opening: Opening): Promise<Socket> {
  const addresses = await publicAddresses(target.hostname, opening)
  const deadlineMs = performance.now() + opening.connectTimeoutMs
  let failure: unknown
  for (const [index, address] of addresses.entries()) {
    const leftMs = deadlineMs - performance.now()
    if (leftMs <= 0) break
    // Each address gets a share of the time, so that one that drops packets does not use up the time of the others.
    const tcp = await dial(address, target.port, leftMs / (addresses.length - index), opening.signal).catch((error: unknown) => {
      failure = error
      return null
    })
    if (!tcp) continue
    checkPeer(tcp, address, opening.rules)
    return target.isTls ? await secure(tcp, target.hostname, opening) : tcp
  }
  throw connectFailure(failure)
}

/** The error in a host by its name alone, for a forbidden address or a name that always means this machine. */
export function findLiteralProblem(hostname: string, rules: AddressRules): FetchRefused | null {
  if (isIP(hostname)) return rules.allows(hostname) ? null : notPublic()
  return isLoopbackName(hostname) && loopbackAddresses(rules).length === 0 ? notPublic() : null
}

/**
 * RFC 6761 §6.3: these names mean this machine and are never looked up. They are allowed only when the operator allows loopback addresses.
 */
const isLoopbackName = (hostname: string): boolean => hostname === 'localhost' || hostname.endsWith('.localhost')
const loopbackAddresses = (rules: AddressRules): string[] => ['127.0.0.1', '::1'].filter((address) => rules.allows(address))

/**
 * The addresses to dial, IPv4 first. One address that is not public refuses them all, because a name that mixes both is an attack or a
 * mistake.
 */
async function publicAddresses(hostname: string, { rules, lookup, connectTimeoutMs, signal }: Opening): Promise<string[]> {
  if (isIP(hostname)) {
    if (!rules.allows(hostname)) throw notPublic()
    return [hostname]
  }
  if (isLoopbackName(hostname)) {
    const loopback = loopbackAddresses(rules)
    if (loopback.length === 0) throw notPublic()
    return loopback
  }
  const answers = await within(lookup(hostname), connectTimeoutMs, signal).catch(() => [])
  if (answers.length === 0 || !answers.every((address) => rules.allows(address))) throw notReachable()
  const sorted = answers.toSorted((a, b) => isIP(a) - isIP(b))
  return [...new Set(sorted)].slice(0, addressesTriedMax)
}

async function dial(address: string, port: number, timeoutMs: number, signal: AbortSignal): Promise<Socket> {
  const socket = connectTcp({ host: address, port, noDelay: true })
  await opened(socket, 'connect', timeoutMs, signal)
  return socket
}

/**
 * The system may connect to another address than the dialled one (0.0.0.0 reaches 127.0.0.1). The peer is therefore checked before the
 * first byte is sent.
 */
function checkPeer(socket: Socket, dialled: string, rules: AddressRules): void {
  const peer = socket.remoteAddress
  if (peer !== undefined && rules.allows(peer) && canonicalAddress(peer) === canonicalAddress(dialled)) return
  socket.destroy()
  throw peer === undefined ? new FetchRefused('The server closed the connection at once.', 'connection_lost') : notPublic()
}

async function secure(tcp: Socket, hostname: string, { connectTimeoutMs, signal }: Opening): Promise<Socket> {
  const socket = connectTls({
    socket: tcp,
    host: hostname,
    // A literal address does not have a server name (RFC 6066 §3). The certificate is then checked against the address.
    servername: isIP(hostname) ? '' : hostname,
    ALPNProtocols: ['http/1.1'],
    rejectUnauthorized: true,
  })
  try {
    await opened(socket, 'secureConnect', connectTimeoutMs, signal)
    return socket
  } catch (error) {
    tcp.destroy()
    throw tlsFailure(error)
  }
}

/** Waits for the event that opens a socket. A socket that fails, closes or times out is destroyed. */
function opened(socket: Socket, event: 'connect' | 'secureConnect', timeoutMs: number, signal: AbortSignal): Promise<void> {
  // Stays for the socket's life. Until the HTTP client takes over, nothing else listens, and an unhandled error ends the process.
  socket.on('error', () => {})
  const { promise, resolve, reject } = Promise.withResolvers<void>()
  socket.once(event, resolve).once('error', reject)
  socket.once('close', () => reject(new FetchRefused('The server closed the connection.', 'connection_lost')))
  return within(promise, timeoutMs, signal).catch((error: unknown) => {
    socket.destroy()
    throw error
  })
}

/** The promise, or a FetchRefused at the timeout or when the whole request is aborted. */
function within<T>(promise: Promise<T>, timeoutMs: number, signal: AbortSignal): Promise<T> {
  const { promise: limit, reject } = Promise.withResolvers<never>()
  const expire = () => reject(new FetchRefused('The server could not be reached in time.', 'connect_timeout'))
  const timer = setTimeout(expire, timeoutMs)
  signal.addEventListener('abort', expire, { once: true })
  if (signal.aborted) expire()
  return Promise.race([promise, limit]).finally(() => {
    clearTimeout(timer)
    signal.removeEventListener('abort', expire)
  })
}

const notPublic = (): FetchRefused => new FetchRefused('The URL leads to an address that is not public.', 'blocked_address')

/** The same for unknown names and for private addresses, so that a caller cannot find out which names exist in the operator's network. */
const notReachable = (): FetchRefused =>
  new FetchRefused('The host name of the URL was not found, or does not lead to public addresses only.', 'dns')

function connectFailure(error: unknown): FetchRefused {
  if (error instanceof FetchRefused) return error
  if (errorCode(error) === 'ECONNREFUSED') return new FetchRefused('The server refused the connection.', 'connect_refused')
  if (error === undefined || errorCode(error) === 'ETIMEDOUT')
    return new FetchRefused('The server could not be reached in time.', 'connect_timeout')
  return new FetchRefused('The server could not be reached.', 'connect_refused')
}

function tlsFailure(error: unknown): FetchRefused {
  if (error instanceof FetchRefused) {
    return error.failure === 'connection_lost'
      ? new FetchRefused('The server closed the connection during the TLS handshake.', 'tls_failed')
      : error
  }
  switch (errorCode(error)) {
    case 'CERT_HAS_EXPIRED':
      return new FetchRefused("The server's TLS certificate has expired.", 'tls_expired')
    case 'CERT_NOT_YET_VALID':
      return new FetchRefused("The server's TLS certificate is not valid yet.", 'tls_expired')
    case 'ERR_TLS_CERT_ALTNAME_INVALID':
      return new FetchRefused("The server's TLS certificate is for another host name.", 'tls_hostname')
    case 'DEPTH_ZERO_SELF_SIGNED_CERT':
    case 'SELF_SIGNED_CERT_IN_CHAIN':
    case 'UNABLE_TO_VERIFY_LEAF_SIGNATURE':
    case 'UNABLE_TO_GET_ISSUER_CERT':
    case 'UNABLE_TO_GET_ISSUER_CERT_LOCALLY':
    case 'CERT_UNTRUSTED':
    case 'CERT_SIGNATURE_FAILURE':
    case 'INVALID_CA':
      return new FetchRefused("The server's TLS certificate is not signed by a trusted authority.", 'tls_untrusted')
    default:
      return new FetchRefused('The TLS handshake with the server failed.', 'tls_failed')
  }
}

function errorCode(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : ''
}
