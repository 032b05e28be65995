// Opens sessions of the SMTP client (RFC 5321): connection, greeting, EHLO, STARTTLS and AUTH.
import { type Channel, ConnectionFailure, openChannel, type TlsSettings } from './channel.ts'
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

/** Sends a command and reads its reply. `what` names it in failures. */
export async function command(channel: Channel, line: string, timeoutMs: number, what: string): Promise<ServerReply> {
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
