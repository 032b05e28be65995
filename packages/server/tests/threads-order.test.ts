// Threads do not depend on the order in which their messages arrive: every order is filed at the first try, one after another and all at once.
import { createTransport } from 'nodemailer'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Harness, type Json, startHarness } from './harness/start.ts'

let harness: Harness
let transport: ReturnType<typeof createTransport>
beforeAll(async () => {
  // More messages go to one correspondent than the loop guard lets pass.
  harness = await startHarness({ CALLSIGN_AGENT_LOOP_SECONDS: '0' })
  transport = createTransport({
    host: '127.0.0.1',
    port: harness.smtpPort,
    pool: true,
    maxConnections: 6,
    maxMessages: Number.POSITIVE_INFINITY,
    tls: { rejectUnauthorized: false },
  } as never)
})
afterAll(async () => {
  transport.close()
  await harness.stop()
})

type Mail = { id: string; inReplyTo?: string; references: string[] }

/** Resolves with the reply to DATA: 250, or the code of a refusal. */
async function deliver(handle: string, { id, inReplyTo, references }: Mail): Promise<number> {
  const fields = [
    'From: ann@example.org',
    `To: ${handle}@agents.localhost`,
    `Subject: ${id}`,
    `Message-ID: <${id}@example.org>`,
    ...(inReplyTo ? [`In-Reply-To: <${inReplyTo}@example.org>`] : []),
    ...(references.length > 0 ? [`References: ${references.map((one) => `<${one}@example.org>`).join(' ')}`] : []),
  ]
  const envelope = { from: 'ann@example.org', to: [`${handle}@agents.localhost`] }
  return transport.sendMail({ envelope, raw: `${fields.join('\r\n')}\r\n\r\n${id}\r\n` }).then(
    () => 250,
    (error: { responseCode?: number }) => error.responseCode ?? 0,
  )
}

/** The expected threads: connected components of the references, as sorted lists of ids. */
function expectedThreads(mails: Mail[]): string[][] {
  const parents = new Map<string, string>()
  const find = (id: string): string => {
    const parent = parents.get(id)
    return parent === undefined ? id : find(parent)
  }
  for (const { id, inReplyTo, references } of mails)
    for (const other of [...references, ...(inReplyTo ? [inReplyTo] : [])]) if (find(other) !== find(id)) parents.set(find(other), find(id))
  return sorted(
    Map.groupBy(mails, ({ id }) => find(id)),
    ({ id }) => id,
  )
}

const sorted = <T>(groups: Map<string, T[]>, name: (one: T) => string): string[][] =>
  [...groups.values()].map((group) => group.map(name).sort()).sort((a, b) => (String(a) < String(b) ? -1 : 1))

async function foundThreads(handle: string): Promise<string[][]> {
  const { data } = await harness.expectApi(200, 'GET', `/mailboxes/${handle}/messages?limit=100`)
  const threads = await harness.expectApi(200, 'GET', `/mailboxes/${handle}/threads?limit=100`)
  const groups = Map.groupBy(data as Json[], (message) => message.thread_id as string)
  expect(new Map(threads.data.map((thread: Json) => [thread.id, thread.message_count]))).toEqual(
    new Map([...groups].map(([id, messages]) => [id, messages.length])),
  )
  for (const thread of threads.data) expect(thread.last_message_at).toBe(groups.get(thread.id)?.[0]?.created_at)
  return sorted(groups, (message: Json) => message.subject)
}

let seed = 20261122
function random(below: number): number {
  seed = (Math.imul(seed, 1664525) + 1013904223) >>> 0
  return Math.floor((seed / 2 ** 32) * below)
}

/** References to other messages of the set, to itself, and to some that never come. */
function randomMails(count: number): Mail[] {
  const ids = Array.from({ length: count }, (_, index) => `m${index}`)
  const pick = () => [...ids, 'gone1', 'gone2'][random(count + 2)] as string
  return ids.map((id) => ({
    id,
    ...(random(3) > 0 && { inReplyTo: pick() }),
    references: Array.from({ length: [0, 0, 1, 1, 2, 3][random(6)] as number }, pick),
  }))
}

function permutations<T>(list: T[]): T[][] {
  if (list.length < 2) return [list]
  return list.flatMap((one, index) => permutations(list.toSpliced(index, 1)).map((rest) => [one, ...rest]))
}

let agents = 0
async function newAgent(): Promise<string> {
  const handle = `order_${++agents}`
  await harness.createAgent(handle)
  return handle
}

const reported: Mail[] = [
  { id: 'a', references: ['root'] },
  { id: 'c', inReplyTo: 'b', references: [] },
  { id: 'b', references: ['root'] },
]
/** Two conversations and the message that shows them to be one. */
const bridge: Mail[] = [
  { id: 'x1', references: [] },
  { id: 'x2', inReplyTo: 'x1', references: ['x1'] },
  { id: 'y1', references: [] },
  { id: 'y2', inReplyTo: 'y1', references: ['y1'] },
  { id: 'z', inReplyTo: 'x2', references: ['y2', 'x2'] },
]

test('every order of the same messages makes the same threads, and each message is taken at the first try', async () => {
  const sets = [reported, bridge, ...Array.from({ length: 12 }, () => randomMails(4))]
  let orders = 0
  for (const mails of sets) {
    const expected = expectedThreads(mails)
    for (const order of permutations(mails).filter((_, index) => index % 4 === 0 || mails === reported)) {
      const handle = await newAgent()
      for (const mail of order) expect([await deliver(handle, mail), order]).toEqual([250, order])
      expect([await foundThreads(handle), order]).toEqual([expected, order])
      orders++
    }
  }
  expect(orders).toBe(6 + 30 + 12 * 6)
})

