// Every kind of load on one server at once: mail in, sends, lists, single messages and requests through a tunnel. Webhooks follow the mail.
import { Agent, request } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import type { CallsignServer } from './callsign-server.ts'
import { messageText } from './messages.ts'
import { connectionClosed, openSmtpClient } from './smtp-latency.ts'

export type MixedLoad = {
  server: CallsignServer
  /** The agent whose mail arrives and is read, and the host name of its tunnel. */
  agent: string
  tunnelHost: string
  /** Messages of the sender, each as often as it is listed. */
  messages: Buffer[]
  /** Pause of each client after each answer. */
  pauseMs: number
}

/** Answers so far, by kind. */
export type Counts = Record<'mail' | 'send' | 'list' | 'get' | 'tunnel', number>

const clients: Counts = { mail: 8, send: 4, list: 4, get: 8, tunnel: 8 }

/** Starts the load. `stop` ends it after the requests in flight. A failed request rejects `stop`. */
export function startMixedLoad({ server, agent, tunnelHost, messages, pauseMs }: MixedLoad) {
  const counts: Counts = { mail: 0, send: 0, list: 0, get: 0, tunnel: 0 }
  const http = createHttp(server)
  let isOver = false
  let known: string[] = []

  const repeat = async (kind: keyof Counts, once: (turn: number) => Promise<void>): Promise<void> => {
    for (let turn = 0; !isOver; turn++) {
      await once(turn)
      counts[kind]++
      if (pauseMs > 0) await sleep(pauseMs)
    }
  }
  const mail = async (): Promise<void> => {
    let client = await openSmtpClient(server.smtpPort as number)
    await repeat('mail', async (turn) => {
      const message = messages[turn % messages.length] as Buffer
      await client.deliver('ada@sender.example', `${agent}@agents.localhost`, message).catch(async ({ message: text }: Error) => {
        // A session lasts half an hour at most. A new one that cannot be opened ends the load.
        if (text === connectionClosed || text.startsWith('the server says 421')) client = await openSmtpClient(server.smtpPort as number)
        // On a busy machine the DNS server may answer too late. The message is then deferred, as any sender's would be.
        else if (!text.startsWith('the server says 4')) throw new Error(text)
      })
    })
    await client.close()
  }
  const send = (): Promise<void> =>
    repeat('send', async (turn) => {
      const body = { agent, to: ['somebody@example.net'], subject: `Letter ${turn}`, text: messageText(turn) }
      await http('POST', '/api/v1/mail/send', { body: JSON.stringify(body) })
    })
  const list = (): Promise<void> =>
    repeat('list', async () => {
      const answer = await http('GET', `/api/v1/mail/messages?agent=${agent}&limit=50`)
      known = (JSON.parse(answer) as { messages: { id: string }[] }).messages.map(({ id }) => id)
    })
  const get = (): Promise<void> =>
    repeat('get', async (turn) => {
      const id = known[turn % Math.max(1, known.length)]
      if (id !== undefined) await http('GET', `/api/v1/mailboxes/${agent}/messages/${id}`)
    })
  const tunnel = (): Promise<void> => repeat('tunnel', async () => void (await http('GET', '/small', { host: tunnelHost })))

  const kinds = { mail, send, list, get, tunnel }
  const all = Promise.all(
    Object.entries(kinds).flatMap(([kind, start]) => Array.from({ length: clients[kind as keyof Counts] }, () => start())),
  )
  all.catch(() => (isOver = true))
  return {
    counts,
    async stop(): Promise<void> {
      isOver = true
      await all
    },
  }
}

/** Sends requests over kept connections, and returns the body of a 2xx. */
function createHttp({ url, key }: CallsignServer) {
  const agent = new Agent({ keepAlive: true })
  return (method: string, path: string, { body, host }: { body?: string; host?: string } = {}): Promise<string> =>
    new Promise((resolve, reject) => {
      const headers = {
        ...(host === undefined ? { authorization: `Bearer ${key}` } : { host }),
        ...(body === undefined ? {} : { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) }),
      }
      const outgoing = request(url + path, { method, agent, headers }, (response) => {
        const chunks: Buffer[] = []
        response.on('data', (chunk: Buffer) => chunks.push(chunk))
        response.once('end', () => {
          const text = Buffer.concat(chunks).toString()
          if ((response.statusCode as number) < 300) resolve(text)
          else reject(new Error(`${method} ${path} was answered ${response.statusCode}: ${text}`))
        })
      })
      outgoing.once('error', reject)
      outgoing.end(body)
    })
}
