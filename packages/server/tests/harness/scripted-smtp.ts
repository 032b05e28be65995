// Servers that follow a script, and the relay transport pointed at them, for the tests of the sending side of SMTP.
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net'
import { afterEach } from 'vitest'
import { createLog } from '../../src/core/log.ts'
import type { Outcome } from '../../src/core/outcome.ts'
import { createRelayTransport, type RelaySettings } from '../../src/edges/smtp/client/relay.ts'
import type { Envelope, MailTransport } from '../../src/features/mail/outbound/provider.ts'

/** Run after each test, last first. */
export const cleanups: (() => Promise<unknown> | unknown)[] = []
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup()
})

/** A message with lines that start with dots. */
export const message = Buffer.from('Subject: hello\r\n\r\nfirst line\r\n.a dot\r\n..two dots\r\n')
export const envelope = (...recipients: string[]): Envelope => ({ from: 'agent@here.test', recipients, smtputf8: false, eightBit: false })

/** A relay transport to a port of this machine, closed after the test. */
export function relayTo(
  port: number,
  more: Partial<Omit<RelaySettings, 'url'>> & { login?: string; query?: string; scheme?: string } = {},
): MailTransport {
  const { login = '', query = '', scheme = 'smtp', ...settings } = more
  const url = `${scheme}://${login}localhost:${port}${query}`
  const relay = createRelayTransport({ url, hostname: 'here.test', log: createLog('silent'), ...settings })
  cleanups.push(() => relay.close())
  return relay
}

/** One conversation as the server sees it. */
export type Peer = {
  socket: Socket
  seen: string[]
  line: () => Promise<string>
  say: (...lines: string[]) => void
  data: () => Promise<string>
  gone: Promise<void>
}

function peerOn(socket: Socket): Peer {
  let buffer = ''
  let wake = (): void => undefined
  socket.on('error', () => undefined)
  socket.on('data', (chunk: Buffer) => {
    buffer += chunk.toString('latin1')
    wake()
  })
  const gone = new Promise<void>((resolve) => {
    socket.on('close', () => {
      resolve()
      wake()
    })
  })
  const until = async (end: string): Promise<string> => {
    for (;;) {
      const at = buffer.indexOf(end)
      if (at !== -1) {
        const text = buffer.slice(0, at)
        buffer = buffer.slice(at + end.length)
        return text
      }
      if (socket.destroyed) throw new Error('the client left')
      await new Promise<void>((resolve) => {
        wake = resolve
      })
    }
  }
  const seen: string[] = []
  const line = async () => {
    const text = await until('\r\n')
    seen.push(text)
    return text
  }
  const say = (...lines: string[]) => {
    socket.write(lines.map((text) => `${text}\r\n`).join(''))
  }
  const data = async () => {
    const lines: string[] = []
    for (let text = await until('\r\n'); text !== '.'; text = await until('\r\n')) lines.push(text)
    return lines.join('\r\n')
  }
  return { socket, seen, line, say, data, gone }
}

/** A server that follows a script, with one run per connection (0, 1, …). It uses a free port of localhost by default. */
export async function scripted(
  script: (peer: Peer, connection: number) => Promise<void> | void,
  at: { host?: string; port?: number } = {},
): Promise<{ port: number; peers: Peer[] }> {
  const peers: Peer[] = []
  const server: Server = createServer({ noDelay: true }, (socket) => {
    const peer = peerOn(socket)
    const number = peers.push(peer) - 1
    void Promise.resolve(script(peer, number)).catch(() => undefined)
  })
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(at.port ?? 0, at.host ?? 'localhost', resolve)
  })
  cleanups.push(() => {
    for (const peer of peers) peer.socket.destroy()
    return new Promise((resolve) => server.close(resolve))
  })
  return { port: (server.address() as AddressInfo).port, peers }
}

/** Greets, and answers EHLO with these extensions. */
export async function welcome(peer: Peer, ...extensions: string[]): Promise<void> {
  peer.say('220 there.test ESMTP')
  await peer.line()
  const lines = ['there.test', ...extensions]
  peer.say(...lines.map((text, i) => `250${i === lines.length - 1 ? ' ' : '-'}${text}`))
}

/** Answers commands by their verb until the client quits. A DATA answered 354 is followed by the answer named END. */
export async function answer(peer: Peer, answers: Record<string, string | ((line: string) => string)>): Promise<void> {
  for (;;) {
    const line = await peer.line()
    const verb = line.slice(0, 4).toUpperCase()
    if (verb === 'QUIT') {
      peer.say('221 bye')
      peer.socket.end()
      return
    }
    const rule = answers[verb] ?? '250 2.0.0 ok'
    const reply = typeof rule === 'function' ? rule(line) : rule
    peer.say(reply)
    if (verb === 'DATA' && reply.startsWith('354')) {
      peer.seen.push(await peer.data())
      peer.say(answers.END as string)
    }
  }
}

export const kinds = (outcomes: Outcome[]): string[] => outcomes.map((outcome) => outcome.kind)