test('messages that arrive all at once make the same threads, at the first try', async () => {
  for (let round = 0; round < 60; round++) {
    const mails = round % 3 === 0 ? [...bridge, ...reported] : randomMails(6 + random(7))
    const handle = await newAgent()
    const codes = await Promise.all(mails.map((mail) => deliver(handle, mail)))
    expect([codes.filter((code) => code !== 250), mails]).toEqual([[], mails])
    expect([await foundThreads(handle), mails]).toEqual([expectedThreads(mails), mails])
  }
})

test('the id of a thread that has become part of another one still leads to it: reads, filters, waits, drafts and sends', async () => {
  const handle = await newAgent()
  const [x1, x2, y1, , z] = bridge as [Mail, Mail, Mail, Mail, Mail]
  for (const mail of [x1, x2, y1]) await deliver(handle, mail)
  const path = `/mailboxes/${handle}`
  const { data: before } = await harness.expectApi(200, 'GET', `${path}/messages`)
  const [small, large] = [before.find((one: Json) => one.subject === 'y1'), before.find((one: Json) => one.subject === 'x1')]
  const draft = await harness.expectApi(201, 'POST', `${path}/drafts`, { body: { in_reply_to: small.id, text: 'Draft' } })
  await deliver(handle, { ...z, references: ['x2', 'y1'] })

  const thread = await harness.expectApi(200, 'GET', `${path}/threads/${small.thread_id}`)
  expect([thread.id, thread.message_count, thread.subject]).toEqual([large.thread_id, 4, 'x1'])
  expect(thread.messages).toHaveLength(4)
  expect((await harness.expectApi(200, 'GET', `/mail/messages?thread_id=${small.thread_id}`)).total).toBe(4)
  expect((await harness.expectApi(200, 'GET', `${path}/messages?thread_id=${small.thread_id}`)).data).toHaveLength(4)
  const waited = await harness.expectApi(
    200,
    'GET',
    `${path}/wait?thread_id=${small.thread_id}&subject=z&after=2000-01-01T00:00:00Z&timeout=1`,
  )
  expect(waited.message.subject).toBe('z')
  expect((await harness.expectApi(200, 'GET', `${path}/drafts/${draft.id}`)).thread_id).toBe(large.thread_id)
  expect((await harness.expectApi(201, 'POST', `${path}/drafts/${draft.id}/send`)).thread_id).toBe(large.thread_id)
  const sent = await harness.send(handle, 'ann@example.org', { thread_id: small.thread_id })
  expect(sent.thread_id).toBe(large.thread_id)
  for (const one of (await harness.expectApi(200, 'GET', `${path}/messages?limit=100`)).data)
    await harness.expectApi(200, 'DELETE', `${path}/messages/${one.id}`)
  expect(
    (
      await harness.db.query({
        text: 'SELECT 1 FROM threads t JOIN mailboxes b ON b.id = t.mailbox_id WHERE b.address = $1',
        values: [`${handle}@agents.localhost`],
      })
    ).rows,
  ).toEqual([])
})

test('sends into two threads while they become one are all filed, none twice', async () => {
  const handle = await newAgent()
  const [x1, x2, y1, y2, z] = bridge as [Mail, Mail, Mail, Mail, Mail]
  for (const mail of [x1, x2, y1, y2]) await deliver(handle, mail)
  const { data } = await harness.expectApi(200, 'GET', `/mailboxes/${handle}/messages`)
  const threads = [...new Set(data.map((one: Json) => one.thread_id))] as string[]
  expect(threads).toHaveLength(2)
  const sends = Array.from({ length: 40 }, (_, index) => harness.send(handle, 'ann@example.org', { thread_id: threads[index % 2] }))
  const [code] = await Promise.all([deliver(handle, z), ...sends])
  expect(code).toBe(250)
  const { data: after } = await harness.expectApi(200, 'GET', `/mailboxes/${handle}/threads`)
  expect(after.map((thread: Json) => thread.message_count)).toEqual([45])
})

test('conversations that are too large to be moved stay apart, and the message that connects them is filed', async () => {
  const handle = await newAgent()
  const [x1, x2, y1, y2, z] = bridge as [Mail, Mail, Mail, Mail, Mail]
  for (const mail of [x1, x2, y1, y2]) await deliver(handle, mail)
  await harness.db.query({
    text: 'UPDATE threads SET message_count = 100000 WHERE mailbox_id = (SELECT id FROM mailboxes WHERE address = $1)',
    values: [`${handle}@agents.localhost`],
  })
  for (const mail of [z, { id: 'y3', inReplyTo: 'y2', references: ['y2', 'z'] }, { id: 'x3', inReplyTo: 'x2', references: [] }])
    expect(await deliver(handle, mail)).toBe(250)
  const { data } = await harness.expectApi(200, 'GET', `/mailboxes/${handle}/messages`)
  const threadOf = (subject: string) => data.find((one: Json) => one.subject === subject).thread_id
  expect(threadOf('x1')).not.toBe(threadOf('y1'))
  expect([threadOf('x1'), threadOf('y1')]).toContain(threadOf('z'))
  expect(threadOf('x3')).toBe(threadOf('x1'))
})
