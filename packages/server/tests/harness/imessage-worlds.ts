// The three worlds: the simulator, and our fakes of BlueBubbles and Linq.
import { openKeyring } from '../../src/edges/keyring/keyring.ts'
import { blueBubblesPassword, startBlueBubblesServer } from './bluebubbles-server.ts'
import type { World } from './imessage-world.ts'
import { linqKey, startLinqServer } from './linq-server.ts'
import type { Json, Stage } from './start.ts'

const quick = {
  CALLSIGN_IMESSAGE_RETRY_SECONDS: '0.05,0.1,0.2',
  CALLSIGN_IMESSAGE_POLL_SECONDS: '0.2',
  CALLSIGN_OUTBOUND_ALLOW_CIDRS: '127.0.0.0/8',
}

/** Where callbacks of a provider go. */
export async function callbackUrlOf(stage: Pick<Stage, 'dataDir' | 'baseUrl'>, provider: string): Promise<string> {
  const token = (await openKeyring(stage.dataDir)).subkey('imessage-callbacks').toString('base64url')
  return `${stage.baseUrl}/hooks/imessage/${provider}/${token}`
}

export async function simulatorWorld(): Promise<World> {
  let stage: Stage
  const fault = (op: string, fail: string, times: number): Promise<Json> =>
    stage.expectApi(200, 'POST', '/simulator/faults', { body: { provider: 'imessage', op, fail, times } })
  return {
    name: 'simulator',
    settings: quick,
    attach: async (given) => {
      stage = given
    },
    async write(from, text, { file, callback = 'once' } = {}) {
      if (callback === 'twice') await fault('webhook', 'duplicate', 1)
      const media = file ? [{ content: file.toString('base64'), content_type: 'image/png' }] : []
      await stage.expectApi(201, 'POST', '/simulator/imessage', { body: { from, ...(text && { text }), media } })
    },
    async arrived(to) {
      const { data } = await stage.expectApi(200, 'GET', `/simulator/outbox?limit=100&to=${encodeURIComponent(to)}`)
      return Promise.all(
        data.reverse().map(async (item: Json) => {
          if (item.media_url === null) return { text: item.text, files: [] }
          const link = new URL(item.media_url)
          const file = await stage.api('GET', link.pathname + link.search, { key: null })
          return { text: item.text, files: [{ contentType: file.headers.get('content-type'), bytes: file.body.length }] }
        }),
      )
    },
    troubles: new Set(['lost_answer', 'lost_request', 'error']),
    async befall(...troubles) {
      for (const trouble of troubles) await fault('send', trouble === 'lost_request' ? 'timeout' : trouble, 1)
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
      CALLSIGN_BLUEBUBBLES_SETTLE_SECONDS: '0.2,0.2',
    },
    attach: async () => {},
    write: (from, text, { file, agoMs = 0, callback = 'once' } = {}) => server.write(from, text, file ?? null, agoMs, callback),
    arrived: async (to) => server.sentTo(to),
    troubles: new Set(['lost_answer', 'lost_request', 'refused']),
    befall: async (...troubles) => void server.troubles.push(...troubles),
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
    attach: async (stage) => server.callTo(await callbackUrlOf(stage, 'linq')),
    write: (from, text, { file, agoMs = 0, callback = 'once' } = {}) => server.write(from, text, file ?? null, agoMs, callback),
    arrived: async (to) => server.sentTo(to),
    troubles: new Set(['lost_answer', 'lost_request', 'error', 'refused']),
    befall: async (...troubles) => void server.troubles.push(...troubles),
    failLater: server.failLater,
    canBeAsked: true,
    stop: server.stop,
  }
}
