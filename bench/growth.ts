// List, get and search in one mailbox of 10 thousand messages and of 1 million. Aim: less than 1.5 times as long.
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import pg from 'pg'
import { ask, type CallsignServer, makeDirectory, startCallsign } from './stage/callsign-server.ts'
import { letterText, receiver } from './stage/letters.ts'
import { median, printHead, printTable, withSpread } from './stage/table.ts'

const { values } = parseArgs({
  options: {
    sizes: { type: 'string', default: '10000,1000000' },
    rounds: { type: 'string', default: '5' },
    requests: { type: 'string', default: '40' },
  },
  allowPositionals: true,
  strict: false,
})
const sizes = String(values.sizes).split(',').map(Number)
const rounds = Number(values.rounds)
const requests = Number(values.requests)

const vocabulary = 20_000
/** Words of a letter that depend on its number: some in every letter, some in one of ten or a hundred, some in as good as none. */
const wordsOf = `'letter number ' || n
  || CASE WHEN n % 10 = 3 THEN ' quarterly' ELSE '' END || CASE WHEN n % 100 = 7 THEN ' zeppelin report' ELSE '' END
  || CASE WHEN n % (total / 20) = 11 THEN ' quicksilver' ELSE '' END
  || ' word' || (n * 7919) % ${vocabulary} || ' word' || (n * 104729) % ${vocabulary} || ' word' || (n * 1299709) % ${vocabulary}`

/** Fills the mailbox to a size inside the database: the rows are those that mail makes, made in bulk. */
async function fill(db: pg.Client, from: number, to: number): Promise<void> {
  const { rows } = await db.query('SELECT organization_id, id FROM mailboxes WHERE address LIKE $1', [`${receiver}@%`])
  const { organization_id: organizationId, id: mailboxId } = rows[0]
  const template = (
    await db.query('SELECT raw_id, text FROM messages WHERE mailbox_id = $1 AND direction = $2 LIMIT 1', [mailboxId, 'inbound'])
  ).rows[0]
  // The index is made after the rows: filling it one by one would take an hour and say nothing about reading.
  const index = (await db.query(`SELECT indexdef FROM pg_indexes WHERE indexname = 'messages_search'`)).rows[0].indexdef
  await db.query('DROP INDEX messages_search')
  const step = 20_000
  for (let start = from; start < to; start += step) {
    const end = Math.min(start + step, to)
    const id = (prefix: string, number: string) => `'${prefix}_01' || lpad((${number})::text, 24, '0')`
    await db.query('BEGIN')
    await db.query(
      `INSERT INTO threads (id, organization_id, mailbox_id, subject, snippet, message_count, last_message_id, last_message_at, created_at)
       SELECT ${id('thrd', 'n')}, $1, $2, 'Letter ' || n, 'Hello', 2, ${id('msg', 'n + 1')}, now(), now() FROM generate_series($3::int, $4::int - 1, 2) n`,
      [organizationId, mailboxId, start, end],
    )
    await db.query(
      `INSERT INTO messages (id, organization_id, mailbox_id, thread_id, direction, status, from_address, subject, snippet, text, html, extracted_text,
         is_read, size_bytes, attachment_count, raw_id, created_at, updated_at, search)
       SELECT ${id('msg', 'n')}, $1, $2, ${id('thrd', 'n - n % 2')}, 'inbound', 'received', 'writer' || n % 1000 || '@example.com', 'Letter ' || n, words, words || $6, '', words,
         n % 20 <> 0, 2000, 0, $5, now() - ($7::bigint - n) * interval '1 second', now(), to_tsvector('simple', words || $6)
       FROM (SELECT n, ${wordsOf} AS words FROM generate_series($3::bigint, $4::bigint - 1) n, (SELECT $7::bigint AS total) AS t) AS made`,
      [organizationId, mailboxId, start, end, template.raw_id, ` ${template.text}`, to],
    )
    await db.query('COMMIT')
  }
  await db.query(
    'UPDATE message_counts SET count = count + $2 WHERE mailbox_id = $1 AND shard = (SELECT min(shard) FROM message_counts WHERE mailbox_id = $1)',
    [mailboxId, to - from],
  )
  await db.query(index)
  await db.query('VACUUM (ANALYZE) messages')
  await db.query('VACUUM (ANALYZE) threads')
  await db.query('CHECKPOINT')
}

type Page = { data: { id: string }[]; next_cursor: string | null }

