// Public requests through a tunnel. Each has its own number, so that its target counts how often it arrives.
import { Agent, createServer, request } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import { Callsign } from '../../packages/sdk/src/index.ts'
import type { Ledger } from '../crash/ledger.ts'

const pauseMs = 40
const answerMsMax = 45_000

type Options = {
  /** Where the clients of the tunnel connect, and where public requests go. */
  clientPorts: number[]
  publicPorts: number[]
  apiKey: string
  handle: string
  ledger: Ledger
  /** True when requests may break off, because a process in between was killed. */
  mayBreak: boolean
  isStopping: () => boolean
}

export type TunnelCounts = { requests: number; answered: number; refused: number; broken: number }

type Answer = { status: number; hasRetryAfter: boolean; body: string }

/** Opens a tunnel through each port and sends requests until it is stopped. `done` resolves with the counts, after the check. */
export async function startTunnel({ clientPorts, publicPorts, apiKey, handle, ledger, mayBreak, isStopping }: Options) {
  const arrivals = new Map<string, number>()
  const origin = createServer((incoming, response) => {
    const name = incoming.url?.slice(1) ?? ''
    arrivals.set(name, (arrivals.get(name) ?? 0) + 1)
    incoming.resume().once('end', () => response.end(`took ${name}`))
  })
  await new Promise<void>((resolve) => void origin.listen(0, '127.0.0.1', resolve))
  const target = (origin.address() as AddressInfo).port
  const listeners = await Promise.all(
    clientPorts.map((port) => new Callsign({ url: `http://127.0.0.1:${port}`, apiKey }).tunnels.listen(handle, target, { connections: 2 })),
  )
  for (const listener of listeners) listener.done.catch((error: Error) => ledger.report(`a tunnel ended: ${error.message}`))
  const host = new URL(listeners[0]?.publicUrl as string).hostname
  const agent = new Agent({ keepAlive: true, maxSockets: 4 })
  const counts: TunnelCounts = { requests: 0, answered: 0, refused: 0, broken: 0 }

  function post(port: number, name: string): Promise<Answer> {
    return new Promise((resolve, reject) => {
      const outgoing = request({
        host: '127.0.0.1',
        port,
        method: 'POST',
        path: `/${name}`,
        agent,
        timeout: answerMsMax,
        headers: { host },
      })
      outgoing.once('timeout', () => outgoing.destroy(new Error('silence')))
      outgoing.once('error', reject)
      outgoing.once('response', (response) => {
        let body = ''
        response.on('data', (bytes: Buffer) => {
          body += bytes.toString()
        })
        response.once('error', reject)
        response.once('close', () => reject(new Error('the response broke off')))
        response.once('end', () =>
          resolve({ status: response.statusCode ?? 0, hasRetryAfter: response.headers['retry-after'] !== undefined, body }),
        )
      })
      outgoing.end(name)
    })
  }

  async function send(port: number, name: string): Promise<void> {
    counts.requests++
    try {
      const { status, hasRetryAfter, body } = await post(port, name)
      ledger.countReply(`tunnel ${status}`)
      if (status === 200) {
        counts.answered++
        if (body !== `took ${name}` || arrivals.get(name) !== 1)
          ledger.report(`tunnel request ${name} was answered "${body.slice(0, 80)}" and arrived ${arrivals.get(name) ?? 0} times`)
        return
      }
      counts.refused++
      const isDocumented = (status === 503 && (hasRetryAfter || mayBreak)) || (mayBreak && status >= 502)
      if (!isDocumented) ledger.report(`tunnel request ${name} was answered ${status}: ${body.slice(0, 200)}`)
    } catch (error) {
      counts.broken++
      if (!mayBreak) ledger.report(`tunnel request ${name} got no response: ${(error as Error).message}`)
    }
    if ((arrivals.get(name) ?? 0) > 1) ledger.report(`tunnel request ${name} arrived ${arrivals.get(name)} times`)
  }

  const done = (async () => {
    for (let number = 1; !isStopping(); number++) {
      await Promise.all(publicPorts.map((port, index) => send(port, `t${index}-${number}`)))
      await delay(pauseMs)
    }
    await Promise.all(listeners.map((listener) => listener.close()))
    agent.destroy()
    origin.close()
    origin.closeAllConnections()
    return counts
  })()
  return { done }
}
