// Lists of an organization with 10 thousand rows each, alternating with one of 1 million. The goal is a ratio below 1.5.
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import pg from 'pg'
import { ask, type CallsignServer, makeDirectory, startCallsign } from './harness/callsign-server.ts'
import { report } from './harness/goals.ts'
import { arrivalMs, idOf } from './harness/large-mailbox.ts'
import { addRows, findOwner } from './harness/many-rows.ts'
import { median, printHead, printTable, withSpread } from './harness/table.ts'

const { values } = parseArgs({
  options: {
    sizes: { type: 'string', default: '10000,1000000' },
    rounds: { type: 'string', default: '5' },
    requests: { type: 'string', default: '20' },
  },
  allowPositionals: true,
  strict: false,
})
const sizes = String(values.sizes).split(',').map(Number)
const [rounds, requests] = [Number(values.rounds), Number(values.requests)]
const handle = 'sales'
const pageLimit = 20

type Paths = { webhookId: string; domainId: string; keyId: string; middle: (prefix: string) => string }

/** Paths by name. Each answers at most 20 items, which the small size has too. */
const listsOf = ({ webhookId, domainId, keyId, middle }: Paths): Record<string, string> => ({
  'threads of the rare folder': '/threads?folder=inbox',
  'threads of the frequent folder': '/threads?folder=archive',
  'threads, a middle page': `/threads?cursor=${middle('msg')}`,
  'threads of a rare label': '/threads?label=rare',
  'threads of a frequent label': '/threads?label=frequent',
  'threads without such a label': '/threads?label=unheard',
  'threads of rare metadata': '/threads?metadata=kind:rare',
  'threads of a participant': '/threads?participant=writer@example.com',
  'threads of an unknown participant': '/threads?participant=unknown@example.com',
  'unread threads': '/threads?is_unread=true',
  'threads of a part of the subject': '/threads?subject=unheard',
  'threads found by an unknown word': '/threads?q=unheard',
  'threads of one mailbox': `/mailboxes/${handle}/threads?`,
  'threads of a rare label in one mailbox': `/mailboxes/${handle}/threads?label=rare`,
  'messages of a rare tag': '/mail/messages?tag=kind:rare',
  'messages of a frequent tag': '/mail/messages?tag=kind:frequent',
  'messages of a frequent tag, a middle page': `/mail/messages?tag=kind:frequent&cursor=${middle('msg')}`,
  'messages without such a tag': '/mail/messages?tag=kind:unheard',
  'messages of rare metadata': '/mail/messages?metadata=kind:rare',
  'one message by its metadata': '/mail/messages?metadata=order:3',
  'messages of the rare folder': '/mail/messages?folder=inbox',
  'messages of the frequent folder': '/mail/messages?folder=archive',
  'messages in the trash': '/mail/messages?folder=trash',
  'messages, a middle page': `/mail/messages?cursor=${middle('msg')}`,
  'messages of a rare tag in one mailbox': `/mailboxes/${handle}/messages?tag=kind:rare`,
  'messages of a rare label in one mailbox': `/mailboxes/${handle}/messages?label=rare`,
  'quarantined messages': `/mailboxes/${handle}/messages?status=quarantined`,
  drafts: '/drafts?',
  'drafts, a middle page': `/drafts?cursor=${middle('drf')}`,
  'drafts of one mailbox': `/mailboxes/${handle}/drafts?`,
  'drafts of one agent': `/drafts?agent=${handle}`,
  approvals: '/approvals?',
  'approvals, a middle page': `/approvals?cursor=${middle('apr')}`,
  'approvals of one agent': `/approvals?agent=${handle}`,
  requests: '/requests?',
  'requests, a middle page': `/requests?cursor=${middle('req')}`,
  'failed requests': '/requests?status_class=5xx',
  'requests of a rare path': '/requests?path=/api/v1/webhooks',
  'requests of a rare method': '/requests?method=POST',
  'requests of one key': `/requests?key_id=${keyId}`,
  'usage by day': '/usage?',
  'usage of the newest day by agent': '/usage?by=agent',
  'usage of the newest day by domain': '/usage?by=domain',
  'usage of one domain': '/usage?domain=d1.example.com',
  'audit log': '/audit?',
  'audit log, a middle page': `/audit?cursor=${middle('aud')}`,
  suppressions: '/suppressions?',
  'suppressions, a middle page': `/suppressions?cursor=${middle('sup')}`,
  'suppressions of a rare source': '/suppressions?source=complaint',
  'one suppression by its address': '/suppressions?email_address=reader3@example.com',
  keys: '/keys?',
  'keys, a middle page': `/keys?cursor=${middle('key')}`,
  identities: '/identities?',
  'identities, a middle page': `/identities?cursor=${middle('ident')}`,
  'identities of rare metadata': '/identities?metadata=kind:rare',
  'identities of frequent metadata': '/identities?metadata=kind:frequent',
  'addresses of one identity': `/identities/${handle}/addresses?`,
  mailboxes: '/mailboxes?',
  tunnels: '/tunnels?',
  'stored bytes by agent': '/usage/storage?',
  'domain reports': `/domains/${domainId}/reports?`,
  'domain reports of the rare kind': `/domains/${domainId}/reports?kind=tls`,
  'webhook deliveries': `/webhooks/${webhookId}/deliveries?`,
  'webhook deliveries, a middle page': `/webhooks/${webhookId}/deliveries?cursor=${middle('dlv')}`,
  'failed webhook deliveries': `/webhooks/${webhookId}/deliveries?status=failed`,
  'webhook deliveries of an absent type': `/webhooks/${webhookId}/deliveries?event_type=email.bounced`,
  events: '/events?',
  'events, a middle page': `/events?cursor=${middle('evt')}`,
  'events of one agent': `/events?agent=${handle}&cursor=${middle('evt')}`,
  'newest events': '/events?order=desc',
  'events of an absent type': '/events?types=draft.rejected',
  'newest events of an absent type': '/events?types=draft.rejected&order=desc',
})

