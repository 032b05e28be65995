// Waiting with the client longer than one request may take, over lost connections, without missing an arrival between requests.
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Harness, startHarness } from '../../server/tests/harness/start.ts'
import { waitFor } from '../../server/tests/harness/wait.ts'
import { ApiError, Callsign, type Fetch } from '../src/index.ts'

let harness: Harness
beforeAll(async () => {
  harness = await startHarness()
  await harness.createAgent('one')
})
afterAll(() => harness.stop())

const mail = (subject: string, text = 'Hello') => harness.deliver({ from: 'eve@example.org', to: 'one@agents.localhost', subject, text })
const clientWith = (fetcher: Fetch) => new Callsign({ url: harness.baseUrl, apiKey: harness.organizationKey, fetch: fetcher })

test('the next message with a code, not one from before', async () => {
  await mail('Before', 'Your login code is 111111.')
  const asked: string[] = []
  const client = clientWith((input, init) => {
    asked.push(input)
    return fetch(input, init)
  })
  const waiting = client.mailboxes.wait('one', { has_code: true, timeout: 20 })
  await waitFor('the wait to be asked for', () => asked.some((url) => url.includes('cursor=')))
  await mail('Now', 'Your login code is 482913.')
  const { message } = await waiting
  expect(message).toMatchObject({ subject: 'Now', codes: [{ value: '482913' }] })
})

test('a timeout returns null and a cursor from which the next wait finds later arrivals', async () => {
  const client = clientWith(fetch)
  const { message, cursor } = await client.mailboxes.wait('one', { timeout: 0 })
  expect(message).toBe(null)
  await mail('Meanwhile')
  expect((await client.mailboxes.wait('one', { timeout: 20, cursor })).message?.subject).toBe('Meanwhile')
})

test('mail that arrives while a connection is lost is found by the retry', async () => {
  let lost = 0
  const client = clientWith(async (input, init) => {
    if (input.includes('cursor=') && lost++ === 0) {
      await mail('In the gap')
      throw new TypeError('the connection was lost')
    }
    return fetch(input, init)
  })
  expect((await client.mailboxes.wait('one', { timeout: 20 })).message?.subject).toBe('In the gap')
})

test('more than a minute takes several requests, a signal ends it, and a rejection is an error', async () => {
  const asked: URL[] = []
  const client = clientWith(async (input) => {
    asked.push(new URL(input))
    return new Response(JSON.stringify({ message: null, cursor: `evt_${asked.length}` }), { status: 200 })
  })
  const controller = new AbortController()
  const waiting = client.mailboxes.wait('one', { timeout: 600, from: 'eve' }, { signal: controller.signal })
  await waitFor('five requests', () => asked.length >= 5)
  controller.abort()
  await expect(waiting).rejects.toThrow()
  expect(asked.slice(0, 4).map(({ searchParams }) => [searchParams.get('timeout'), searchParams.get('cursor')])).toEqual([
    ['0', null],
    ['60', 'evt_1'],
    ['60', 'evt_2'],
    ['60', 'evt_3'],
  ])
  expect(new Set(asked.map(({ searchParams }) => searchParams.get('from')))).toEqual(new Set(['eve']))
  await expect(clientWith(fetch).mailboxes.wait('nobody')).rejects.toThrow(ApiError)
})
