// Sends one message over an open session of the SMTP client (RFC 5321), with one outcome per recipient.
import type { Outcome } from '../../../core/outcome.ts'
import type { Envelope } from '../../../features/mail/outbound/provider.ts'
import { type Channel, ConnectionFailure } from './channel.ts'
import { type ClientSession, command } from './conversation.ts'
import { endOfData, type PreparedData, wirePath } from './outgoing-data.ts'
import { replyText, type ServerReply } from './reply-reader.ts'

/** Result of sending. `isUntouched` means that the connection ended before the server replied to MAIL, so it saw nothing of the message. */
export type Sent = { outcomes: Outcome[]; isUntouched: boolean }

/** Sends one message over an open session. Returns one outcome per recipient, in order. `isFinal` marks the recipients' own server. */
export async function sendMessage(session: ClientSession, envelope: Envelope, data: PreparedData, isFinal: boolean): Promise<Sent> {
  const { outcomes, accepted, mail } = plan(session, envelope, data)
  if (mail === null) return { outcomes: outcomes as Outcome[], isUntouched: false }
  const isPipelined = session.extensions.has('PIPELINING')
  const { mayEnd } = envelope
  const transaction: OpenTransaction = { session, mail, accepted, outcomes, isPipelined, isMailAnswered: false, isDataSent: false, mayEnd }
  let rest: Outcome
  try {
    rest = await transact(transaction, data, isFinal)
  } catch (error) {
    if (!(error instanceof ConnectionFailure)) throw error
    const fate = transaction.isDataSent
      ? '. The message had been sent and may have been accepted, so another attempt may deliver it twice'
      : ''
    rest = retry(error.message + fate, error.diagnosticCode)
  }
  fill(outcomes, rest)
  return { outcomes: outcomes as Outcome[], isUntouched: !transaction.isMailAnswered }
}

/** A transaction on the wire. An outcome is undefined until it is known. */
type OpenTransaction = Pick<Plan, 'accepted' | 'outcomes'> & {
  session: ClientSession
  /** The MAIL command. */
  mail: string
  isPipelined: boolean
  isMailAnswered: boolean
  isDataSent: boolean
  mayEnd: Envelope['mayEnd']
}

const fill = (outcomes: Plan['outcomes'], outcome: Outcome): void => {
  for (let i = 0; i < outcomes.length; i++) outcomes[i] ??= outcome
}

/** Sends a command, or reads the reply to a pipelined one. */
function replyTo({ session, isPipelined }: OpenTransaction, line: string): Promise<ServerReply> {
  const { channel, timeouts } = session
  return isPipelined ? channel.read(timeouts.commandMs, verb(line)) : command(channel, line, timeouts.commandMs, verb(line))
}

/** Runs the transaction. Sets the outcomes of recipients with a reply of their own, and returns the outcome of all others. */
async function transact(transaction: OpenTransaction, data: PreparedData, isFinal: boolean): Promise<Outcome> {
  const { session, outcomes, isPipelined } = transaction
  const mail = await sendSender(transaction)
  // A server that closes the session with 421 has not judged this message.
  if (mail.code === 421) return leave(session.channel, mail)
  transaction.isMailAnswered = true
  if (!isPositive(mail)) fill(outcomes, refusedSender(mail))
  const hasRecipients = isPositive(mail) || isPipelined ? await sendRecipients(transaction) : false
  if (typeof hasRecipients === 'object') return hasRecipients
  const isOpen = isPositive(mail) && hasRecipients
  return isOpen || isPipelined ? sendData(transaction, isOpen ? data : null, mail, isFinal) : refusedSender(mail)
}

/** Sends MAIL, after RSET if needed, with all further commands if the server allows pipelining. Returns the reply to MAIL. */
async function sendSender(transaction: OpenTransaction): Promise<ServerReply> {
  const { session, mail, accepted, isPipelined } = transaction
  const commands = [mail, ...accepted.map((recipient) => `RCPT TO:<${recipient.path}>`)]
  if (session.needsReset) commands.unshift('RSET')
  if (isPipelined) {
    session.channel.expect(commands.length + 1)
    session.channel.write(`${commands.join('\r\n')}\r\nDATA\r\n`)
  }
  if (session.needsReset) await replyTo(transaction, 'RSET')
  session.needsReset = true
  return replyTo(transaction, mail)
}

/** Reads the reply for each recipient. Returns true when one is accepted, and the outcome of the others when the server closes the session. */
async function sendRecipients(transaction: OpenTransaction): Promise<boolean | Outcome> {
  const { session, accepted, outcomes } = transaction
  let hasRecipients = false
  for (const recipient of accepted) {
    const reply = await replyTo(transaction, `RCPT TO:<${recipient.path}>`)
    if (reply.code === 421) return leave(session.channel, reply)
    if (isPositive(reply)) hasRecipients = true
    else outcomes[recipient.index] ??= isTooMany(reply) ? retry(replyText(reply), reply.enhanced) : refused(reply)
  }
  return hasRecipients
}

