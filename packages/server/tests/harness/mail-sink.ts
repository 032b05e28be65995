// An external mail server. It accepts the relay transport's messages, and refuses those that a script names.
import type { AddressInfo } from 'node:net'
import PostalMime, { type Email } from 'postal-mime'
import { SMTPServer } from 'smtp-server'

/** One accepted message with its envelope, its bytes, and the result of an independent parser. */
export type SunkMail = { from: string; to: string[]; raw: string; parsed: Email }

/** Returns a reply such as `451 4.2.0 later`, or null to accept. `attempt` counts from 1 per address. */
export type Script = (address: string, attempt: number) => string | null

export type MailSink = {
  /** For CALLSIGN_SMTP_RELAY_URL. */
  url: string
  mails: SunkMail[]
  /** All accepted recipients of the message with this Message-ID, sorted. Each recipient has its own envelope. */
  recipientsOf: (messageId: string) => string[]
  /** Sets the replies to RCPT from now on. */
  answerRecipients: (script: Script) => void
  /** Sets the replies to the end of DATA from now on. The address is the first recipient's. */
  answerData: (script: Script) => void
  /** Sets the replies to accepted messages from now on, without their code. */
  answerAccepted: (text: (mail: SunkMail) => string) => void
  /** Number of RCPT commands with this address. */
  attempts: (address: string) => number
  close: () => Promise<void>
}

const toError = (reply: string): Error => Object.assign(new Error(reply.slice(4)), { responseCode: Number(reply.slice(0, 3)) })

/** Starts a server on a free port of this machine. `onMail` runs after a message was accepted, for peers that answer. */
export async function startMailSink(onMail: (mail: SunkMail) => void = () => {}): Promise<MailSink> {
  const mails: SunkMail[] = []
  const recipientAttempts = new Map<string, number>()
  const dataAttempts = new Map<string, number>()
  let recipients: Script = () => null
  let data: Script = () => null
  let accepted: ((mail: SunkMail) => string) | null = null
  const count = (map: Map<string, number>, address: string): number => {
    map.set(address, (map.get(address) ?? 0) + 1)
    return map.get(address) as number
  }
  const server = new SMTPServer({
    authOptional: true,
    hideSTARTTLS: true,
    disableReverseLookup: true,
    // Takes addresses such as `first..last@`, as the servers do that have them.
    lenientAddressParsing: true,
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
        done(null, accepted?.(mail))
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
    answerAccepted: (text) => {
      accepted = text
    },
    attempts: (address) => recipientAttempts.get(address) ?? 0,
    close: () => new Promise<void>((resolve) => server.close(() => resolve())),
  }
}
