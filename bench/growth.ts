// Lists, reads and searches in a mailbox of 10 thousand messages, alternating with one of 1 million. The goal is a ratio below 1.5.
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import pg from 'pg'
import { ask, type CallsignServer, makeDirectory, startCallsign } from './harness/callsign-server.ts'
import { report } from './harness/goals.ts'
import { arrivalMs, fillMailbox, idOf, rare, unread, wordOf } from './harness/large-mailbox.ts'
import { messageText, receiver } from './harness/messages.ts'
import { readProcessorSeconds } from './harness/process-tree.ts'
import { median, printHead, printTable, withSpread } from './harness/table.ts'

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
/** Slower requests are sent less often. */
const roundMsMax = 4_000
const nowMs = Date.now()

type Page = { data: { id: string }[]; next_cursor: string | null }
type Mailbox = { handle: string; size: number; originMs: number }

/** Requests, as paths. If the small mailbox has fewer results, both pages have that size. */
async function questionsOf(server: CallsignServer, key: string, { handle, size, originMs }: Mailbox): Promise<Record<string, string[]>> {
  const mailbox = `/api/v1/mailboxes/${handle}`
  const at = (share: number) => idOf(Math.floor(size * share), originMs)
  const time = (share: number) => new Date(arrivalMs(originMs, size * share)).toISOString()
  const shares = Array.from({ length: requests }, (_, i) => (i + 0.5) / requests)
  const list = (query: string, limit = 50) => shares.map(() => `${mailbox}/messages?limit=${limit}${query}`)
  const search = (words: string, limit = 50) => shares.map(() => `${mailbox}/search?limit=${limit}&q=${encodeURIComponent(words)}`)
  const newest = await ask<Page>(server, key, 'GET', `${mailbox}/messages?limit=50`)
  if (newest.data.length !== 50) throw new Error('the mailbox is not filled')
  return {
    'list, newest 50': list(''),
    'list, a page anywhere': shares.map((share) => `${mailbox}/messages?limit=50&cursor=${at(share)}`),
    'list, all mail with its total': shares.map(() => `/api/v1/mail/messages?limit=50&agent=${handle}`),
    [`list, the ${unread} unread`]: list('&is_read=false'),
    [`list, the ${rare} starred`]: list('&is_starred=true'),
    [`list, the ${rare} outbound`]: list('&direction=outbound'),
    [`list, ${rare} of a label`]: list('&label=invoice'),
    'list, no such label': list('&label=unheard'),
    'list, before a time': shares.map((share) => `${mailbox}/messages?limit=50&before=${time(share)}`),
    'list, some minutes': shares.map((share) => `${mailbox}/messages?limit=50&after=${time(share)}&before=${time(share + 100 / size)}`),
    'list, from all': list('&from=example'),
    'list, 10 from one of 1000': list('&from=writer7%40example.com', 10),
    [`list, ${rare} from a sender`]: list('&from=rare%40seldom.example'),
    [`list, ${rare} from a part of a sender`]: list('&from=ldom.ex'),
    'list, from nobody': list('&from=nobody%40nowhere.example'),
    'list, to all': list(`&to=${handle}%40agents.localhost`),
    'list, to nobody': list('&to=nobody%40nowhere.example'),
    'list, subject of all': list('&subject=etter'),
    'list, subject of one': shares.map((share) => `${mailbox}/messages?limit=1&subject=etter%20${Math.floor(size * share)}`),
    'list, subject of none': list('&subject=unheard'),
    'threads, newest 50': shares.map(() => `${mailbox}/threads?limit=50`),
    get: shares.map((share) => `${mailbox}/messages/${at(share)}`),
    [`search, in ${rare} of all`]: search('quicksilver'),
    [`search, two words, ${rare} with both`]: search('amber falcon'),
    'search, 10 in one of 1000': search('marzipan', 10),
    'search, in one of 100': search('zeppelin'),
    'search, in one of 10': search('quarterly'),
    'search, in every one': search('letter'),
    'search, words of the ranks 30 and 300': search(`${wordOf(30)} ${wordOf(300)}`),
    'search, a phrase in one of 100': search('"zeppelin report"'),
    'search, nothing': search('nowhere'),
  }
}