/** What is asked, as paths; each is asked in turns with the others. */
async function questionsOf(server: CallsignServer, key: string, size: number): Promise<Record<string, string[]>> {
  const mailbox = `/api/v1/mailboxes/${receiver}`
  const at = (share: number) => `msg_01${String(Math.floor(size * share)).padStart(24, '0')}`
  const shares = Array.from({ length: requests }, (_, i) => (i + 0.5) / requests)
  const some = (path: string) => shares.map(() => path)
  const newest = await ask<Page>(server, key, 'GET', `${mailbox}/messages?limit=50`)
  if (newest.data.length !== 50) throw new Error('the mailbox is not filled')
  return {
    'list, newest 50': some(`${mailbox}/messages?limit=50`),
    'list, a page anywhere': shares.map((share) => `${mailbox}/messages?limit=50&cursor=${at(share)}`),
    'list, unread': some(`${mailbox}/messages?limit=50&is_read=false`),
    'list, all mail with its total': some('/api/v1/mail/messages?limit=50'),
    'threads, newest 50': some(`${mailbox}/threads?limit=50`),
    get: shares.map((share) => `${mailbox}/messages/${at(share)}`),
    'search, 20 hits': some(`${mailbox}/search?q=quicksilver`),
    'search, two words, few hits': shares.map(
      (_, i) => `${mailbox}/search?q=word${(i * 7919) % vocabulary}%20word${(i * 104729) % vocabulary}`,
    ),
    'search, in one of 100': some(`${mailbox}/search?q=zeppelin`),
    'search, in one of 10': some(`${mailbox}/search?q=quarterly`),
    'search, in every one': some(`${mailbox}/search?q=letter`),
    'search, a phrase in one of 100': some(`${mailbox}/search?q=%22zeppelin%20report%22`),
    'search, nothing': some(`${mailbox}/search?q=nowhere`),
  }
}

/** Milliseconds a request, one after another, medians of the rounds. */
async function measure(server: CallsignServer, key: string, size: number): Promise<Map<string, number[]>> {
  const questions = await questionsOf(server, key, size)
  const took = new Map<string, number[]>(Object.keys(questions).map((name) => [name, []]))
  for (let round = -1; round < rounds; round++) {
    for (const [name, paths] of Object.entries(questions)) {
      const times: number[] = []
      for (const path of paths) {
        const beganMs = performance.now()
        await ask(server, key, 'GET', path)
        times.push(performance.now() - beganMs)
      }
      // The first round warms the caches.
      if (round >= 0) took.get(name)?.push(median(times))
    }
  }
  return took
}

const directory = makeDirectory()
const server = await startCallsign(directory.path)
const db = new pg.Client({ host: join(directory.path, 'postgres'), user: 'callsign', database: 'callsign' })
try {
  const key = server.key as string
  await ask(server, key, 'POST', '/api/v1/identities', { agent_handle: receiver })
  const body = { agent: receiver, to: [`${receiver}@agents.localhost`], subject: 'Letter', text: letterText(1) }
  await ask(server, key, 'POST', '/api/v1/mail/send', body)
  for (let total = 0; total < 2; await new Promise((resolve) => setTimeout(resolve, 50)))
    total = (await ask<{ total: number }>(server, key, 'GET', '/api/v1/mail/messages?limit=1')).total
  await db.connect()
  const measured: Map<string, number[]>[] = []
  let filled = 0
  for (const size of sizes) {
    await fill(db, filled, size)
    filled = size
    measured.push(await measure(server, key, size))
  }
  printHead('Growth of one mailbox', [
    `One mailbox with ${sizes.join(', then ')} messages of 1.7 KB of text, two a thread, organization key, embedded PostgreSQL with the shipped settings.`,
    `One request after another, ${requests} of each kind a round; milliseconds, medians of ${rounds} rounds (min–max). The last column is the growth.`,
  ])
  const [first, last] = [measured[0] as Map<string, number[]>, measured.at(-1) as Map<string, number[]>]
  printTable(
    ['request', ...sizes.map((size) => `${size} messages`), 'growth'],
    [...first.keys()].map((name) => [
      name,
      ...measured.map((one) => withSpread(one.get(name) as number[], 2)),
      (median(last.get(name) as number[]) / median(first.get(name) as number[])).toFixed(2),
    ]),
  )
} finally {
  await db.end()
  await server.stop()
  directory.remove()
}
