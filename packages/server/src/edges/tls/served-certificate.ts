// Reads the certificate that a TLS listener serves, by a handshake with it.
import type { X509Certificate } from 'node:crypto'
import { connect as connectTcp, isIP, type Socket } from 'node:net'
import { connect as connectTls, type TLSSocket } from 'node:tls'

/** `servername` is sent as SNI and is the name that the certificate must have. */
export type TlsTarget = { host: string; port: number; servername: string; isStartTls: boolean }

export type ServedCertificate = {
  certificate: X509Certificate
  /** Certificates sent by the listener, with its own. */
  chainLength: number
  /** Why a client of this system does not trust the chain, or null. */
  distrust: string | null
  /** True when the certificate has the name. */
  isNamed: boolean
}

const answerMs = 5_000
const lineBytesMax = 4_096

/** Rejects when the listener cannot be reached, or does not complete the handshake within 5 seconds. */
export async function readServedCertificate({ host, port, servername, isStartTls }: TlsTarget): Promise<ServedCertificate> {
  const plain = connectTcp({ host, port })
  plain.setTimeout(answerMs, () => plain.destroy(new Error(`no answer within ${answerMs / 1000} s`)))
  try {
    if (isStartTls) await startTls(plain)
    const secure = await handshake(plain, servername)
    const certificate = secure.getPeerX509Certificate()
    if (!certificate) throw new Error('the listener has no certificate')
    return {
      certificate,
      chainLength: chainLengthOf(certificate),
      distrust: secure.authorized ? null : String(secure.authorizationError),
      isNamed: certificate.checkHost(servername) !== undefined,
    }
  } finally {
    plain.destroy()
  }
}

function handshake(socket: Socket, servername: string): Promise<TLSSocket> {
  return new Promise((resolve, reject) => {
    // The name is compared by the caller.
    const options = { socket, rejectUnauthorized: false, checkServerIdentity: () => undefined }
    const secure = connectTls({ ...options, ...(isIP(servername) ? {} : { servername }) })
    secure.once('secureConnect', () => resolve(secure))
    secure.once('error', reject)
    socket.once('error', reject)
    socket.once('close', () => reject(new Error('the listener closed the connection')))
  })
}

/** Brings an SMTP connection to the point where the handshake begins (RFC 3207). */
async function startTls(socket: Socket): Promise<void> {
  await readReply(socket, '220')
  socket.write('EHLO doctor.invalid\r\n')
  const offers = await readReply(socket, '250')
  if (!/^250[- ]STARTTLS\s*$/im.test(offers)) throw new Error('the server does not offer STARTTLS')
  socket.write('STARTTLS\r\n')
  await readReply(socket, '220')
}

/** Resolves with a whole reply of this code. */
function readReply(socket: Socket, code: string): Promise<string> {
  return new Promise((resolve, reject) => {
    let text = ''
    const stop = (report: () => void) => {
      socket.off('data', onData)
      socket.off('error', onError)
      socket.off('close', onClose)
      report()
    }
    const onData = (bytes: Buffer) => {
      text += bytes.toString('latin1')
      if (new RegExp(`^${code} [^\\n]*\\n$`, 'm').test(text)) stop(() => resolve(text))
      else if (/^\d{3} [^\n]*\n/m.test(text) || text.length > lineBytesMax)
        stop(() => reject(new Error(`the server answered: ${text.trim().slice(0, 100)}`)))
    }
    const onError = (error: Error) => stop(() => reject(error))
    const onClose = () => stop(() => reject(new Error('the server closed the connection')))
    socket.on('data', onData)
    socket.once('error', onError)
    socket.once('close', onClose)
  })
}

function chainLengthOf(certificate: X509Certificate): number {
  let length = 1
  for (let one = certificate; one.issuerCertificate && one.issuerCertificate !== one && length < 10; one = one.issuerCertificate) length++
  return length
}
