// A large mailbox provider: accepts or refuses by PTR, TLS, SPF, DKIM and DMARC, with the codes that Gmail documents.
// Source: https://support.google.com/a/answer/3726730 (SMTP errors and codes).
import { once } from 'node:events'
import { SMTPServer } from 'smtp-server'
import { checkWithMailauth } from '../../packages/mail/tests/harness/mailauth.ts'
import { createDnsResolver } from '../../packages/server/src/edges/dns/resolver.ts'
import type { Certificate } from '../../packages/server/tests/harness/certificate.ts'

type Attempt = { reply: string; verdicts: string; subject: string }

/** Starts it on port 25 of an address. `attempts` has every message with the reply to it. */
export async function startProvider(options: { address: string; dnsServer: string; certificate: Certificate }) {
  const resolver = createDnsResolver({ servers: [options.dnsServer] })
  const attempts: Attempt[] = []

  /** True when the address has a name that has the address. */
  async function hasPtr(address: string): Promise<boolean> {
    const names = await resolver.ptr(address)
    if (names.kind !== 'found') return false
    const forward = await Promise.all(names.records.map((name) => resolver.a(name)))
    return forward.some((answer) => answer.kind === 'found' && answer.records.includes(address))
  }

  async function judge(raw: Buffer, client: { address: string; name: string }, envelopeFrom: string, isSecure: boolean): Promise<Attempt> {
    const { spf, dkim, dmarc } = await checkWithMailauth({ envelopeFrom, client, raw }, resolver)
    const ptr = await hasPtr(client.address)
    const verdicts = `SPF ${spf}, DKIM ${dkim.join(' and ') || 'none'}, DMARC ${dmarc}, PTR ${ptr ? 'pass' : 'fail'}, ${isSecure ? 'TLS' : 'no TLS'}`
    const subject = /^Subject: (.*)\r$/m.exec(raw.toString('latin1'))?.[1] ?? ''
    const refusal = !ptr
      ? '550 5.7.25 The IP address sending this message does not have a PTR record setup'
      : !isSecure
        ? '550 5.7.29 Messages must be sent over a TLS connection'
        : spf !== 'pass' && !dkim.includes('pass')
          ? '550 5.7.26 Your email has been blocked because the sender is unauthenticated'
          : dmarc !== 'pass'
            ? '550 5.7.26 Unauthenticated email is not accepted due to the domain’s DMARC policy'
            : null
    return { reply: refusal ?? '250 2.0.0 OK', verdicts, subject }
  }

  const server = new SMTPServer({
    authOptional: true,
    disableReverseLookup: true,
    logger: false,
    key: options.certificate.key,
    cert: options.certificate.cert,
    onData(stream, session, done) {
      const chunks: Buffer[] = []
      stream.on('data', (chunk: Buffer) => chunks.push(chunk))
      stream.once('end', async () => {
        const from = session.envelope.mailFrom ? session.envelope.mailFrom.address : ''
        const client = { address: session.remoteAddress, name: session.hostNameAppearsAs || 'unknown' }
        const attempt = await judge(Buffer.concat(chunks), client, from, session.secure)
        attempts.push(attempt)
        const [code = '', ...text] = attempt.reply.split(' ')
        done(code === '250' ? null : Object.assign(new Error(text.join(' ')), { responseCode: Number(code) }))
      })
    },
  })
  server.on('error', () => {})
  server.listen(25, options.address)
  await once(server.server, 'listening')
  return { attempts, stop: () => server.close() }
}
