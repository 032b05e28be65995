// kill -9 during sending, repeatedly. Accepted messages are sent exactly once, and incoming ones are filed once.
import { expect, test } from 'vitest'
import { makeDataDir, type Server, startCallsignd } from './harness/callsignd.ts'
import type { World } from './harness/imessage-world.ts'
import { blueBubblesWorld, linqWorld, simulatorWorld } from './harness/imessage-worlds.ts'
import type { Harness, Json } from './harness/start.ts'
import { waitFor } from './harness/wait.ts'

const kills = 4
const phones = ['+14155553001', '+14155553002', '+14155553003', '+14155553004']

test.each([
  ['simulator', simulatorWorld],
  ['bluebubbles', blueBubblesWorld],
  ['linq', linqWorld],
])('%s', async (_name, createWorld) => {
  const world: World = await createWorld()
  const directory = await makeDataDir()
  const settings = { ...world.settings, CALLSIGN_DATA_DIR: directory.path, CALLSIGN_LOG_LEVEL: 'error' }
  let server: Server = await startCallsignd(settings)
  const key = server.key as string

  const ask = async (
    method: string,
    path: string,
    body?: unknown,
    headers: Record<string, string> = {},
  ): Promise<{ status: number; body: Json }> => {
    const response = await fetch(`${server.baseUrl}/api/v1${path}`, {
      method,
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json', ...headers },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    })
    return { status: response.status, body: await response.json() }
  }
  const expectApi: Harness['expectApi'] = async (status, method, path, { body } = {}) => {
    const answer = await ask(method, path, body)
    if (answer.status !== status) throw new Error(`${method} ${path} answered ${answer.status} ${JSON.stringify(answer.body)}`)
    return answer.body
  }
  // The parts of a server that a provider world needs, in any process.
  const place = {
    expectApi,
    dataDir: directory.path,
    get baseUrl() {
      return server.baseUrl
    },
  } as unknown as Harness
  place.api = async (method, path) => {
    const response = await fetch(`${server.baseUrl}${path}`, { method })
    return { status: response.status, headers: response.headers, body: Buffer.from(await response.arrayBuffer()) }
  }

  try {
    await world.attach(place)
    await ask('POST', '/identities', { agent_handle: 'sales' })
    for (const phone of phones) await world.write(phone, 'connect @sales')
    const conversations = await waitFor('the conversations', async () => {
      const { data } = (await ask('GET', '/imessage/conversations')).body
      return data.length === phones.length && (data as Json[])
    })

    /** Repeats the request under the same key until it is answered, even when the server dies in between. */
    const sendUntilTaken = async (conversation: string, text: string): Promise<string> =>
      waitFor(
        `${text} to be taken`,
        async () => {
          const headers = { 'idempotency-key': text }
          const answer = await ask('POST', '/imessage/messages', { conversation_id: conversation, text }, headers).catch(() => null)
          return answer?.status === 200 && (answer.body.id as string)
        },
        60_000,
      )

    const wanted = new Map<string, string[]>(phones.map((phone) => [phone, []]))
    const written = new Map<string, string[]>(phones.map((phone) => [phone, []]))
    const sends: Promise<string>[] = []
    for (let round = 0; round < kills; round++) {
      const before = (await Promise.all(phones.map((phone) => world.arrived(phone)))).flat().length
      if (world.faults.has('lost_answer')) await world.befall('lost_answer', 'lost_request')
      for (const { id, recipient } of conversations) {
        for (let i = 0; i < 3; i++) {
          const text = `round ${round} number ${i} to ${recipient}`
          wanted.get(recipient)?.push(text)
          sends.push(sendUntilTaken(id, text))
        }
      }
      // In the middle some messages have gone, and the others are waiting, in delivery, or of unknown outcome.
      const few = before + 1 + round
      await waitFor('the first sends', async () => (await Promise.all(phones.map((phone) => world.arrived(phone)))).flat().length >= few)
      server.signal('SIGKILL')
      await server.ended
      if (world.canBeAsked) {
        for (const phone of phones) {
          written.get(phone)?.push(`while down ${round}`)
          await world.write(phone, `while down ${round}`, { callback: 'never' })
        }
      }
      server = await startCallsignd(settings)
      if (world.name === 'linq') await world.attach({ ...place, baseUrl: server.baseUrl })
    }
    const ids = new Set(await Promise.all(sends))
    expect(ids.size).toBe(kills * 3 * phones.length)

    const histories = await waitFor(
      'everything to be sent and filed',
      async () => {
        const all = await Promise.all(
          conversations.map(
            async ({ id }) => (await ask('GET', `/imessage/messages?limit=100&conversation_id=${id}`)).body.messages as Json[],
          ),
        )
        const isDone = all.every(
          (messages) =>
            messages.every((one) => one.status === 'sent' || one.status === 'received') &&
            messages.filter((one) => one.direction === 'inbound').length === (world.canBeAsked ? kills : 0),
        )
        return isDone && all
      },
      60_000,
    )
    for (const [i, { recipient }] of conversations.entries()) {
      const inbound = (histories[i] as Json[]).filter((one) => one.direction === 'inbound').map((one) => one.text)
      expect(inbound).toEqual(written.get(recipient))
      // The confirmation, and each text once.
      const got = (await world.arrived(recipient)).map((one) => one.text).slice(1)
      expect(got.toSorted()).toEqual(wanted.get(recipient)?.toSorted())
    }
  } finally {
    await server.stop()
    await world.stop()
    await directory.remove()
  }
})
