// A mail server elsewhere: takes what the relay transport hands it, and refuses what it is told to.
import type { AddressInfo } from 'node:net'
import PostalMime, { type Email } from 'postal-mime'
import { SMTPServer } from 'smtp-server'

/** One message as the server took it: the envelope, the bytes, and what an independent parser reads in them. */
export type SunkMail = { from: string; to: string[]; raw: string; parsed: Email }

/** What to answer: a reply such as `451 4.2.0 later`, or null to accept. `attempt` counts from 1 for each address. */
export type Script = (address: string, attempt: number) => string | null

export type MailSink = {
  /** For CALLSIGN_SMTP_RELAY_URL. */
  url: string
  mails: SunkMail[]
  /** Everybody that the message with this Message-ID was taken for so far, sorted: each recipient has an envelope of its own. */
  recipientsOf: (messageId: string) => string[]
  /** Says what RCPT answers from now on. */
  answerRecipients: (script: Script) => void
  /** Says what the end of DATA answers from now on; the address is the first recipient's. */
  answerData: (script: Script) => void
  /** How often this address has been given in RCPT. */
  attempts: (address: string) => number
  close: () => Promise<void>
}

const toError = (reply: string): Error => Object.assign(new Error(reply.slice(4)), { responseCode: Number(reply.slice(0, 3)) })

/** Starts a server on a free port of this machine. `onMail` runs after a message was taken, for peers that answer. */
export async function startMailSink(onMail: (mail: SunkMail) => void = () => {}): Promise<MailSink> {
  const mails: SunkMail[] = []
  const recipientAttempts = new Map<string, number>()
  const dataAttempts = new Map<string, number>()
  let recipients: Script = () => null
  let data: Script = () => null
  const count = (map: Map<string, number>, address: string): number => {
    map.set(address, (map.get(address) ?? 0) + 1)
    return map.get(address) as number
  }
  const server = new SMTPServer({
    authOptional: true,
    hideSTARTTLS: true,
    disableReverseLookup: true,
    logger: false,
    onRcptTo({ address }, _session, done) {
      const reply = recipients(address, count(recipientAttempts, address))
      reply === null ? done() : done(toError(reply))
    },
    onData(stream, session, done) {
      const chunks: Buffer[] = []
      stream.on('data', (chunk: Buffer) => chunks.push(chunk))
      stream.on('end', async () => {
        const to = session.envelope.rcptTo.map(({ address }) => address)
        const reply = data(to[0] as string, count(dataAttempts, to[0] as string))
        if (reply !== null) return done(toError(reply))
        const raw = Buffer.concat(chunks)
        const mail = {
          from: session.envelope.mailFrom ? session.envelope.mailFrom.address : '',
          to,
          raw: raw.toString('latin1'),
          parsed: await PostalMime.parse(raw),
        }
        mails.push(mail)
        done()
        onMail(mail)
      })
    },
  })
  server.on('error', () => undefined)
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve))
  return {
    url: `smtp://127.0.0.1:${(server.server.address() as AddressInfo).port}`,
    mails,
    recipientsOf: (messageId) =>
      mails
        .filter((mail) => mail.parsed.messageId === messageId)
        .flatMap((mail) => mail.to)
        .toSorted(),
    answerRecipients: (script) => {
      recipients = script
    },
    answerData: (script) => {
      data = script
    },
    attempts: (address) => recipientAttempts.get(address) ?? 0,
    close: () => new Promise<void>((resolve) => server.close(() => resolve())),
  }
}
