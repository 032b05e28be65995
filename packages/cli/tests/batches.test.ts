// Batches, states of threads, labels, the trash, shared messages and templates, against the real server.
import { writeFileSync } from 'node:fs'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Harness, startHarness } from '../../server/tests/harness/start.ts'
import { commandsOn, createCommandLine } from './command-line.ts'

let harness: Harness
const line = createCommandLine()
beforeAll(async () => {
  harness = await startHarness()
  for (const handle of ['sales', 'support']) await harness.createAgent(handle)
})
afterAll(async () => {
  await harness.stop()
  line.remove()
})

const { run, json } = commandsOn(line, () => harness)

const unknownId = 'msg_01h455vb4pex5vsknk084sn02q'
const message = (subject: string, to = 'support@agents.localhost') => ({ agent: 'sales', to: [to], subject, text: 'x' })
function writeBatch(messages: unknown): string {
  const file = line.file('batch.json')
  writeFileSync(file, typeof messages === 'string' ? messages : JSON.stringify(messages))
  return file
}

test('a strict batch sends all or none, a permissive one reports what it refused', async () => {
  const good = writeBatch([message('One'), message('Two')])
  expect((await run('mail', 'send-batch', good)).out).toMatch(/^INDEX +STATUS +ID +ERROR *\n0 +\w+ +msg_\w+ *\n1 +\w+ +msg_\w+ *\n$/)
  for (const subject of ['One', 'Two']) await harness.waitForMail('support', subject)
  const mixed = writeBatch([message('Three'), message('Four', 'no address')])
  expect((await run('mail', 'send-batch', mixed)).code).not.toBe(0)
  const sent = await run('mail', 'send-batch', mixed, '--permissive', '--json')
  expect(sent.code).toBe(1)
  expect(JSON.parse(sent.out)).toMatchObject({ refused: 1, data: [{ index: 0 }, { index: 1, error: { message: expect.any(String) } }] })
  await harness.waitForMail('support', 'Three')
  expect((await json('mail', 'list', '--agent', 'support', '--subject', 'Three')).data).toHaveLength(1)
  for (const broken of ['{}', '['])
    expect(await run('mail', 'send-batch', writeBatch(broken))).toMatchObject({ code: 2, error: expect.stringContaining('JSON array') })
})

test('several messages are read and changed by one command', async () => {
  const [one, two] = [await harness.waitForMail('support', 'One'), await harness.waitForMail('support', 'Two')]
  const ids = ['--id', one.id, '--id', two.id, '--id', unknownId]
  expect(await run('mail', 'update', '--id', one.id)).toMatchObject({ code: 2, error: expect.stringContaining('Nothing to change') })
  expect(await run('mail', 'get')).toMatchObject({ code: 2, error: expect.stringContaining('--id is required') })
  const changed = await run('mail', 'update', ...ids, '--read', '--star', '--add', 'invoice', '--tag', 'kind:order')
  expect(changed.out).toBe(`Changed 2 messages. Not found: ${unknownId}.\n`)
  const found = await run('mail', 'get', ...ids)
  expect(found.error).toBe(`Not found: ${unknownId}\n`)
  expect(found.out).toMatch(/One \[invoice\][\s\S]*Two \[invoice\]/)
  const got = (await json('mail', 'get', '--id', two.id)).data[0]
  expect(got).toMatchObject({ is_read: true, is_starred: true, labels: ['invoice'], tags: [{ name: 'kind', value: 'order' }] })
})

test('a thread is moved, labelled, deleted and restored', async () => {
  const { thread_id: id } = await harness.waitForMail('support', 'One')
  expect((await run('threads', 'update', id, '--folder', 'archive', '--unread', '--add', 'vip')).out).toBe(
    `${id} is in archive with 1 unread and the labels vip.\n`,
  )
  expect(await run('threads', 'update', id)).toMatchObject({ code: 2, error: expect.stringContaining('Nothing to change') })
  const listed = async (...filter: string[]) =>
    (await json('threads', 'list', 'support', ...filter)).data.map((one: { id: string }) => one.id)
  expect(await listed('--folder', 'archive')).toEqual([id])
  expect(await listed('--label', 'vip')).toEqual([id])
  expect((await run('threads', 'delete', id)).out).toContain(`callsign threads restore ${id}`)
  expect(await listed('--folder', 'trash')).toEqual([id])
  expect((await run('threads', 'restore', id)).out).toContain(`${id} is in archive`)
  expect((await run('threads', 'delete', id, '--permanent')).out).toBe(`${id} is deleted.\n`)
  expect((await run('threads', 'restore', id)).code).toBe(4)
})

test('a message goes into the trash and out of it, and is shared by a link', async () => {
  const { id } = await harness.waitForMail('support', 'Two')
  expect((await run('mail', 'trash', id)).out).toBe(`${id} is in the trash. Take it out with callsign mail restore ${id}.\n`)
  expect((await json('mail', 'list', '--agent', 'support', '--folder', 'trash')).messages).toMatchObject([{ id }])
  expect((await run('mail', 'restore', id)).out).toBe(`${id} is out of the trash.\n`)
  const shared = await run('mail', 'share', id, '--expires-in', '3600')
  const page = await fetch(shared.out.trim())
  expect([page.status, await page.text()]).toEqual([200, expect.stringContaining('Two')])
})

test('labels are defined, renamed and deleted', async () => {
  const label = await json('labels', 'create', 'paid', '--color', '#E93D82', '--agent', 'support')
  expect((await run('labels', 'list', '--agent', 'support')).out).toMatch(new RegExp(`${label.id} +paid +#e93d82`, 'i'))
  const { id } = await harness.waitForMail('support', 'Two')
  await json('mail', 'label', id, '--add', 'paid')
  expect((await run('labels', 'update', label.id, '--name', 'settled', '--agent', 'support')).out).toContain(`${label.id} settled `)
  expect((await json('mail', 'label', id)).labels).toContain('settled')
  expect((await run('labels', 'delete', label.id, '--agent', 'support')).out).toBe(`${label.id} is deleted.\n`)
  expect((await json('mail', 'label', id)).labels).not.toContain('settled')
})

test('a template is created, published, rendered, changed and deleted', async () => {
  const create = ['templates', 'create', 'Order shipped', '--alias', 'shipped', '--subject', 'Order {{{ID}}}', '--text', 'On {{{DAY}}}.']
  const created = await run(...create, '--fallback', 'ID=0', '--fallback', 'DAY=soon')
  expect(created).toMatchObject({ code: 0, error: 'To use it, run callsign templates publish shipped\n' })
  expect(await run('templates', 'render', 'shipped', '--set', 'ID')).toMatchObject({ code: 2 })
  expect((await run('templates', 'publish', 'shipped')).out).toBe('Order shipped is published.\n')
  const rendered = () => run('templates', 'render', 'shipped', '--set', 'ID=7')
  expect((await rendered()).out).toBe('Subject: Order 7\n\nOn soon.\n')
  expect((await run('templates', 'edit', 'shipped', '--text', 'Tomorrow.')).out).toMatch(
    /status +published, changed since\n[\s\S]*Tomorrow\./,
  )
  expect((await rendered()).out).toContain('On soon.')
  expect((await run('templates', 'list')).out).toMatch(/shipped +published, changed since .*Order shipped/)
  expect((await run('templates', 'rm', 'shipped')).out).toBe('shipped is deleted.\n')
  expect((await run('templates', 'show', 'shipped')).code).toBe(4)
})
