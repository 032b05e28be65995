// Filters on senders, subjects, recipients and labels, in mailboxes larger than the scan before an index is used.
import { firstId } from '@callsign/contract/ids'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { cutWords, type Field, fieldWord } from '../src/features/mail/stored/search/words.ts'
import { type Harness, type Json, startHarness } from './harness/start.ts'

const count = 3000
/** Ann's mail came over five months, Cleo's in less than an hour. */
const apartMs = { ann: 70 * 60_000, cleo: 1_000 }
type Handle = keyof typeof apartMs

type Sample = { n: number; id: string; at: string; address: string; name: string; to: string[]; cc: string[]; subject: string }
type Samples = (Sample & { labels: string[]; tags: string[] | null; metadata: Json | null; is_read: boolean; status: string })[]

const samplesOf = (handle: Handle): Samples =>
  Array.from({ length: count }, (_, n) => {
    const ms = Date.now() - (count + 1 - n) * apartMs[handle]
    const own = `${handle}@agents.localhost`
    return {
      n,
      id: firstId('message', ms).slice(0, -6) + handle[0] + String(n).padStart(5, '0'),
      at: new Date(ms).toISOString(),
      address: n % 700 === 2 ? 'Rare.Sender@Seldom.example' : n % 10 === 3 ? 'tenth@often.example' : `writer${n % 300}@example.com`,
      name: n % 600 === 5 ? 'Zoë Müller' : n % 600 === 6 ? 'Пётр Иванов' : n % 600 === 7 ? '100%_sure\\' : '',
      to: n % 900 === 8 ? [`${handle}+Tag@agents.localhost`, own] : n % 900 === 9 ? [`${handle}+SHOP@Agents.localhost`] : [own],
      cc: n % 900 === 10 ? ['copied@example.com'] : [],
      subject: n % 500 === 11 ? `Invoice 2026-${n}` : n % 500 === 12 ? 'Счёт за октябрь' : n === 1 ? 'The first of all' : 'Copy',
      labels: n % 400 === 13 ? ['invoice', 'paid'] : n > 20 ? ['seen'] : [],
      tags: n % 450 === 14 ? ['kind:rare', 'batch:9'] : n % 2 === 0 ? ['kind:common'] : null,
      metadata: n % 430 === 15 ? { order: n, kind: 'rare' } : n % 3 === 0 ? { kind: 'common' } : null,
      is_read: n % 50 !== 11,
      status: n % 100 === 52 ? 'quarantined' : 'received',
    }
  })

/** The words of a text, without case and accents. */
const wordsOf = (text: string): string[] =>
  text
    .normalize('NFKD')
    .replace(/[\u0300-\u036f]/g, '')
    .normalize('NFC')
    .toLowerCase()
    .split(/[^\p{L}\p{N}]+/u)
    .filter((word) => word !== '')

/** True for neighbouring words of the text, of which the last may be the start of a word. */
const holds = (text: string, part: string): boolean => {
  const [words, sought] = [wordsOf(text), wordsOf(part)]
  const isThere = (at: number) =>
    sought.every((word, index) => {
      const isStart = index === sought.length - 1 && word.length > 1
      return isStart ? words[at + index]?.startsWith(word) : words[at + index] === word
    })
  return sought.length > 0 && words.some((_, at) => isThere(at))
}
const isAddress = (text: string): boolean => /^[^@\s]+@[^@\s]+\.[^@\s]+$/.test(text)
const from = (part: string) =>
  [
    `from=${encodeURIComponent(part)}`,
    ({ address, name }: Sample) => (isAddress(part) ? address.toLowerCase() === part.toLowerCase() : holds(`${name} ${address}`, part)),
  ] as const
const subject = (part: string) => [`subject=${encodeURIComponent(part)}`, (one: Sample) => holds(one.subject, part)] as const

