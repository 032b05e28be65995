// Lists of messages by folder, in a mailbox with more messages than a scan reads before it uses the index of threads.
import { firstId } from '@callsign/contract/ids'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type MessageFilter, type MessageOwner, toConditions } from '../src/features/mail/stored/lists/filter-conditions-store.ts'
import { findNewest } from '../src/features/mail/stored/lists/newest-store.ts'
import { countRowsRead } from './harness/plan.ts'
import { type Harness, type Json, startHarness } from './harness/start.ts'

const count = 12_000
const third = count / 3

type Sample = {
  n: number
  id: string
  at: string
  thread: number
  folder: string
  isOutbound: boolean
  isRead: boolean
  isTrashed: boolean
}

/** A thread has one message, or one in each third of the time. The inbox is rare in the newer two thirds, and spam everywhere. */
function folderOf(thread: number, isSpread: boolean): string {
  if (isSpread) return thread % 400 === 0 ? 'inbox' : thread % 1000 === 8 ? 'spam' : 'archive'
  if (thread % 1500 === 7) return 'spam'
  return thread < third || thread % 1000 === 1 ? 'inbox' : 'archive'
}

const startMs = Date.now() - (count + 60) * 60_000
const samples: Sample[] = Array.from({ length: count }, (_, n) => {
  const ms = startMs + n * 60_000
  const isSpread = (n % third) % 4 === 0
  const thread = isSpread ? n % third : n
  return {
    n,
    id: firstId('message', ms).slice(0, -5) + String(n).padStart(5, '0'),
    at: new Date(ms).toISOString(),
    thread,
    folder: folderOf(thread, isSpread),
    isOutbound: isSpread && n >= third && n < 2 * third,
    isRead: n % 300 !== 1,
    isTrashed: n % 700 === 5,
  }
})
const threads = [...Map.groupBy(samples, ({ thread }) => thread)].map(([thread, own]) => {
  const shown = own.filter((one) => !one.isTrashed)
  return {
    id: firstId('thread', startMs).slice(0, -5) + String(thread).padStart(5, '0'),
    folder: own[0]?.folder,
    count: shown.length,
    trashed: own.length - shown.length,
    unread: shown.filter((one) => !one.isRead).length,
    last_id: (shown.at(-1) ?? own.at(-1))?.id,
    at: own[0]?.at,
    has_outbound: own.some((one) => one.isOutbound),
  }
})

let harness: Harness
let mailboxId: string
beforeAll(async () => {
  harness = await startHarness()
  await harness.createAgent('ann')
  await harness.deliver({ from: 'writer@example.com', to: 'ann@agents.localhost', subject: 'Template', text: 'template' })
  const { id, mailbox_id } = await harness.waitForMail('ann', 'Template')
  mailboxId = mailbox_id
  await harness.db.query({
    text: `INSERT INTO threads (id, organization_id, mailbox_id, subject, snippet, message_count, unread_count, trashed_count, folder, last_message_id,
        last_message_at, created_at, has_outbound)
      SELECT made.id, m.organization_id, m.mailbox_id, '', '', count, unread, trashed, made.folder, last_id, at, at, made.has_outbound
      FROM jsonb_to_recordset($2::jsonb) AS made (id text, folder text, count int, trashed int, unread int, last_id text, at timestamptz, has_outbound boolean)
      JOIN messages m ON m.id = $1`,
    values: [id, JSON.stringify(threads)],
  })
  await harness.db.query({
    text: `INSERT INTO messages (id, organization_id, mailbox_id, thread_id, direction, status, from_address, to_addresses, subject, snippet, text, html,
        extracted_text, headers, is_read, trashed_at, guardrail, size_bytes, attachment_count, raw_id, created_at, updated_at, search)
      SELECT made.id, m.organization_id, m.mailbox_id, $3 || lpad(thread::text, 5, '0'), CASE WHEN "isOutbound" THEN 'outbound' ELSE 'inbound' END,
        CASE WHEN "isOutbound" THEN 'sent' ELSE 'received' END, 'writer' || n % 500 || '@example.com', m.to_addresses, 'Copy', '', '', '', '', '{}', "isRead",
        CASE WHEN "isTrashed" THEN at END, m.guardrail, 100, 0, m.raw_id, at, at, ''
      FROM jsonb_to_recordset($2::jsonb) AS made (n int, id text, at timestamptz, thread int, "isOutbound" boolean, "isRead" boolean, "isTrashed" boolean)
      JOIN messages m ON m.id = $1`,
    values: [id, JSON.stringify(samples), firstId('thread', startMs).slice(0, -5)],
  })
  await harness.expectApi(200, 'DELETE', `/mailboxes/ann/messages/${id}`)
  await harness.db.query({ text: 'VACUUM ANALYZE threads, messages' })
})
afterAll(() => harness?.stop())

