// List, get and search in one mailbox of 10 thousand messages and of 1 million. Aim: less than 1.5 times as long.
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import pg from 'pg'
import { ask, type CallsignServer, makeDirectory, startCallsign } from './stage/callsign-server.ts'
import { arrivalMs, fillMailbox, idOf, rare, unread, wordOf } from './stage/large-mailbox.ts'
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
/** What takes longer is asked less often. */
const roundMsMax = 4_000
const originMs = Date.now() - arrivalMs(0, Math.max(...sizes))

type Page = { data: { id: string }[]; next_cursor: string | null }

/** What is asked, as paths; each is asked in turns with the others. */
async function questionsOf(server: CallsignServer, key: string, size: number): Promise<Record<string, string[]>> {
  const mailbox = `/api/v1/mailboxes/${receiver}`
  const at = (share: number) => idOf(Math.floor(size * share), originMs)
  const time = (share: number) => new Date(arrivalMs(originMs, size * share)).toISOString()
  const shares = Array.from({ length: requests }, (_, i) => (i + 0.5) / requests)
  const list = (query: string) => shares.map(() => `${mailbox}/messages?limit=50${query}`)
  const search = (words: string) => shares.map(() => `${mailbox}/search?q=${encodeURIComponent(words)}`)
  const newest = await ask<Page>(server, key, 'GET', `${mailbox}/messages?limit=50`)
  if (newest.data.length !== 50) throw new Error('the mailbox is not filled')
  return {
    'list, newest 50': list(''),
    'list, a page anywhere': shares.map((share) => `${mailbox}/messages?limit=50&cursor=${at(share)}`),
    'list, all mail with its total': shares.map(() => '/api/v1/mail/messages?limit=50'),
    [`list, the ${unread} unread`]: list('&is_read=false'),
    [`list, the ${rare} starred`]: list('&is_starred=true'),
    [`list, the ${rare} outbound`]: list('&direction=outbound'),
    [`list, ${rare} of a label`]: list('&label=invoice'),
    'list, before a time': shares.map((share) => `${mailbox}/messages?limit=50&before=${time(share)}`),
    'list, some minutes': shares.map((share) => `${mailbox}/messages?limit=50&after=${time(share)}&before=${time(share + 100 / size)}`),
    'list, from one of 1000': list('&from=writer7%40example.com'),
    [`list, ${rare} from a sender`]: list('&from=rare%40seldom.example'),
    'threads, newest 50': shares.map(() => `${mailbox}/threads?limit=50`),
    get: shares.map((share) => `${mailbox}/messages/${at(share)}`),
    [`search, in ${rare} of all`]: search('quicksilver'),
    [`search, two words, ${rare} with both`]: search('amber falcon'),
    'search, in one of 1000': search('marzipan'),
    'search, in one of 100': search('zeppelin'),
    'search, in one of 10': search('quarterly'),
    'search, in every one': search('letter'),
    'search, words of the ranks 30 and 300': search(`${wordOf(30)} ${wordOf(300)}`),
    'search, a phrase in one of 100': search('"zeppelin report"'),
    'search, nothing': search('nowhere'),
  }
}

/** Milliseconds a request, one after another, medians of the rounds. */
async function measure(server: CallsignServer, key: string, size: number): Promise<Map<string, number[]>> {
  const questions = await questionsOf(server, key, size)
  const took = new Map<string, number[]>(Object.keys(questions).map((name) => [name, []]))
  for (let round = -1; round < rounds; round++) {
    for (const [name, paths] of Object.entries(questions)) {
      const times: number[] = []
      const roundBeganMs = performance.now()
      for (const path of paths) {
        if (performance.now() - roundBeganMs > roundMsMax) break
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
    await fillMailbox(db, `${receiver}@agents.localhost`, originMs, filled, size)
    filled = size
    measured.push(await measure(server, key, size))
  }
  printHead('Growth of one mailbox', [
    `One mailbox with ${sizes.join(', then ')} messages of 1.5 KB of text with words after Zipf, two a thread, organization key, embedded PostgreSQL with the shipped settings.`,
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