/** The words of the fields of a sample as the text of a `tsvector`. */
function searchOf({ address, name, to, cc, subject: line }: Sample): string {
  const words: string[] = []
  const add = (field: Field, text: string) => cutWords(text, ({ word, position }) => words.push(`'${fieldWord(field, word)}':${position}`))
  add('from', `${name} ${address}`)
  add('subject', line)
  return [...words, ...[...to, ...cc].map((recipient) => `'${fieldWord('to', recipient.toLowerCase())}':1`)].join(' ')
}
const to = (address: string) =>
  [
    `to=${encodeURIComponent(address)}`,
    (one: Sample) => [...one.to, ...one.cc].some((own) => own.toLowerCase() === address.toLowerCase()),
  ] as const

type Case = readonly [string, (one: Samples[number]) => boolean]
const both = ([a, isA]: Case, [b, isB]: Case): Case => [`${a}&${b}`, (one) => isA(one) && isB(one)]
const unread: Case = ['is_read=false', (one) => !one.is_read]
const label = (name: string): Case => [`label=${name}`, (one) => one.labels.includes(name)]

const tag = (name: string): Case => [`tag=${name}`, (one) => one.tags?.includes(name) === true]
const metadata = (key: string, value: string): Case => [`metadata=${key}:${value}`, (one) => String(one.metadata?.[key]) === value]

const cases: Case[] = [
  from('rare.sender@seldom.example'),
  from('LDOM.EX'),
  // Ends of words, signs, and letters beyond ASCII.
  from('re.sender@sel'),
  from('@seldom'),
  from('%_sure'),
  from('Zoë '),
  from('tenth@'),
  from('writer29@'),
  from('example'),
  from('nobody@nowhere.example'),
  from('müller'),
  from('Пётр'),
  from('%_s'),
  from('e\\'),
  from('w'),
  subject('voice 2026'),
  subject('ce 2026-1'),
  subject('-2511'),
  subject(' 2026-'),
  subject('Счёт'),
  subject('the first'),
  subject('opy'),
  subject('unheard of'),
  label('invoice'),
  label('seen'),
  label('nothing'),
  tag('kind:rare'),
  tag('batch:9'),
  tag('kind:common'),
  tag('kind:none'),
  metadata('kind', 'rare'),
  metadata('kind', 'common'),
  metadata('order', '445'),
  metadata('order', '446'),
  both(tag('kind:rare'), unread),
  both(tag('kind:common'), metadata('kind', 'rare')),
  both(label('invoice'), tag('kind:common')),
  both(from('rare'), label('seen')),
  both(from('writer'), subject('first of')),
  both(from('example'), unread),
  both(subject('invoice'), unread),
  both(subject('unheard of'), unread),
]

/** All pages of a list, one after another, without the template that the messages are copies of. */
async function walk(harness: Harness, handle: Handle, query: string): Promise<string[]> {
  const items: Json[] = []
  for (let cursor: string | null = ''; cursor !== null; ) {
    const page: Json = await harness.expectApi(
      200,
      'GET',
      `/mailboxes/${handle}/messages?${query}&limit=40${cursor && `&cursor=${cursor}`}`,
    )
    items.push(...page.data)
    cursor = page.next_cursor
  }
  return items.filter((item) => item.subject !== 'Template').map((item) => item.id)
}

/** All pages of the list across mailboxes. */
async function walkAll(harness: Harness, query: string, key?: string): Promise<string[]> {
  const items: Json[] = []
  for (let cursor: string | null = ''; cursor !== null; ) {
    const path = `/mail/messages?${query}&limit=40${cursor && `&cursor=${cursor}`}`
    const page: Json = await harness.expectApi(200, 'GET', path, key === undefined ? {} : { key })
    items.push(...page.messages)
    cursor = page.next_cursor
  }
  return items.filter((item) => item.subject !== 'Template').map((item) => item.id)
}

/** Filters of the list across mailboxes. Every copy is in a thread in the inbox. */
const sharedCases: Case[] = [
  tag('kind:rare'),
  tag('batch:9'),
  tag('kind:none'),
  metadata('kind', 'rare'),
  metadata('order', '445'),
  both(tag('kind:common'), metadata('kind', 'rare')),
  both(tag('kind:rare'), ['folder=inbox', () => true]),
  both(tag('kind:rare'), ['folder=archive', () => false]),
  both(metadata('kind', 'rare'), ['direction=outbound', () => false]),
]