/** All pages of a list, one after another. */
async function walk(query: string, list = '/mailboxes/ann/messages'): Promise<string[]> {
  const found: string[] = []
  for (let cursor: string | null = ''; cursor !== null; ) {
    const page: Json = await harness.expectApi(200, 'GET', `${list}?${query}&limit=100${cursor && `&cursor=${cursor}`}`)
    found.push(...(page.data ?? page.messages).map((one: Json) => one.id))
    cursor = page.next_cursor
  }
  return found
}

const inFolder = (folder: string) => (one: Sample) => !one.isTrashed && one.folder === folder
const at = (n: number): string => samples[n]?.at as string
const cases: [string, (one: Sample) => boolean][] = [
  ['folder=inbox', inFolder('inbox')],
  ['folder=archive', inFolder('archive')],
  ['folder=spam', inFolder('spam')],
  ['folder=trash', (one) => one.isTrashed],
  ['folder=sent', (one) => !one.isTrashed && one.isOutbound],
  ['folder=inbox&direction=inbound', (one) => inFolder('inbox')(one) && !one.isOutbound],
  ['folder=inbox&direction=outbound', (one) => inFolder('inbox')(one) && one.isOutbound],
  ['folder=spam&direction=outbound', (one) => inFolder('spam')(one) && one.isOutbound],
  ['folder=inbox&is_read=false', (one) => inFolder('inbox')(one) && !one.isRead],
  ['folder=spam&is_read=true', (one) => inFolder('spam')(one) && one.isRead],
  ['folder=inbox&is_trashed=true', (one) => one.isTrashed && one.folder === 'inbox'],
  ['folder=inbox&is_starred=true', () => false],
  ['folder=inbox&from=writer20@', (one) => inFolder('inbox')(one) && one.n % 500 === 20],
  [`folder=inbox&after=${at(2000)}&before=${at(9000)}`, (one) => inFolder('inbox')(one) && one.n > 2000 && one.n < 9000],
  [`folder=spam&after=${at(9000)}`, (one) => inFolder('spam')(one) && one.n > 9000],
]

describe('GET …/messages?folder=', () => {
  test.each(cases)('%s gives every match once, newest first, over all pages', async (query, is) => {
    const expected = samples.filter(is).map(({ id }) => id)
    expect(await walk(query)).toEqual(expected.toReversed())
  })

  test.each(cases.filter(([query]) => /^folder=\w+(&direction=\w+)?$/.test(query)))(
    '%s is the same across mailboxes',
    async (query, is) => {
      const expected = samples.filter(is).map(({ id }) => id)
      expect(await walk(query, '/mail/messages')).toEqual(expected.toReversed())
    },
  )

  test('scheduled and unknown folders are 400', async () => {
    for (const folder of ['scheduled', 'drafts', ''])
      expect((await harness.api('GET', `/mailboxes/ann/messages?folder=${folder}`)).body.error.code).toBe('validation_error')
  })

  test('a message follows its thread from folder to folder', async () => {
    const [newest] = samples.filter(inFolder('inbox')).toReversed() as [Sample]
    const { thread_id } = await harness.getMessage('ann', newest.id)
    const first = async (folder: string) =>
      (await harness.expectApi(200, 'GET', `/mailboxes/ann/messages?folder=${folder}&limit=1`)).data[0].id
    expect(await first('inbox')).toBe(newest.id)
    await harness.expectApi(200, 'PATCH', `/threads/${thread_id}`, { body: { folder: 'spam' } })
    expect([await first('spam'), (await first('inbox')) < newest.id]).toEqual([newest.id, true])
    await harness.expectApi(200, 'PATCH', `/threads/${thread_id}`, { body: { folder: newest.folder } })
    expect(await first('inbox')).toBe(newest.id)
  })
})

/** Rows that PostgreSQL reads for the first page. */
const rowsReadFor = async (owner: MessageOwner, filter: MessageFilter): Promise<number> =>
  (await countRowsRead(harness.db, (sql) => findNewest(sql, toConditions(owner, filter), { limit: 50, cursor: null }))).rowsRead

test('the first page of a folder whose messages are all old does not read every newer message', async () => {
  // A scan reads 2,500 messages with their threads, and the index of threads the rest.
  const owners: MessageOwner[] = [
    { column: 'mailbox_id', id: mailboxId },
    { column: 'organization_id', id: (await harness.expectApi(200, 'GET', '/organization')).id },
  ]
  for (const owner of owners) {
    for (const filter of [{ folder: 'spam' }, { folder: 'inbox' }, { folder: 'inbox', direction: 'inbound' }] as MessageFilter[])
      expect(await rowsReadFor(owner, filter)).toBeLessThan(9000)
    expect(await rowsReadFor(owner, { folder: 'archive' })).toBeLessThan(2000)
  }
})
