// drafts on the command line, against the real server.
import { writeFileSync } from 'node:fs'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Harness, startHarness } from '../../server/tests/harness/start.ts'
import { waitFor } from '../../server/tests/harness/wait.ts'
import { commandsOn, createCommandLine, type RunOptions } from './command-line.ts'

let harness: Harness
let agentKey: string
const line = createCommandLine()
beforeAll(async () => {
  harness = await startHarness()
  await harness.createAgent('sales')
  const environment = { CALLSIGN_URL: harness.baseUrl, CALLSIGN_API_KEY: harness.organizationKey }
  const changed = await line.run(['identities', 'update', 'sales', '--approval', 'required', '--json'], { environment })
  expect(JSON.parse(changed.out).draft_approval).toBe('required')
  agentKey = await harness.agentKey('sales')
})
afterAll(async () => {
  await harness.stop()
  line.remove()
})

const runWith = (key: string, args: string[], { input = '' }: RunOptions = {}) =>
  line.run(['drafts', ...args], { input, environment: { CALLSIGN_URL: harness.baseUrl, CALLSIGN_API_KEY: key } })
const run = (args: string[], options?: RunOptions) => runWith(harness.organizationKey, args, options)
const json = async (args: string[], options?: RunOptions) => {
  const ran = await run([...args, '--json'], options)
  expect(ran).toMatchObject({ code: 0, error: '' })
  return JSON.parse(ran.out)
}

test('an agent writes, and a person views and sends exactly the shown version', async () => {
  const written = await runWith(agentKey, ['create', 'sales', '--to', 'x@example.com', '--subject', 'Offer', '--text-file', '-'], {
    input: 'First words\n',
  })
  expect(written).toMatchObject({
    code: 0,
    out: expect.stringMatching(/^drf_\w+ is a draft at version 1, and waits for the approval of a person\.\n$/),
  })
  const id = written.out.split(' ')[0] as string
  expect(await runWith(agentKey, ['send', 'sales', id])).toMatchObject({ code: 3, error: expect.stringContaining('approval') })
  const at = new Date(Date.now() + 3_600_000).toISOString()
  expect(await runWith(agentKey, ['edit', 'sales', id, '--at', at])).toMatchObject({ code: 3 })

  const looked = await run(['show', 'sales', id])
  expect(looked.out).toMatch(/^Version: 1\nTo: x@example.com\nSubject: Offer\nApproval: requested, until [^\n]+Z\n\nFirst words\n$/)
  expect(looked.error).toBe(`To send exactly this version, run callsign drafts send sales ${id} --version 1\n`)
  expect((await runWith(agentKey, ['edit', 'sales', id, '--text', 'Other words', '--version', '1'])).out).toBe(`${id} is at version 2.\n`)
  expect(await run(['send', 'sales', id, '--version', '1'])).toMatchObject({ code: 5, error: expect.stringContaining('version 2') })

  const sent = await json(['send', 'sales', id, '--version', '2', '--idempotency-key', 'approved'])
  expect(await json(['send', 'sales', id, '--version', '2', '--idempotency-key', 'approved'])).toEqual(sent)
  expect(await harness.getMessage('sales', sent.id)).toMatchObject({ subject: 'Offer', text: 'Other words', to: ['x@example.com'] })
  expect(await run(['send', 'sales', id])).toMatchObject({ code: 5 })
  expect(await run(['show', 'sales', id])).toMatchObject({ code: 4 })
})

test('a draft is shown in full with HTML, BCC recipients, headers and files, and no value can imitate a field', async () => {
  const content = Buffer.from('a').toString('base64')
  const { id } = await harness.expectApi(201, 'POST', '/mailboxes/sales/drafts', {
    body: {
      to: 'x@example.com',
      bcc: ['hidden@example.com'],
      text: 'Harmless',
      html: '<p>Something else\u001b[2J</p>',
      headers: { 'X-Campaign': 'spring' },
      attachments: [{ filename: 'price list.txt', content_type: 'text/plain', content }],
    },
  })
  const { out } = await run(['show', 'sales', id])
  expect(out).toContain('Bcc: hidden@example.com\n')
  expect(out).toContain('Header X-Campaign: spring\n')
  expect(out).toContain('Attachment: price list.txt (text/plain, 1 bytes)\n')
  expect(out).toContain('As HTML:\n\n<p>Something else\ufffd[2J</p>\n')
  await json(['rm', 'sales', id])
})

