// Mail transport that hands every message to one relay (a smarthost), which is responsible for it from then on.
import { isIP } from 'node:net'
import type { Log } from '../../../core/log.ts'
import type { DeliveryResult, MailTransport } from '../../../features/mail/outbound/provider.ts'
import { createClientPool, type PoolLimits } from './connection-pool.ts'
import { type ClientTarget, type ClientTimeouts, clientTimeouts } from './conversation.ts'
import { createPrepare } from './outgoing-data.ts'
import { unsendable } from './transaction.ts'

/** Settings of a relay. `hostname` is the client's own name, sent in EHLO. `ca` replaces the system's certificate authorities. */
export type RelaySettings = {
  url: string
  hostname: string
  log: Log
  ca?: string | Buffer
  timeouts?: Partial<ClientTimeouts>
  limits?: Partial<PoolLimits>
}

// The number of recipients that every server must accept (RFC 5321 §4.5.3.1.8).
const recipientsMax = 100

/**
 * A transport to the relay of `url`: `smtp://[user:password@]host[:port]` (port 25) or `smtps://…` (port 465, TLS from the start), with
 * `?tls=off|opportunistic|required` and `?verify=true|false`.
 * By default, credentials are sent over verified TLS only, except to this machine. Without credentials TLS is used when offered, and not
 * verified. Throws an Error for the operator.
 */
export function createRelayTransport(settings: RelaySettings): MailTransport {
  const target = parseRelayUrl(settings)
  const pool = createClientPool(settings.limits)
  const prepareOnce = createPrepare()
  return {
    name: 'relay',
    async deliver(envelope, raw) {
      const data = prepareOnce(raw)
      if (!data) {
        settings.log.error('a composed message holds a bare CR, a bare LF or a NUL')
        return envelope.recipients.map(() => unsendable)
      }
      const outcomes: DeliveryResult[] = []
      for (let start = 0; start < envelope.recipients.length; start += recipientsMax) {
        const recipients = envelope.recipients.slice(start, start + recipientsMax)
        outcomes.push(...(await pool.send(target, { ...envelope, recipients }, data, false)).deliveryResults)
      }
      for (const outcome of outcomes) {
        if (outcome.kind === 'retry')
          // Without the reply, which may quote addresses and content. It is stored with the recipient.
          settings.log.debug(
            { reply_code: /^\d{3}/.exec(outcome.answer)?.[0], code: outcome.diagnosticCode },
            'the relay rejected a message',
          )
      }
      return outcomes
    },
    close: () => pool.close(),
  }
}

function parseRelayUrl({ url, hostname, ca, timeouts }: RelaySettings): ClientTarget {
  const parsed = URL.canParse(url) ? new URL(url) : null
  const isImplicit = parsed?.protocol === 'smtps:'
  if (!parsed?.hostname || (!isImplicit && parsed.protocol !== 'smtp:') || !/^\/?$/.test(parsed.pathname)) {
    throw new Error('the relay must be given as smtp://host:port or smtps://host:port')
  }
  const host = parsed.hostname.replace(/^\[|\]$/g, '')
  const isHere = host === 'localhost' || host === '::1' || (isIP(host) === 4 && host.startsWith('127.'))
  const auth = parsed.username ? { user: decoded(parsed.username), password: decoded(parsed.password) } : null
  const usual = isImplicit ? 'implicit' : auth && !isHere ? 'required' : 'opportunistic'
  const asked = parsed.searchParams.get('tls')
  if (asked !== null && (isImplicit || !['off', 'opportunistic', 'required'].includes(asked))) {
    throw new Error('the relay option tls must be off, opportunistic or required, and goes with smtp:// only')
  }
  const tlsMode = (asked ?? usual) as ClientTarget['tlsMode']
  const verify = parsed.searchParams.get('verify')
  if (verify !== null && verify !== 'true' && verify !== 'false') throw new Error('the relay option verify must be true or false')
  const isVerified = verify === null ? tlsMode === 'implicit' || tlsMode === 'required' : verify === 'true'
  return {
    host,
    port: Number(parsed.port) || (isImplicit ? 465 : 25),
    tlsMode,
    tls: { serverName: host, verify: isVerified, ...(ca ? { ca } : {}) },
    hostname,
    auth,
    timeouts: { ...clientTimeouts, ...timeouts },
  }
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    throw new Error('the credentials of the relay must be percent-encoded, % itself as %25')
  }
}