type Organization = { server: CallsignServer; lists: Record<string, string> }

/** Steps that end the servers, also when filling one fails. The latest goes first. */
const ends: (() => unknown)[] = []

/** A server with one identity, its first received message, a webhook that gets nothing, a domain, and `size` rows in each list. */
async function startWith(size: number): Promise<Organization> {
  const directory = makeDirectory()
  ends.push(directory.remove)
  // The log of requests would add rows to a list that is measured.
  const server = await startCallsign(directory.path, { settings: { CALLSIGN_REQUEST_LOG_DAYS: '0' } })
  ends.push(server.stop)
  const call = <T>(method: 'GET' | 'POST', path: string, body?: unknown) =>
    ask<T>(server, server.key as string, method, `/api/v1${path}`, body)
  await call('POST', '/identities', { agent_handle: handle })
  await call('POST', '/mail/send', { agent: handle, to: [`${handle}@agents.localhost`], subject: 'Letter', text: 'Letter' })
  for (let total = 0; total < 2; await new Promise((resolve) => setTimeout(resolve, 50)))
    total = (await call<{ total: number }>('GET', `/mail/messages?limit=1&agent=${handle}`)).total
  await call('POST', '/webhooks', { url: 'https://example.com/hook', events: ['imessage.received'], status: 'paused' })
  await call('POST', '/domains', { domain: 'letters.example' })
  const db = new pg.Client({ host: join(directory.path, 'postgres'), user: 'callsign', database: 'callsign' })
  await db.connect()
  ends.push(() => db.end())
  const owner = await findOwner(db)
  const originMs = Date.now() - arrivalMs(0, size)
  await addRows(db, owner, originMs, size)
  const middle = (prefix: string) => idOf(Math.floor(size / 2), originMs).replace('msg', prefix)
  return { server, lists: listsOf({ ...owner, middle }) }
}

/** Medians of each round by list, in turns. The first round warms the caches. */
async function measure(organizations: Organization[]): Promise<Map<string, number[]>[]> {
  const names = Object.keys(organizations[0]?.lists ?? {})
  const figures = organizations.map(() => new Map<string, number[]>(names.map((name) => [name, []])))
  for (let round = -1; round < rounds; round++)
    for (const name of names) {
      const times: number[][] = organizations.map(() => [])
      for (let i = 0; i < requests; i++)
        for (const [index, { server, lists }] of organizations.entries()) {
          const path = `${lists[name]}&limit=${pageLimit}`.replace('?&', '?')
          const beganMs = performance.now()
          await ask(server, server.key as string, 'GET', `/api/v1${path}`)
          times[index]?.push(performance.now() - beganMs)
        }
      if (round >= 0) for (const [index, one] of figures.entries()) one.get(name)?.push(median(times[index] as number[]))
    }
  return figures
}

try {
  const organizations: Organization[] = []
  for (const size of sizes) organizations.push(await startWith(size))
  const figures = await measure(organizations)
  // Of the fastest rounds, because other programs on the machine only add time.
  const fastest = (index: number, name: string) => Math.min(...(figures.at(index)?.get(name) ?? []))
  const ratioOf = (name: string) => fastest(-1, name) / fastest(0, name)
  const names = [...(figures[0] as Map<string, number[]>).keys()]
  printHead('Growth of lists', [
    `Organizations with ${sizes.join(' and ')} rows in each list, pages of ${pageLimit}, organization key, embedded PostgreSQL with the shipped settings.`,
    `One request after another, ${requests} of each kind a round, in turns; milliseconds, medians of ${rounds} rounds (min–max). Growth of the fastest rounds.`,
  ])
  report('list-growth', Math.max(...names.map(ratioOf)))
  printTable(
    ['list', ...sizes.map((size) => `${size} rows`), 'growth'],
    names.map((name) => [name, ...figures.map((one) => withSpread(one.get(name) as number[], 2)), ratioOf(name).toFixed(2)]),
  )
} finally {
  for (const end of ends.reverse()) await end()
}
