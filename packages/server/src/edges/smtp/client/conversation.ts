// The SMTP client's conversation (RFC 5321). Opens a session, and sends one message over it with one outcome per recipient.
import type { Outcome } from '../../../core/outcome.ts'
import type { Envelope } from '../../../features/mail/outbound/provider.ts'
import { type Channel, ConnectionFailure, openChannel, type TlsSettings } from './channel.ts'
import { endOfData, type PreparedData, wirePath } from './outgoing-data.ts'
import { replyText, type ServerReply } from './reply-reader.ts'

/** Timeouts per step, in milliseconds (RFC 5321 §4.5.3.2). */
export type ClientTimeouts = { connectMs: number; commandMs: number; dataBlockMs: number; dataMs: number }

export const clientTimeouts: ClientTimeouts = { connectMs: 30_000, commandMs: 300_000, dataBlockMs: 180_000, dataMs: 600_000 }

/** A server to deliver to, and the terms. */
export type ClientTarget = {
  /** A host name or an address. */
  host: string
  /** Name for records, when it differs from `host`. */
  label?: string
  port: number
  /** `implicit` is TLS from the first octet. `opportunistic` falls back to clear text when TLS is not available. */
  tlsMode: 'off' | 'opportunistic' | 'required' | 'implicit'
  tls: TlsSettings
  /** The client's own name, sent in EHLO. */
  hostname: string
  auth: { user: string; password: string } | null
  timeouts: ClientTimeouts
}

/** One session with a server, ready for messages. */
export type ClientSession = {
  channel: Channel
  extensions: Map<string, string>
  timeouts: ClientTimeouts
  needsReset: boolean
  /** Protocol and cipher of the connection, or null for clear text. */
  tls: string | null
}

/**
 * Connects, greets, upgrades to TLS and authenticates. Every failure, including a 5xx, rejects with ConnectionFailure. The server has not
 * seen a message yet, and may accept a session later that it refuses now, for example after a block list or wrong credentials.
 */
export async function openSession(target: ClientTarget, onChannel: (channel: Channel) => void): Promise<ClientSession> {
  try {
    return await converse(target, onChannel)
  } catch (error) {
    if (target.tlsMode === 'opportunistic' && error instanceof HandshakeFailure) {
      return converse({ ...target, tlsMode: 'off' }, onChannel)
    }
    throw error
  }
}

/** STARTTLS was offered, and the handshake failed. */
class HandshakeFailure extends ConnectionFailure {}

async function converse(target: ClientTarget, onChannel: (channel: Channel) => void): Promise<ClientSession> {
  const { timeouts } = target
  const channel = await openChannel({ ...target, tls: target.tlsMode === 'implicit' ? target.tls : null }, timeouts.connectMs)
  onChannel(channel)
  try {
    channel.expect(1)
    const greeting = await channel.read(timeouts.commandMs, 'the connection with a greeting')
    if (greeting.code !== 220) throw refusal(greeting, 'the connection')
    let extensions = await hello(channel, target)
    if (target.tlsMode === 'required' || (target.tlsMode === 'opportunistic' && extensions.has('STARTTLS'))) {
      if (await changeToTls(channel, extensions, target)) extensions = await hello(channel, target)
    }
    if (target.auth) await authenticate(channel, extensions, target.auth, timeouts.commandMs)
    return { channel, extensions, timeouts, needsReset: false, tls: channel.tls }
  } catch (error) {
    // A server that replied gets a QUIT. On a closed connection this does nothing.
    channel.quit()
    throw error
  }
}

const refusal = (reply: ServerReply, what: string): ConnectionFailure =>
  new ConnectionFailure(`${what} was refused: ${replyText(reply)}`, reply.enhanced ?? (reply.code === 421 ? '4.3.2' : '4.5.0'))

async function command(channel: Channel, line: string, timeoutMs: number, what: string): Promise<ServerReply> {
  channel.expect(1)
  channel.write(`${line}\r\n`)
  return channel.read(timeoutMs, what)
}

async function hello(channel: Channel, target: ClientTarget): Promise<Map<string, string>> {
  const reply = await command(channel, `EHLO ${target.hostname}`, target.timeouts.commandMs, 'EHLO')
  const extensions = new Map<string, string>()
  if (reply.code === 250) {
    for (const line of reply.lines.slice(1)) {
      const [keyword = '', parameters = ''] = /^(\S+?)(?:[ =](.*))?$/.exec(line)?.slice(1) ?? []
      extensions.set(keyword.toUpperCase(), parameters.toUpperCase())
    }
    return extensions
  }
  if (reply.code < 500) throw refusal(reply, 'EHLO')
  const plain = await command(channel, `HELO ${target.hostname}`, target.timeouts.commandMs, 'HELO')
  if (plain.code !== 250) throw refusal(plain, 'HELO')
  return extensions
}

async function changeToTls(channel: Channel, extensions: Map<string, string>, target: ClientTarget): Promise<boolean> {
  if (!extensions.has('STARTTLS')) throw new ConnectionFailure(`${target.host} does not offer STARTTLS, which is required`, '4.7.10')
  const reply = await command(channel, 'STARTTLS', target.timeouts.commandMs, 'STARTTLS')
  if (reply.code !== 220) {
    if (target.tlsMode === 'required' || reply.code === 421) throw refusal(reply, 'STARTTLS')
    return false
  }
  try {
    await channel.startTls(target.tls, target.timeouts.connectMs)
  } catch (error) {
    throw new HandshakeFailure((error as Error).message, '4.7.5')
  }
  return true
}