/** Milliseconds per sequential request, the median of each round. Processor time in milliseconds covers all rounds. */
type Figures = { tookMs: number[]; processorMs: number; asked: number }

async function measure(server: CallsignServer, key: string, mailboxes: Mailbox[]): Promise<Map<string, Figures>[]> {
  const questions = await Promise.all(mailboxes.map((mailbox) => questionsOf(server, key, mailbox)))
  const names = Object.keys(questions[0] as object)
  const figures = mailboxes.map(() => new Map<string, Figures>(names.map((name) => [name, { tookMs: [], processorMs: 0, asked: 0 }])))
  const processorMs = () => {
    const { node, postgres } = readProcessorSeconds(server.pid)
    return (node + postgres) * 1000
  }
  for (let round = -1; round < rounds; round++) {
    for (const name of names) {
      for (const [index, own] of questions.entries()) {
        const times: number[] = []
        const beforeMs = processorMs()
        const roundBeganMs = performance.now()
        for (const path of own[name] as string[]) {
          if (performance.now() - roundBeganMs > roundMsMax) break
          const beganMs = performance.now()
          await ask(server, key, 'GET', path)
          times.push(performance.now() - beganMs)
        }
        // The first round warms the caches.
        if (round < 0) continue
        const sum = figures[index]?.get(name) as Figures
        sum.tookMs.push(median(times))
        sum.processorMs += processorMs() - beforeMs
        sum.asked += times.length
      }
    }
  }
  return figures
}

const directory = makeDirectory()
const server = await startCallsign(directory.path)
const db = new pg.Client({ host: join(directory.path, 'postgres'), user: 'callsign', database: 'callsign' })
try {
  const key = server.key as string
  await db.connect()
  const mailboxes: Mailbox[] = []
  for (const [index, size] of sizes.entries()) {
    const handle = `${receiver}_${index}`
    await ask(server, key, 'POST', '/api/v1/identities', { agent_handle: handle })
    const body = { agent: handle, to: [`${handle}@agents.localhost`], subject: 'Letter', text: messageText(1) }
    await ask(server, key, 'POST', '/api/v1/mail/send', body)
    for (let total = 0; total < 2; await new Promise((resolve) => setTimeout(resolve, 50)))
      total = (await ask<{ total: number }>(server, key, 'GET', `/api/v1/mail/messages?limit=1&agent=${handle}`)).total
    const originMs = nowMs - arrivalMs(0, size)
    await fillMailbox(db, `${handle}@agents.localhost`, originMs, size)
    mailboxes.push({ handle, size, originMs })
  }
  const figures = await measure(server, key, mailboxes)
  printHead('Growth of a mailbox', [
    `Mailboxes with ${sizes.join(' and ')} messages of 1.5 KB of text with words after Zipf, two a thread, side by side, organization key, embedded PostgreSQL with the shipped settings.`,
    `One request after another, ${requests} of each kind a round, in turns; milliseconds, medians of ${rounds} rounds (min–max), and processor time of Node and PostgreSQL.`,
  ])
  const costOf = ({ processorMs, asked }: Figures): number => processorMs / asked
  const growth = (values: number[]): string => ((values.at(-1) as number) / (values[0] as number)).toFixed(2)
  const growths = [...(figures[0] as Map<string, Figures>).keys()].map((name) => {
    const [first, last] = [figures[0], figures.at(-1)].map((one) => costOf(one?.get(name) as Figures)) as [number, number]
    return last / first
  })
  report('growth', Math.max(...growths))
  printTable(
    ['request', ...sizes.map((size) => `${size} messages`), 'growth', ...sizes.map(() => 'processor'), 'growth'],
    [...(figures[0] as Map<string, Figures>).keys()].map((name) => {
      const each = figures.map((one) => one.get(name) as Figures)
      return [
        name,
        ...each.map(({ tookMs }) => withSpread(tookMs, 2)),
        growth(each.map(({ tookMs }) => median(tookMs))),
        ...each.map((one) => costOf(one).toFixed(2)),
        growth(each.map(costOf)),
      ]
    }),
  )
} finally {
  await db.end()
  await server.stop()
  directory.remove()
}
