// The harness of the SMTP server's tests, with a listening server and its receiver.
import { afterEach } from 'vitest'
import { createLog } from '../../../src/core/log.ts'
import type { Limits } from '../../../src/edges/smtp/server/limits.ts'
import { createSmtpServer, type SmtpServer, type SmtpServerOptions } from '../../../src/edges/smtp/server/listener.ts'
import type { Envelope, MessageVerdict, RecipientVerdict, SmtpReceiver } from '../../../src/edges/smtp/server/receiver.ts'
import { DialogClient } from './play.ts'

type Accepted = { envelope: Envelope; raw: Buffer; received: string }

/** Keeps accepted messages. Some local parts cause failures. */
class KeepingReceiver implements SmtpReceiver {
  readonly accepted: Accepted[] = []
  /** While set, `accept` waits for it. */
  hold: Promise<void> | null = null
  onAccept: () => void = () => {}

  async checkRecipient(address: string): Promise<RecipientVerdict> {
    if (address.startsWith('unknown@')) return { kind: 'refused', reply: { code: 550, enhanced: '5.1.1', text: 'No such mailbox' } }
    if (address.startsWith('broken@')) throw new Error('recipient table is gone')
    return { kind: 'accepted' }
  }

  async accept(envelope: Envelope, raw: Buffer, received: string): Promise<MessageVerdict> {
    this.onAccept()
    if (this.hold) await this.hold
    const [recipient = ''] = envelope.recipients
    if (recipient.startsWith('crash@')) throw new Error('crashed')
    if (recipient.startsWith('disk-full@')) throw Object.assign(new Error('write'), { code: 'ENOSPC' })
    if (recipient.startsWith('database-full@')) throw new Error('query', { cause: Object.assign(new Error('extend'), { code: '53100' }) })
    if (recipient.startsWith('policy@')) return { kind: 'refused', reply: { code: 550, enhanced: '5.7.1', text: 'Not\r\n250 wanted é' } }
    this.accepted.push({ envelope, raw, received })
    return { kind: 'stored', id: `m${this.accepted.length}` }
  }
}

type Harness = { server: SmtpServer; port: number; receiver: KeepingReceiver }
const servers: SmtpServer[] = []

/** A listening server with its receiver, closed after the test. */
export async function open(limits: Partial<Limits> = {}, options: Partial<SmtpServerOptions> = {}): Promise<Harness> {
  const receiver = new KeepingReceiver()
  const server = createSmtpServer(
    {
      host: '127.0.0.1',
      port: 0,
      hostname: 'mx.callsign.test',
      sizeBytesMax: 25 * 1024 * 1024,
      tls: 'generate',
      log: createLog('silent'),
      limits: { errorDelayMs: 0, lingerMs: 500, ...limits },
      ...options,
    },
    receiver,
  )
  servers.push(server)
  const { port } = await server.listen()
  return { server, port, receiver }
}

afterEach(async () => {
  await Promise.all(servers.splice(0).map((server) => server.drain(0)))
})

/** From MAIL up to the 354. */
export async function openData(client: DialogClient, recipient = 'bob@example.com'): Promise<void> {
  await client.ask('MAIL FROM:<alice@example.org>', '250')
  await client.ask(`RCPT TO:<${recipient}>`, '250')
  await client.ask('DATA', '354')
}

/** A client that may send message data now. */
export async function inData(port: number, localAddress?: string): Promise<DialogClient> {
  const client = await DialogClient.greeted(port, localAddress)
  await client.ask('EHLO client.example', '250')
  await openData(client)
  return client
}

/** Waits for the event loop iteration in which the server reads the bytes that have arrived. */
export const yieldToServer = (): Promise<void> => new Promise((resolve) => setImmediate(() => setImmediate(resolve)))
