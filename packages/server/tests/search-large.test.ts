// Search, filters and retention in mailboxes larger than the scan limit of a search, whose index spans several time partitions.
import { firstId } from '@callsign/contract/ids'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { listOld } from '../src/features/mail/storage/retention-store.ts'
import { countRowsRead } from './harness/plan.ts'
import { type Harness, type Json, startHarness } from './harness/start.ts'

const count = 4000
/** Ann's mail came over two months, Cleo's in little more than an hour. */
const apartMs = { ann: 20 * 60_000, bob: 20 * 60_000, cleo: 1_000 }

type Sample = { n: number; id: string; at: string; words: string; status: 'received' | 'quarantined' }
const samplesOf = (handle: keyof typeof apartMs): Sample[] =>
  Array.from({ length: count }, (_, n) => {
    const ms = Date.now() - (count + 1 - n) * apartMs[handle]
    const words = ['letter', n % 10 === 0 && 'tenth', n % 50 === 1 && 'fiftieth half', n % 700 === 2 && 'rare', n === 1 && 'once']
    const id = firstId('message', ms).slice(0, -6) + handle[0] + String(n).padStart(5, '0')
    const status = n % 100 === 51 ? 'quarantined' : 'received'
    return { n, id, at: new Date(ms).toISOString(), words: words.filter(Boolean).join(' '), status }
  })

let harness: Harness
const samples = samplesOf('ann')
const many = samplesOf('cleo')
beforeAll(async () => {
  harness = await startHarness()
  for (const [handle, own] of [
    ['ann', samples],
    ['bob', samplesOf('bob').filter(({ n }) => n % 7 === 0)],
    ['cleo', many],
  ] as const) {
    await harness.createAgent(handle)
    await harness.deliver({ from: 'writer@example.com', to: `${handle}@agents.localhost`, subject: 'Template', text: 'template' })
    const { id } = await harness.waitForMail(handle, 'Template')
    // Copies of the message, with arrival times one after another.
    await harness.db.query({
      text: `INSERT INTO messages (id, organization_id, mailbox_id, thread_id, direction, status, from_address, subject, snippet, text, html, extracted_text, headers,
          is_read, is_starred, labels, flags, guardrail, size_bytes, attachment_count, raw_id, created_at, updated_at, search)
        SELECT made.id, m.organization_id, m.mailbox_id, m.thread_id, 'inbound', made.status, m.from_address, 'Copy', m.snippet, words, '', words, m.headers,
          n % 500 <> 3, n % 500 = 4, CASE WHEN n % 500 = 5 THEN ARRAY['invoice', 'paid'] ELSE '{}' END,
          CASE WHEN n % 500 = 6 THEN '[{"type": "hidden_text", "reason": "It hides.", "evidence": "x"}]'::jsonb ELSE '[]' END, m.guardrail,
          100, 0, m.raw_id, at, at, to_tsvector('simple', words)
        FROM jsonb_to_recordset($2::jsonb) AS made (n integer, id text, at timestamptz, words text, status text) JOIN messages m ON m.id = $1`,
      values: [id, JSON.stringify(own)],
    })
  }
})
afterAll(() => harness?.stop())

/** All pages of a list, one after another. */
async function walk(path: string): Promise<Json[]> {
  const items: Json[] = []
  for (let cursor: string | null = ''; cursor !== null; ) {
    const page: Json = await harness.expectApi(200, 'GET', `${path}&limit=20${cursor && `&cursor=${cursor}`}`)
    items.push(...page.data)
    cursor = page.next_cursor
  }
  return items
}
const idsOf = (items: Json[]): string[] => items.map((item) => item.id)
const expected = (is: (sample: Sample) => boolean, own = samples): string[] =>
  own
    .filter((sample) => sample.status === 'received' && is(sample))
    .map(({ id }) => id)
    .toReversed()

describe('search', () => {
  test.each(['tenth', 'fiftieth', '"fiftieth half"', 'rare', 'once', 'letter once', 'rare or once', 'nowhere'])(
    '%s gives every match once, newest first, over all pages',
    async (query) => {
      const words = query.replaceAll('"', '').replace('letter once', 'once').split(' or ')
      for (const [handle, own] of [
        ['ann', samples],
        ['cleo', many],
      ] as const) {
        const found = await walk(`/mailboxes/${handle}/search?q=${encodeURIComponent(query)}`)
        expect(idsOf(found)).toEqual(expected((sample) => words.some((word) => ` ${sample.words} `.includes(` ${word} `)), own))
        for (const { highlights } of found) expect(highlights.text).toContain('<mark>')
      }
    },
  )

  test('a word that all messages have gives a full page of the newest', async () => {
    const { data } = await harness.expectApi(200, 'GET', '/mailboxes/ann/search?q=letter&limit=30')
    expect(idsOf(data)).toEqual(expected(() => true).slice(0, 30))
  })
})

describe('filters', () => {
  const at = (n: number) => samples[n]?.at as string
  test.each([
    ['is_read=false', (n: number) => n % 500 === 3],
    ['is_starred=true', (n: number) => n % 500 === 4],
    ['label=invoice', (n: number) => n % 500 === 5],
    ['flag=hidden_text', (n: number) => n % 500 === 6],
    [`before=${at(40)}`, (n: number) => n < 40],
    [`after=${at(3960)}&direction=inbound`, (n: number) => n > 3960],
    [`after=${at(2000)}&before=${at(2030)}`, (n: number) => n > 2000 && n < 2030],
    [`after=${at(2000)}&is_read=false`, (n: number) => n > 2000 && n % 500 === 3],
  ] as const)('%s', async (query, is) => {
    const found = await walk(`/mailboxes/ann/messages?${query}`)
    expect(idsOf(found.filter((item) => item.subject === 'Copy'))).toEqual(expected(({ n }) => is(n)))
  })
})

test('retention of a mailbox reads none of the messages of others', async () => {
  const { mailbox } = await harness.expectApi(200, 'GET', '/identities/bob')
  const before = new Date(Date.now() - 15 * 86_400_000)
  const { result, rowsRead } = await countRowsRead(harness.db, (sql) => listOld(sql, mailbox.id, before, 200))
  expect(result.map(({ id }) => Number(id.slice(-5)))).toEqual(Array.from({ length: 200 }, (_, index) => index * 7))
  // The messages found, and the two values that they are sought by.
  expect(rowsRead).toBeLessThanOrEqual(2 * 200 + 2)
})