async function authenticate(channel: Channel, extensions: Map<string, string>, auth: NonNullable<ClientTarget['auth']>, timeoutMs: number) {
  const mechanisms = (extensions.get('AUTH') ?? '').split(' ')
  let reply: ServerReply
  if (mechanisms.includes('PLAIN')) {
    reply = await command(channel, `AUTH PLAIN ${base64(`\0${auth.user}\0${auth.password}`)}`, timeoutMs, 'AUTH')
  } else if (mechanisms.includes('LOGIN')) {
    reply = await command(channel, 'AUTH LOGIN', timeoutMs, 'AUTH')
    for (const secret of [auth.user, auth.password]) {
      if (reply.code === 334) reply = await command(channel, base64(secret), timeoutMs, 'AUTH')
    }
  } else {
    throw new ConnectionFailure('the server offers neither AUTH PLAIN nor AUTH LOGIN', '4.7.0')
  }
  // Codes only, because some servers repeat the credentials they were sent.
  if (reply.code !== 235)
    throw new ConnectionFailure(`the credentials were refused: ${reply.code} ${reply.enhanced ?? ''}`.trimEnd(), '4.7.8')
}

const base64 = (text: string): string => Buffer.from(text).toString('base64')

/** Result of sending. `isUntouched` means that the connection ended before the server replied to MAIL, so it saw nothing of the message. */
export type Sent = { outcomes: Outcome[]; isUntouched: boolean }

/** Sends one message over an open session. Returns one outcome per recipient, in order. `isFinal` marks the recipients' own server. */
export async function sendMessage(session: ClientSession, envelope: Envelope, data: PreparedData, isFinal: boolean): Promise<Sent> {
  const { channel } = session
  const transaction = plan(session, envelope, data)
  const { outcomes, accepted } = transaction
  if (transaction.mail === null) return { outcomes: outcomes as Outcome[], isUntouched: false }
  const commitResult = (outcome: Outcome): Sent => {
    for (let i = 0; i < outcomes.length; i++) outcomes[i] ??= outcome
    return { outcomes: outcomes as Outcome[], isUntouched: false }
  }
  let isMailAnswered = false
  let isDataSent = false
  try {
    const commands = [transaction.mail, ...accepted.map((recipient) => `RCPT TO:<${recipient.path}>`)]
    if (session.needsReset) commands.unshift('RSET')
    const isPipelined = session.extensions.has('PIPELINING')
    if (isPipelined) {
      channel.expect(commands.length + 1)
      channel.write(`${commands.join('\r\n')}\r\nDATA\r\n`)
    }
    const answer = (line: string): Promise<ServerReply> =>
      isPipelined ? channel.read(session.timeouts.commandMs, verb(line)) : command(channel, line, session.timeouts.commandMs, verb(line))
    if (session.needsReset) await answer('RSET')
    session.needsReset = true

    const mail = await answer(transaction.mail)
    // A server that closes the session with 421 has not judged this message.
    if (mail.code === 421) return { ...commitResult(leave(channel, mail)), isUntouched: true }
    isMailAnswered = true
    let open = accepted
    if (!isPositive(mail)) {
      commitResult(refused(mail))
      open = []
    }
    if (open.length || isPipelined) {
      const taken: typeof accepted = []
      for (const recipient of accepted) {
        const reply = await answer(`RCPT TO:<${recipient.path}>`)
        if (reply.code === 421) return commitResult(leave(channel, reply))
        if (isPositive(reply)) taken.push(recipient)
        else outcomes[recipient.index] ??= isTooMany(reply) ? retry(replyText(reply), reply.enhanced) : refused(reply)
      }
      if (open.length) open = taken
    }
    if (!open.length && !isPipelined) return commitResult(refused(mail))

    const go = await answer('DATA')
    if (go.code === 421) return commitResult(leave(channel, go))
    if (go.code !== 354) {
      if (go.code < 400) throw channel.fail(`the server answered DATA with ${replyText(go)}`, '4.5.0')
      return commitResult(refused(go))
    }
    channel.expect(1)
    if (!open.length) {
      channel.write(endOfData)
      await channel.read(session.timeouts.dataMs, 'an empty message')
      return commitResult(refused(mail))
    }
    isDataSent = await channel.upload(data.wire, session.timeouts.dataBlockMs)
    const end = await channel.read(session.timeouts.dataMs, 'the message')
    if (!isDataSent) {
      channel.fail('the server answered before the end of the message', '4.5.0')
      if (isPositive(end)) return commitResult(retry(`the server answered before the end of the message: ${replyText(end)}`, '4.5.0'))
    }
    if (end.code === 421) channel.fail(`the server took its leave: ${replyText(end)}`, '4.3.2')
    if (!isPositive(end)) return commitResult(refused(end))
    session.needsReset = false
    return commitResult({ kind: 'delivered', answer: replyText(end), final: isFinal })
  } catch (error) {
    if (!(error instanceof ConnectionFailure)) throw error
    const fate = isDataSent ? '. The message had been sent and may have been accepted, so another attempt may deliver it twice' : ''
    return { ...commitResult(retry(error.message + fate, error.diagnosticCode)), isUntouched: !isMailAnswered }
  }
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

function leave(channel: Channel, reply: ServerReply): Outcome {
  channel.fail(`the server took its leave: ${replyText(reply)}`, reply.enhanced ?? '4.3.2')
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