describe('filters', () => {
  let harness: Harness
  const samples = { ann: samplesOf('ann'), cleo: samplesOf('cleo') }
  let key: string | undefined
  beforeAll(async () => {
    harness = await startHarness()
    for (const handle of ['ann', 'cleo'] as const) {
      await harness.createAgent(handle)
      await harness.deliver({ from: 'writer@example.com', to: `${handle}@agents.localhost`, subject: 'Template', text: 'template' })
      const { id } = await harness.waitForMail(handle, 'Template')
      // Copies of the message, with arrival times one after another.
      await harness.db.query({
        text: `INSERT INTO messages (id, organization_id, mailbox_id, thread_id, direction, status, from_address, from_name, to_addresses, cc_addresses, subject,
            snippet, text, html, extracted_text, headers, is_read, labels, tags, metadata, guardrail, size_bytes, attachment_count, raw_id, created_at, updated_at, search)
          SELECT made.id, m.organization_id, m.mailbox_id, m.thread_id, 'inbound', made.status, made.address, made.name, made."to", made.cc, made.subject,
            '', '', '', '', m.headers, made.is_read, made.labels, made.tags, made.metadata, m.guardrail, 100, 0, m.raw_id, at, at, made.search::tsvector
          FROM jsonb_to_recordset($2::jsonb) AS made (id text, at timestamptz, address text, name text, "to" text[], cc text[], subject text, labels text[], tags text[], metadata jsonb,
            is_read boolean, status text, search text) JOIN messages m ON m.id = $1`,
        values: [id, JSON.stringify(samples[handle].map((sample) => ({ ...sample, search: searchOf(sample) })))],
      })
    }
  })
  afterAll(() => harness?.stop())

  const expected = (handle: Handle, is: (one: Samples[number]) => boolean, status = 'received'): string[] =>
    samples[handle]
      .filter((one) => one.status === status && is(one))
      .map(({ id }) => id)
      .toReversed()

  test.each(cases)('%s gives every match once, newest first, over all pages', async (query, is) => {
    for (const handle of ['ann', 'cleo'] as const) expect(await walk(harness, handle, query)).toEqual(expected(handle, is))
  })

  test.each(sharedCases)('%s gives the matches of every mailbox, also to a key of both agents', async (query, is) => {
    const all = [...expected('ann', is), ...expected('cleo', is)].toSorted().toReversed()
    expect(await walkAll(harness, query)).toEqual(all)
    key ??= (await harness.expectApi(201, 'POST', '/keys', { body: { name: 'Both', type: 'agent', agent_handles: ['ann', 'cleo'] } })).key
    expect(await walkAll(harness, query, key)).toEqual(all)
    expect(await walkAll(harness, `${query}&agent=cleo`)).toEqual(expected('cleo', is))
  })

  test.each(['ann', 'cleo'] as const)('recipients of %s match in any spelling, in to and cc', async (handle) => {
    for (const address of [
      `${handle}+tag@agents.localhost`,
      `${handle}+shop@agents.localhost`,
      'Copied@example.com',
      `${handle}@agents.localhost`,
      'gents.localhost',
    ]) {
      const [query, is] = to(address)
      expect([address, await walk(harness, handle, query)]).toEqual([address, expected(handle, is)])
    }
  })

  test('from combines with times and quarantine', async () => {
    const at = (n: number) => samples.ann[n]?.at as string
    const [query, isFrom] = from('tenth@often')
    const between = (one: Sample) => one.n > 900 && one.n < 1800 && isFrom(one)
    expect(await walk(harness, 'ann', `${query}&after=${at(900)}&before=${at(1800)}`)).toEqual(expected('ann', between))
    const [part, isPart] = from('writer252')
    expect(await walk(harness, 'ann', `${part}&status=quarantined`)).toEqual(expected('ann', isPart, 'quarantined'))
    expect(await walk(harness, 'ann', `${part}&status=bounced`)).toEqual([])
  })
})
