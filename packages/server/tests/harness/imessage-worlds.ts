// The three providers under test, which are the simulator and the fakes of BlueBubbles and Linq.
import { openKeyring } from '../../src/edges/keyring/keyring.ts'
import { blueBubblesPassword, startBlueBubblesServer } from './bluebubbles-server.ts'
import type { World } from './imessage-world.ts'
import { linqKey, startLinqServer } from './linq-server.ts'
import type { Harness, Json } from './start.ts'

const quick = {
  CALLSIGN_IMESSAGE_RETRY_SECONDS: '0.05,0.1,0.2',
  CALLSIGN_IMESSAGE_POLL_SECONDS: '0.2',
  CALLSIGN_OUTBOUND_ALLOW_CIDRS: '127.0.0.0/8',
}

/** Where callbacks of a provider go. */
export async function callbackUrlOf(harness: Pick<Harness, 'dataDir' | 'baseUrl'>, provider: string): Promise<string> {
  const token = (await openKeyring(harness.dataDir)).subkey('imessage-callbacks').toString('base64url')
  return `${harness.baseUrl}/hooks/imessage/${provider}/${token}`
}

export async function simulatorWorld(): Promise<World> {
  let harness: Harness
  const fault = (op: string, fail: string, times: number): Promise<Json> =>
    harness.expectApi(200, 'POST', '/simulator/faults', { body: { provider: 'imessage', op, fail, times } })
  return {
    name: 'simulator',
    settings: quick,
    attach: async (given) => {
      harness = given
    },
    async write(from, text, { file, callback = 'once' } = {}) {
      if (callback === 'twice') await fault('webhook', 'duplicate', 1)
      const media = file ? [{ content: file.toString('base64'), content_type: 'image/png' }] : []
      await harness.expectApi(201, 'POST', '/simulator/imessage', { body: { from, ...(text && { text }), media } })
    },
    async arrived(to) {
      const { data } = await harness.expectApi(200, 'GET', `/simulator/outbox?limit=100&to=${encodeURIComponent(to)}`)
      return Promise.all(
        data.reverse().map(async (item: Json) => {
          if (item.media_url === null) return { text: item.text, files: [] }
          const link = new URL(item.media_url)
          const file = await harness.api('GET', link.pathname + link.search, { key: null })
          return { text: item.text, files: [{ contentType: file.headers.get('content-type'), bytes: file.body.length }] }
        }),
      )
    },
    faults: new Set(['lost_answer', 'lost_request', 'error']),
    async befall(...faults) {
      for (const one of faults) await fault('send', one === 'lost_request' ? 'timeout' : one, 1)
    },
    failLater: null,
    canBeAsked: false,
    stop: async () => {},
  }
}

export async function blueBubblesWorld(): Promise<World> {
  const server = await startBlueBubblesServer()
  return {
    name: 'bluebubbles',
    settings: {
      ...quick,
      CALLSIGN_IMESSAGE_PROVIDER: 'bluebubbles',
      CALLSIGN_IMESSAGE_LINE: '+12025550100',
      CALLSIGN_BLUEBUBBLES_URL: server.url,
      CALLSIGN_BLUEBUBBLES_PASSWORD: blueBubblesPassword,
      CALLSIGN_BLUEBUBBLES_SEND_TIMEOUT_SECONDS: '0.2,0.2',
    },
    attach: async () => {},
    write: (from, text, { file, agoMs = 0, callback = 'once' } = {}) => server.write(from, text, file ?? null, agoMs, callback),
    arrived: async (to) => server.sentTo(to),
    faults: new Set(['lost_answer', 'lost_request', 'refused']),
    befall: async (...faults) => void server.faults.push(...faults),
    failLater: server.failLater,
    canBeAsked: true,
    stop: server.stop,
  }
}

export async function linqWorld(): Promise<World> {
  const server = await startLinqServer()
  return {
    name: 'linq',
    settings: {
      ...quick,
      CALLSIGN_IMESSAGE_PROVIDER: 'linq',
      CALLSIGN_LINQ_URL: server.url,
      CALLSIGN_LINQ_API_KEY: linqKey,
      CALLSIGN_LINQ_WEBHOOK_SECRET: server.secret,
    },
    attach: async (harness) => server.callTo(await callbackUrlOf(harness, 'linq')),
    write: (from, text, { file, agoMs = 0, callback = 'once' } = {}) => server.write(from, text, file ?? null, agoMs, callback),
    arrived: async (to) => server.sentTo(to),
    faults: new Set(['lost_answer', 'lost_request', 'error', 'refused']),
    befall: async (...faults) => void server.faults.push(...faults),
    failLater: server.failLater,
    canBeAsked: true,
    stop: server.stop,
  }
}
