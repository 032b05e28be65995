// A hundred injection mails over SMTP, read with every tool that shows mail: nothing that their senders chose leaves its fence.
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { injectionMails } from './harness/injection-mails.ts'
import { type Harness, type Json, startHarness } from './harness/start.ts'
import { waitFor } from './harness/wait.ts'

let harness: Harness
let client: Pair
let ids: string[]

beforeAll(async () => {
  harness = await startHarness()
  await harness.createAgent('sales')
  await harness.createAgent('guarded', { inbound_mode: 'allowlist' })
  for (const { mail } of injectionMails) await harness.deliver({ ...mail, to: ['sales@agents.localhost', 'guarded@agents.localhost'] })
  ids = await waitFor('every mail', async () => {
    const first = await harness.expectApi(200, 'GET', '/mailboxes/sales/messages?limit=100')
    return first.data.length === injectionMails.length && first.data.map(({ id }: Json) => id)
  })
  client = await connect('sales')
})
afterAll(async () => {
  await close(client)
  await harness?.stop()
})

/** A client that reads text, and one that reads data. */
type Pair = [text: Client, data: Client]

async function connect(agent: string): Promise<Pair> {
  const key = await harness.agentKey(agent, { scopes: ['quarantine:read'] })
  const one = async (query: string): Promise<Client> => {
    const made = new Client({ name: 'test', version: '1' }, { versionNegotiation: { mode: { pin: '2026-07-28' } } })
    const requestInit = { headers: { Authorization: `Bearer ${key}` } }
    await made.connect(new StreamableHTTPClientTransport(new URL(`${harness.baseUrl}/mcp${query}`), { requestInit }))
    return made
  }
  return [await one(''), await one('?results=data')]
}

const close = async (pair: Pair | undefined): Promise<void> => {
  for (const one of pair ?? []) await one.close()
}

const fence = /<untrusted-([0-9a-f]{16})>\n([\s\S]*?)\n<\/untrusted-\1>/g
// Characters that people cannot see, other than line feeds and tabs.
const invisible = /(?![\t\n])[\p{Cc}\p{Cf}\p{Cs}\p{Co}\p{Default_Ignorable_Code_Point}]/u

/** Checks one text of a result, and returns the number of fences in it. */
function checkText(text: string): number {
  const contents = [...text.matchAll(fence)].map(([, , content = '']) => content)
  const outside = text.replace(fence, '')
  expect(outside).not.toMatch(/canary|evil\.example|msg_forged/)
  for (const content of contents) {
    expect(content).not.toMatch(/<\s*\/?\s*untrusted/i)
    expect(content).not.toMatch(invisible)
  }
  return contents.length
}

const textsIn = (value: unknown): string[] => {
  if (typeof value === 'string') return [value]
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(textsIn) : []
}

/** The result of a tool, after the check of its text and of each text of its data. */
async function call(name: string, args: Json, [text, data] = client): Promise<Json> {
  const [shown, result] = await Promise.all([text, data].map((by) => by.callTool({ name, arguments: args })))
  if (!shown || !result) throw new Error('a call has no result')
  expect({ name, isErrors: [shown.isError === true, result.isError === true] }).toEqual({ name, isErrors: [false, false] })
  const fences = checkText((shown.content as { text: string }[]).map((part) => part.text).join('\n'))
  for (const part of textsIn([result.structuredContent, result.content])) checkText(part)
  return { ...(result.structuredContent as object), fences }
}

test('the set has a hundred mails, with a canary each', () => {
  expect(injectionMails).toHaveLength(100)
  expect(new Set(injectionMails.map(({ canary }) => canary)).size).toBe(100)
})

test('reading each mail, whole and in its thread, and its attachment', async () => {
  const seen = new Set<string>()
  for (const message_id of ids) {
    const { message, fences } = await call('mail_get', { message_id, full: true })
    expect(fences).toBeGreaterThan(0)
    seen.add(/canary[a-z]+\d+x/.exec(message.content)?.[0] as string)
    await call('thread_get', { thread_id: message.thread_id })
    for (const { id } of message.attachments) await call('attachment_get', { message_id, attachment_id: id })
  }
  expect(seen.size).toBe(100)
})

test('lists, search, events, waits and quarantine', async () => {
  let cursor: string | null = null
  let listed = 0
  do {
    const page: Json = await call('mail_list', { limit: 50, ...(cursor === null ? {} : { cursor }) })
    listed += page.messages.length
    cursor = page.next_cursor
  } while (cursor !== null)
  expect(listed).toBe(100)
  for (const q of ['canary', 'obey', 'untrusted']) await call('mail_search', { q, limit: 50 })
  let since: string | undefined
  let events = 0
  for (;;) {
    const page: Json = await call('events_since', { limit: 50, ...(since === undefined ? {} : { cursor: since }) })
    events += page.events.length
    since = page.next_cursor
    if (!page.has_more) break
  }
  expect(events).toBeGreaterThanOrEqual(100)
  const guarded = await connect('guarded')
  const held = await call('quarantine_list', { limit: 50 }, guarded)
  expect(held.fences).toBeGreaterThanOrEqual(50)
  await close(guarded)
  const start = await call('mail_wait', { timeout: 0 })
  const [first] = injectionMails
  await harness.deliver({ ...first?.mail, to: 'sales@agents.localhost' })
  expect((await call('mail_wait', { timeout: 30, cursor: start.next_cursor })).message.content).toContain(first?.canary)
})

test('resources', async () => {
  for (const id of ids.slice(0, 20)) {
    const { contents } = await client[0].readResource({ uri: `callsign://sales/messages/${id}` })
    expect(checkText((contents[0] as { text: string }).text)).toBeGreaterThan(0)
  }
})
