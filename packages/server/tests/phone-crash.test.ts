// A real server is killed repeatedly while it buys numbers and receives texts. Numbers are never bought twice, and purchases and texts are never
// lost.
import { afterEach, expect, test } from 'vitest'
import { makeDataDir, type Server, type Settings, startCallsignd } from './harness/callsignd.ts'
import { findFreePort } from './harness/peer-process.ts'
import type { Json } from './harness/start.ts'
import { startTelnyxServer } from './harness/telnyx-server.ts'
import { startTwilioServer } from './harness/twilio-server.ts'
import { waitFor } from './harness/wait.ts'

const kills = 5
const agentsAKill = 4
const textsAKill = 6

const cleanups: (() => Promise<unknown>)[] = []
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup()
})

/** A generator of whole numbers that a seed repeats (Numerical Recipes' linear congruence). */
function seeded(seed: number): (max: number) => number {
  let state = seed
  return (max) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    // Uses the high bits, because the low ones of such a generator repeat after a few numbers, the lowest after two.
    return Math.floor((state / 2 ** 32) * max)
  }
}

const suppliers = { telnyx: startTelnyxServer, twilio: startTwilioServer }

test.skipIf(process.platform !== 'linux').each(['telnyx', 'twilio'] as const)(
  'kill -9 during provisioning at %s buys no number twice, and loses or duplicates no number or text',
  async (name) => {
    const supplier = await suppliers[name]()
    cleanups.push(supplier.stop)
    const dataDir = await makeDataDir()
    cleanups.push(dataDir.remove)
    // Callbacks go to the address that numbers were bought with, so the port must stay the same.
    const port = await findFreePort()
    const settings: Settings = {
      CALLSIGN_DATA_DIR: dataDir.path,
      CALLSIGN_PORT: String(port),
      CALLSIGN_PUBLIC_URL: `http://127.0.0.1:${port}`,
      CALLSIGN_SMTP_PORT: 'off',
      CALLSIGN_PHONE_POLL_SECONDS: '0.05',
      CALLSIGN_PHONE_CATCH_UP_SECONDS: '0.2',
      CALLSIGN_LOG_LEVEL: 'error',
      ...supplier.settings,
    }
    let server: Server = await startCallsignd(settings)
    cleanups.push(() => server.stop())
    const key = server.key as string

    async function ask(
      method: string,
      path: string,
      body?: unknown,
      headers: Record<string, string> = {},
    ): Promise<{ status: number; body: Json }> {
      const response = await fetch(`${server.baseUrl}/api/v1${path}`, {
        method,
        headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json', ...headers },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      })
      return { status: response.status, body: await response.json() }
    }

    const random = seeded(20_261_122)
    const answered = new Map<string, Json>()
    const unanswered = new Map<string, Json>()
    const sent: string[] = []
    let cutOff = 0
    /** Requests a number until an answer comes, as a client with an Idempotency-Key does. */
    async function provision(agent_handle: string): Promise<void> {
      const { status, body } = await ask('POST', '/phone/numbers', { agent_handle, region: 'NY' }, { 'idempotency-key': agent_handle })
      expect([status, body.error?.code], `${agent_handle} was answered ${JSON.stringify(body)}`).toEqual([201, undefined])
      answered.set(agent_handle, body)
      unanswered.delete(agent_handle)
    }

    for (let round = 0; round < kills; round++) {
      const handles = Array.from({ length: agentsAKill }, (_, i) => `agent_${round}_${i}`)
      for (const handle of handles) {
        expect((await ask('POST', '/identities', { agent_handle: handle })).status).toBe(201)
        unanswered.set(handle, null)
      }
      for (const kind of ['lose', 'cut', 'late'] as const) if (random(2) === 0) supplier.spoil('order', kind)
      const before = supplier.calls.filter((call) => call === 'order').length
      const asked = handles.map((handle) =>
        provision(handle).catch((error: unknown) => {
          // A request that the kill cut off is repeated. An unexpected answer is an error.
          if (!(error instanceof TypeError)) throw error
          cutOff++
        }),
      )
      // The moment varies between before an order, between order and answer, and after all.
      const orders = random(agentsAKill + 1)
      await waitFor(
        `${orders} orders`,
        () => supplier.calls.filter((call) => call === 'order').length >= before + orders || answered.size === (round + 1) * agentsAKill,
      )
      const texts = [...answered.values()].slice(0, textsAKill).map(async (number) => {
        const text = `text ${sent.length} for ${number.agent_handle}`
        sent.push(text)
        await supplier
          .write(number.phone_number, { from: '+16502530000', text })
          .post()
          .catch(() => {})
      })
      server.signal('SIGKILL')
      await server.ended
      await Promise.all([...asked, ...texts])
      server = await startCallsignd(settings)
      await Promise.all([...unanswered.keys()].map(provision))
    }
    expect(cutOff).toBeGreaterThan(0)

    const agents = kills * agentsAKill
    expect(answered.size).toBe(agents)
    const list = async (path: string): Promise<Json[]> => (await ask('GET', path)).body.data
    const numbers = await list('/phone/numbers?limit=100')
    // Each agent has its assigned number, every paid number belongs to an agent, and other numbers were never bought.
    expect(new Map(numbers.map((one) => [one.agent_handle, one.phone_number]))).toEqual(
      new Map([...answered].map(([handle, one]) => [handle, one.phone_number])),
    )
    expect(supplier.owned().toSorted()).toEqual(numbers.map((one) => one.phone_number).toSorted())
    expect(supplier.purchases()).toBe(agents)

    await waitFor(
      'every number to be ready',
      async () => (await list('/phone/numbers?limit=100')).every((one) => one.sms_status === 'ready'),
      30_000,
    )
    const readyEvents = await list('/events?types=number.sms_ready&limit=100')
    expect(readyEvents.map((one) => one.data.id).toSorted()).toEqual(numbers.map((one) => one.id).toSorted())

    const received = () =>
      Promise.all(numbers.map(async (one) => (await list(`/phone/numbers/${one.id}/messages?limit=100`)).map((text) => text.text)))
    await waitFor('every text', async () => (await received()).flat().length >= sent.length, 30_000)
    expect((await received()).flat().toSorted()).toEqual(sent.toSorted())
    expect((await list('/events?types=sms.received&limit=100')).length).toBe(sent.length)
  },
)
