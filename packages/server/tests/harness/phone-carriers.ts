// The three phone providers for tests. Each offers the same stock, faults and incoming texts.
import type { Harness, Json } from './start.ts'
import type { BadLuck, OutsideText } from './supplier-server.ts'
import { startTelnyxServer } from './telnyx-server.ts'
import { startTwilioServer } from './twilio-server.ts'

/** Number of callbacks. With `twice` both are alike, and with `never` only the provider's list has the text. */
export type Callback = 'once' | 'twice' | 'never'

export type Carrier = {
  settings: Record<string, string>
  /** Numbers that are paid for. */
  owned: () => Promise<string[]>
  /** Number of purchases. */
  purchases: () => Promise<number>
  spoil: (step: 'search' | 'order' | 'advance' | 'release', kind: BadLuck) => Promise<unknown>
  /** Sells the first `count` offers to another customer before they are ordered. */
  sellFirst: (count: number) => Promise<unknown>
  /** Returns a query that has no offers. */
  none: () => Promise<Record<string, string>>
  text: (number: Json, text: OutsideText, callback: Callback) => Promise<unknown>
  /** Two texts whose callbacks arrive in reverse order. */
  reversed: (number: Json, first: OutsideText, second: OutsideText) => Promise<unknown>
  /** Sends a callback with one byte changed after signing, and returns its status. Null where callbacks do not use a socket. */
  forge: ((number: Json, text: OutsideText) => Promise<number>) | null
  /** Stops the stand-in server. */
  stop: () => Promise<void>
}

type Server = {
  url: string
  settings: Record<string, string>
  owned: () => string[]
  purchases: () => number
  spoil: (name: string, kind: BadLuck) => void
  sellAfterSearch: (count: number) => void
  write: (to: string, text: OutsideText) => { body: string; post: (changed?: string) => Promise<number> }
  stop: () => Promise<void>
}

/** A provider on a stand-in server. `advance` is the call that reports the state of a number. */
function onServer(server: Server): Carrier {
  const taken = (status: number) => {
    if (status !== 200) throw new Error(`the callback was answered ${status}`)
  }
  return {
    settings: { ...server.settings, CALLSIGN_OUTBOUND_ALLOW_CIDRS: '127.0.0.0/8' },
    owned: async () => server.owned(),
    purchases: async () => server.purchases(),
    spoil: async (step, kind) => server.spoil(step === 'advance' ? 'number' : step, kind),
    sellFirst: async (count) => server.sellAfterSearch(count),
    none: async () => ({ area_code: '907' }),
    text: async (number, text, callback) => {
      const { post } = server.write(number.phone_number, text)
      if (callback !== 'never') taken(await post())
      if (callback === 'twice') taken(await post())
    },
    reversed: async (number, first, second) => {
      const earlier = server.write(number.phone_number, first)
      taken(await server.write(number.phone_number, second).post())
      taken(await earlier.post())
    },
    forge: async (number, text) => {
      const { body, post } = server.write(number.phone_number, text)
      return post(body.replace(/[a-z](?=[a-z]{3})/, (letter) => (letter === 'x' ? 'y' : 'x')))
    },
    stop: server.stop,
  }
}

const simulatedFaults: Record<BadLuck, string> = { lose: 'lost_answer', cut: 'timeout', late: 'timeout', fail: 'error', refuse: 'error' }

/** The simulator, by its own controls. */
function onSimulator(harness: () => Harness): Carrier {
  const fault = (op: string, fail: string, times = 1) =>
    harness().expectApi(200, 'POST', '/simulator/faults', { body: { provider: 'phone', op, fail, times } })
  const count = async (condition: string) =>
    (
      await harness().db.query<{ phone_number: string }>({ text: `SELECT phone_number FROM simulated_numbers WHERE ${condition}` })
    ).rows.map((row) => row.phone_number)
  const send = (number: Json, { from, text, media }: OutsideText) =>
    harness().expectApi(201, 'POST', '/simulator/sms', {
      body: {
        to: number.phone_number,
        from,
        text,
        ...(media ? { media: media.map((one) => ({ content_type: one.contentType, content: one.bytes.toString('base64') })) } : {}),
      },
    })
  return {
    settings: { CALLSIGN_SIM_SMS_READY_MS: '20' },
    owned: () => count('released_at IS NULL'),
    purchases: async () => (await count('true')).length,
    spoil: (step, kind) => fault(step, simulatedFaults[kind]),
    sellFirst: (times) => fault('order', 'taken', times),
    none: async () => {
      await fault('search', 'empty')
      return {}
    },
    text: async (number, text, callback) => {
      if (callback === 'twice') await fault('webhook', 'duplicate')
      if (callback === 'never') await fault('webhook', 'drop')
      await send(number, text)
    },
    reversed: async (number, first, second) => {
      await fault('webhook', 'reorder')
      await send(number, first)
      await send(number, second)
    },
    forge: null,
    stop: async () => {},
  }
}

export const carriers: Record<string, (harness: () => Harness) => Promise<Carrier>> = {
  simulator: async (harness) => onSimulator(harness),
  telnyx: async () => onServer(await startTelnyxServer()),
  twilio: async () => onServer(await startTwilioServer()),
}