test('fields are changed and cleared, a time is set and taken back, and drafts are listed and deleted', async () => {
  writeFileSync(line.file('text.txt'), 'From a file\n')
  writeFileSync(line.file('page.html'), '<p>Page</p>\n')
  const at = new Date(Date.now() + 3_600_000).toISOString()
  const files = ['--text-file', line.file('text.txt'), '--html-file', line.file('page.html')]
  const draft = await json([
    'create',
    'sales',
    '--to',
    'a@example.com',
    '--to',
    'b@example.com',
    '--cc',
    'c@example.com',
    ...files,
    '--at',
    at,
  ])
  expect(draft).toMatchObject({
    to: ['a@example.com', 'b@example.com'],
    cc: ['c@example.com'],
    text: 'From a file',
    html: '<p>Page</p>',
    send_at: at,
  })
  expect(await runWith(agentKey, ['edit', 'sales', draft.id, '--text', 'Not reviewed'])).toMatchObject({ code: 3 })
  expect((await run(['edit', 'sales', draft.id, '--subject', 'Later'])).out).toBe(`${draft.id} is at version 2, to be sent at ${at}.\n`)
  expect(
    await json(['edit', 'sales', draft.id, '--clear', 'at', '--clear', 'cc', '--clear', 'html', '--to', 'd@example.com']),
  ).toMatchObject({
    version: 3,
    to: ['d@example.com'],
    cc: [],
    subject: 'Later',
    text: 'From a file',
    html: null,
    send_at: null,
  })
  const newer = await json(['create', 'sales', '--subject', 'Empty'])
  const listed = await run(['list', 'sales', '--limit', '1'])
  expect(listed.out).toMatch(new RegExp(`${newer.id} +1 .*Empty`))
  expect(listed.error).toBe('More: --offset 1\n')
  expect((await json(['list', 'sales', '--offset', '1'])).drafts.map((one: { id: string }) => one.id)).toEqual([draft.id])
  await harness.createAgent('support')
  const other = await json(['create', 'support', '--subject', 'Of support'])
  const listAll = async (...args: string[]) => (await json(['list', '--all', ...args])).data.map((one: { id: string }) => one.id)
  expect(await listAll('--agent', 'support')).toEqual([other.id])
  expect(await listAll('--limit', '2')).toEqual([other.id, newer.id])
  expect(await run(['send', 'sales', newer.id])).toMatchObject({ code: 2, error: expect.stringContaining('recipient') })
  expect((await run(['rm', 'sales', newer.id])).out).toBe(`${newer.id} is deleted.\n`)
  expect(await run(['rm', 'sales', newer.id])).toMatchObject({ code: 4 })
})

test('an answer and a forward take omitted fields from their message', async () => {
  await harness.deliver({ from: 'eve@example.com', to: 'sales@agents.localhost', subject: 'Question', text: 'How much?' })
  const { id } = await harness.waitForMail('sales', 'Question')
  const answer = await json(['create', 'sales', '--in-reply-to', id, '--text', 'Nothing'])
  expect(answer).toMatchObject({ to: ['eve@example.com'], subject: 'Re: Question', in_reply_to_message_id: id })
  const forward = await json(['create', 'sales', '--forward', id, '--to', 'x@example.com'])
  expect(forward).toMatchObject({ forward_of_message_id: id })
  expect((await run(['show', 'sales', forward.id])).out).toContain(`Forwards: ${id}, with its attachments\n`)
})

test('a draft and a message are found by their ids among several mailboxes, without a failed request', async () => {
  const own = await harness.createOrganization('Lookups')
  const handles = ['lookup_a', 'lookup_b', 'lookup_c']
  for (const handle of handles) await harness.createAgent(handle, {}, own.key)
  const command = commandsOn(line, () => ({ baseUrl: harness.baseUrl, organizationKey: own.key }))
  const draft = await command.json('drafts', 'create', 'lookup_a', '--to', 'lookup_b@agents.localhost', '--text', 'Hello')
  expect((await command.run('drafts', 'edit', draft.id, '--subject', 'Found')).out).toBe(`${draft.id} is at version 2.\n`)
  const sent = await command.json('drafts', 'send', draft.id)
  expect((await command.run('mail', 'mark', sent.id, '--star')).out).toContain(`${sent.id} is `)
  const logged = async (...filter: string[]) => (await command.json('requests', 'list', ...filter)).data
  await waitFor('the last request in the log', async () => (await logged('--method', 'PATCH')).length === 2)
  expect(await logged('--status', '4xx')).toEqual([])
  expect(await command.run('drafts', 'versions', draft.id)).toMatchObject({ code: 4, error: expect.stringContaining(draft.id) })
})

test.each([
  [['create', 'sales', '--to', 'nobody']],
  [['create', 'sales', '--at', 'tomorrow']],
  [['create', 'sales', '--at', '2020-01-01T00:00:00Z']],
  [['create', 'sales', '--all']],
  [['list', 'sales', '--all']],
  [['list', '--all', '--mailbox', 'sales']],
  [['list', '--all', '--offset', '1']],
  [['list', 'sales', '--cursor', 'x']],
  [['edit', 'sales', 'drf_0']],
  [['edit', 'sales', 'drf_0', '--clear', 'toString']],
  [['edit', 'sales', 'drf_0', '--clear', 'text', '--text', 'a']],
  [['edit', 'sales', 'drf_0', '--subject', 'a', '--version', 'x']],
  [['send']],
  [['send', 'sales', 'drf_0', 'drf_1']],
])('%j is a mistake in its use', async (args) => {
  expect((await run(args)).code).toBe(2)
})