/** Sends the data. Null ends a pipelined transaction without recipients with an empty message. */
async function sendData(transaction: OpenTransaction, data: PreparedData | null, mail: ServerReply, isFinal: boolean): Promise<Outcome> {
  const { session } = transaction
  const { channel, timeouts } = session
  const go = await replyTo(transaction, 'DATA')
  if (go.code === 421) return leave(channel, go)
  if (go.code !== 354) {
    if (go.code < 400) throw channel.fail(`the server answered DATA with ${replyText(go)}`, '4.5.0')
    return refused(go)
  }
  channel.expect(1)
  if (data === null) {
    channel.write(endOfData)
    await channel.read(timeouts.dataMs, 'an empty message')
    return refusedSender(mail)
  }
  transaction.isDataSent = await channel.upload(data.wire, timeouts.dataBlockMs, transaction.mayEnd)
  const end = await channel.read(timeouts.dataMs, 'the message')
  if (!transaction.isDataSent) {
    channel.fail('the server answered before the end of the message', '4.5.0')
    if (isPositive(end)) return retry(`the server answered before the end of the message: ${replyText(end)}`, '4.5.0')
  }
  if (end.code === 421) channel.fail(`the server closed the session: ${replyText(end)}`, '4.3.2')
  if (!isPositive(end)) return refused(end)
  session.needsReset = false
  return { kind: 'delivered', answer: replyText(end), final: isFinal }
}

const verb = (line: string): string => (line.startsWith('MAIL') || line.startsWith('RCPT') ? line.slice(0, 4) : line)

const isPositive = (reply: ServerReply): boolean => reply.code >= 200 && reply.code < 300

// Old servers say 552 for too many recipients (RFC 5321 §4.5.3.1.10).
const isTooMany = (reply: ServerReply): boolean => reply.code === 552 && (reply.enhanced === null || reply.enhanced === '5.5.3')

const retry = (answer: string, diagnosticCode: string | null): Outcome => ({ kind: 'retry', answer, diagnosticCode })

// 530, 534, 535 and 538 require authentication (RFC 4954 §6). This is an error in the configuration, not of the recipient.
const asksForAuthentication = new Set([530, 534, 535, 538])

function refused(reply: ServerReply): Outcome {
  const isPermanent = reply.code >= 500 && !asksForAuthentication.has(reply.code)
  return { kind: isPermanent ? 'refused' : 'retry', answer: replyText(reply), diagnosticCode: reply.enhanced }
}

/** Names the command, because the reply is about the sender, and must not suppress the recipient. */
function refusedSender(reply: ServerReply): Outcome {
  const outcome = refused(reply)
  return { ...outcome, answer: `${outcome.answer} (in reply to MAIL FROM)` }
}

function leave(channel: Channel, reply: ServerReply): Outcome {
  channel.fail(`the server closed the session: ${replyText(reply)}`, reply.enhanced ?? '4.3.2')
  return refused(reply)
}

type Plan = { mail: string | null; outcomes: (Outcome | undefined)[]; accepted: { index: number; path: string }[] }

/** Checks the message against the server's extensions before sending. `mail` is null when the message cannot be sent there. */
function plan(session: ClientSession, envelope: Envelope, data: PreparedData): Plan {
  const { extensions } = session
  const canUtf8 = extensions.has('SMTPUTF8')
  const sender = wirePath(envelope.from)
  let needsUtf8 = envelope.smtputf8 || data.hasEightBitHeader || sender?.needsSmtputf8 === true
  const sizeMax = Number(extensions.get('SIZE') || 0)
  let failure: Outcome | undefined
  if (!sender) failure = cannot('5.1.7', '553', 'The sender is not a valid address')
  else if (needsUtf8 && !canUtf8) failure = cannot('5.6.7', '550', 'The message needs SMTPUTF8, which the next server does not offer')
  else if (data.hasEightBit && !extensions.has('8BITMIME')) {
    failure = cannot('5.6.3', '554', 'The message needs 8BITMIME, which the next server does not offer')
  } else if (sizeMax > 0 && data.sizeBytes > sizeMax) {
    failure = cannot('5.3.4', '552', `The message has ${data.sizeBytes} octets, and the next server accepts ${sizeMax}`)
  }

  const accepted: Plan['accepted'] = []
  const outcomes = envelope.recipients.map((address, index): Outcome | undefined => {
    const recipient = address === '' ? null : wirePath(address)
    if (!recipient) return cannot('5.1.3', '553', 'The recipient is not a valid address')
    if (failure) return failure
    if (recipient.needsSmtputf8 && !canUtf8) {
      return cannot('5.6.7', '550', 'The address needs SMTPUTF8, which the next server does not offer')
    }
    needsUtf8 ||= recipient.needsSmtputf8
    accepted.push({ index, path: recipient.path })
    return undefined
  })
  if (!sender || !accepted.length) return { mail: null, outcomes, accepted }
  const parameters = [
    ...(extensions.has('SIZE') ? [`SIZE=${data.sizeBytes}`] : []),
    ...(data.hasEightBit ? ['BODY=8BITMIME'] : []),
    ...(needsUtf8 ? ['SMTPUTF8'] : []),
  ]
  return { mail: [`MAIL FROM:<${sender.path}>`, ...parameters].join(' '), outcomes, accepted }
}

/** The outcome for a message that prepareData refuses. */
export const unsendable: Outcome = {
  kind: 'refused',
  answer: '554 5.6.0 The message holds a bare CR, a bare LF or a NUL',
  diagnosticCode: '5.6.0',
  failed: true,
}

const cannot = (enhanced: string, code: string, why: string): Outcome => ({
  kind: 'refused',
  answer: `${code} ${enhanced} ${why}`,
  diagnosticCode: enhanced,
  failed: true,
})
