// First contact: the command as a process, against a server, as a person types it.
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Harness, startHarness } from '../../server/tests/harness/start.ts'
import { createCommandLine } from './command-line.ts'

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

const start = (args: string[], environment: Record<string, string> = {}) =>
  line.start(args, { environment: { CALLSIGN_URL: harness.baseUrl, CALLSIGN_API_KEY: harness.organizationKey, ...environment } })

/** The same in this process, for speed. */
const run = (args: string[], environment: Record<string, string> = {}) =>
  line.run(args, { environment: { CALLSIGN_URL: harness.baseUrl, CALLSIGN_API_KEY: harness.organizationKey, ...environment } })

/** A process that succeeds. */
async function done(...args: string[]) {
  const ran = await start(args)
  expect(ran).toMatchObject({ code: 0 })
  return ran
}

test('send, wait, read and reply without naming a mailbox twice', async () => {
  const sent = await done('mail', 'send', '--agent', 'sales', '--to', 'support@agents.localhost', '--subject', 'Order', '--text', 'Hi')
  expect(sent).toMatchObject({ out: expect.stringMatching(/^msg_\w+ is (?:queued|sent|delivered)\.\n$/), error: '' })
  // The message arrived before the wait began, and after the previous command began.
  const { out } = await done('mail', 'wait', 'support', '--timeout', '20')
  const [, id = ''] = /^(msg_\w+) from sales@agents\.localhost: Order\n$/.exec(out) ?? []
  expect(id).not.toBe('')
  expect((await done('mail', 'read', id)).out).toMatch(
    /^From: .*sales@agents\.localhost.*\nTo: support@agents\.localhost\n[\s\S]*\n\nHi\n$/,
  )
  expect((await done('mail', 'read', '--agent', 'support')).out).toContain('Subject: Order')
  expect((await done('mail', 'reply', id, '--text', 'Your code is 492816')).out).toMatch(/ is (?:queued|sent|delivered)\.\n$/)
  expect((await done('mail', 'wait', 'sales', '--code', '--timeout', '20')).out).toBe('492816\n')
  expect((await done('mail', 'reply', '--agent', 'sales', '--text', 'Thank you')).out).toMatch(/ is (?:queued|sent|delivered)\.\n$/)
  // A wait does not return a message twice.
  expect(await start(['mail', 'wait', 'sales', '--timeout', '0'])).toMatchObject({ code: 1, out: '' })
  expect((await done('mail', 'wait', 'sales', '--after', '10m', '--code', '--timeout', '20')).out).toBe('492816\n')
  expect(await start(['mail', 'wait', 'sales', '--after', 'now', '--timeout', '0'])).toMatchObject({ code: 1, out: '' })
})

test('options stand before, between and after the words of a command', async () => {
  const lists = [
    ['--json', '--agent', 'sales', 'mail', 'list'],
    ['mail', '--agent=sales', '--json', 'list'],
    ['mail', 'list', '--agent', 'sales', '--json'],
  ]
  const [first, ...others] = await Promise.all(lists.map((args) => done(...args)))
  expect(JSON.parse(first?.out as string).messages.length).toBeGreaterThan(0)
  for (const one of others) expect(one.out).toBe(first?.out)
})

test('mail list shows mailbox, direction, unread mail and relative times', async () => {
  const { out } = await done('mail', 'list')
  expect(out).toMatch(/^ID +MAILBOX +DIR +STATE +WHEN +WITH +SUBJECT\n/)
  expect(out).toMatch(/\nmsg_\w+ +support +in +unread +(just now|\d+ sec\.? ago) +.*sales@agents\.localhost.* +Order\n/)
  expect(out).toMatch(/\nmsg_\w+ +sales +out +delivered +.* +to support@agents\.localhost +Order\n/)
  expect(JSON.parse((await done('mail', 'list', '--json')).out).messages[0].created_at).toMatch(/^\d{4}-\d\d-\d\dT/)
  const { messages } = JSON.parse((await done('mail', 'list', '--agent', 'support', '--json')).out)
  const unread = messages.filter((one: { direction: string; is_read: boolean }) => one.direction === 'inbound' && !one.is_read)
  expect(unread.length).toBeGreaterThan(0)
  for (const { id } of unread) expect((await done('mail', 'mark', id, '--read')).out).toBe(`${id} is read.\n`)
  expect((await done('mail', 'list', '--agent', 'support', '--unread')).out).toBe('')
})

test('mail to the outside under the simulator says that it stays here', async () => {
  const { out, error } = await done('mail', 'send', '--agent', 'sales', '--to', 'ada@example.com', '--subject', 'Hi', '--text', 'Hi')
  expect(out).toMatch(/^msg_\w+ is sent\.\n$/)
  const keptHere = /^Mail to ada@example\.com stays on the server.*simulator.*CALLSIGN_MAIL_TRANSPORT\.\n$/
  expect(error).toMatch(keptHere)
  const draft = JSON.parse(
    (await run(['drafts', 'create', 'sales', '--to', 'ada@example.com', '--subject', 'Offer', '--text', 'x', '--json'])).out,
  )
  expect(await run(['drafts', 'send', draft.id])).toMatchObject({
    out: expect.stringMatching(new RegExp(`^${draft.id} is sent as (msg_\\w+)\\.\\n\\1 is sent\\.\\n$`)),
    error: expect.stringMatching(keptHere),
  })
})

test('domains add warns when the mail domain is local', async () => {
  const { error } = await done('domains', 'add', 'mail.callsign.dev')
  expect(error).toMatch(/^Warning: the MX record names agents\.localhost, .*CALLSIGN_MAIL_DOMAIN.*\n$/)
})

describe('errors are printed once, with the name of the missing thing', () => {
  test.each([
    [2, ['mail', 'lst'], '"mail lst" is not a command. Did you mean callsign mail list?'],
    [2, ['mial', 'list'], '"mial list" is not a command. Did you mean callsign mail list?'],
    [2, ['help', 'webhook'], '"webhook" is not a command. Did you mean callsign webhooks?'],
    [2, ['mail'], /^mail needs one more word: .*send, .*Run callsign help mail/],
    [2, ['mail', 'list', '--agnt', 'x'], '--agnt is not an option of callsign mail list. Did you mean --agent?'],
    [2, ['--agnt', 'x', 'mail', 'list'], '--agnt is not an option of callsign. Did you mean --agent?'],
    [2, ['mail', 'list', '--direction', 'up'], '--direction must be inbound or outbound, not "up".'],
    [2, ['mail', 'list', '--limit'], /^--limit needs a value, N\. /],
    [2, ['identities', 'create'], 'HANDLE is missing. Usage: callsign identities create HANDLE'],
    [2, ['mail', 'list', 'sales'], '"sales" is one argument too many. Did you mean --agent sales? Usage: callsign mail list'],
    [2, ['mail', 'search', 'two', 'words'], '"words" is one argument too many. Usage: callsign mail search QUERY'],
    [2, ['mail', 'list', 'Not a handle'], '"Not a handle" is one argument too many. Usage: callsign mail list'],
    [2, ['identities', 'create', 'a', 'b'], '"b" is one argument too many. Usage: callsign identities create HANDLE'],
    [2, ['identities', 'create', 'NOT A'], /^agent_handle has the wrong form: [^:]+$/],
    [2, ['mail', 'send', '--agent', 'sales', '--to', 'x', '--subject', 'a', '--text', 'b'], /^--to must have [^:]+$/],
    [2, ['mail', 'send', '--to', 'a@b.example', '--subject', 'a', '--text-file', 'no-such.txt'], /^no-such\.txt [^:]+\.$/],
    [2, ['mail', 'send', '--to', 'a@b.example', '--subject', 'a', '--text', 'b', '--attach', 'no.pdf'], 'no.pdf does not exist.'],
    [2, ['mail', 'search', 'x'], /^The mailbox is missing\. Give --agent with one of support, sales\.$/],
    [4, ['identities', 'show', 'nobody_x'], 'No such identity: nobody_x.'],
    [4, ['tunnel', '3000', '--agent', 'nobody_x'], 'No such agent: nobody_x.'],
    [4, ['mail', 'list', '--agent', 'nobody_x'], 'No such mailbox: nobody_x.'],
    [4, ['mail', 'send', '--agent', 'nobody_x', '--to', 'a@b.example', '--subject', 'a', '--text', 'b'], 'No such mailbox: nobody_x.'],
    [4, ['mail', 'read', 'msg_01h455vb4pex5vsknk084sn02q', '--agent', 'nobody_x'], 'No such mailbox: nobody_x.'],
    [2, ['agents', 'create', 'x'], '"agents create" is not a command. Did you mean callsign identities create?'],
    [4, ['mail', 'read', 'msg_01h455vb4pex5vsknk084sn02q'], /^No mailbox .* has the message msg_01h455vb4pex5vsknk084sn02q\.$/],
    [2, ['whoami', '--api-key-file', 'no-such-key'], /^no-such-key [^:]+\.$/],
  ])('%i %j', async (code, args, sentence) => {
    const ran = await run(args)
    expect(ran).toMatchObject({ code, out: '' })
    expect(ran.error).toMatch(/^callsign: [^\n]+\n$/)
    const message = ran.error.slice('callsign: '.length, -1)
    if (typeof sentence === 'string') expect(message).toBe(sentence)
    else expect(message).toMatch(sentence)
  })

  test.each<[Record<string, string>, RegExp, number?]>([
    [{ CALLSIGN_URL: 'http://127.0.0.1:9' }, /^callsign: http:\/\/127\.0\.0\.1:9 did not answer: .*CALLSIGN_URL or the login\.\n$/, 1],
    [
      { CALLSIGN_URL: 'http://127.0.0.1:9/api/v1/' },
      /^callsign: The server's address is given without \/api\/v1: http:\/\/127\.0\.0\.1:9\n$/,
    ],
    [{ CALLSIGN_API_KEY: '' }, /^callsign: The API key is missing\. Give --api-key-file or CALLSIGN_API_KEY, or run `callsign login`\.\n$/],
    [{ CALLSIGN_URL: 'localhost:8080' }, /^callsign: .*http:\/\/.*\n$/],
  ])('%j', async (environment, sentence, code = 2) => {
    expect(await run(['whoami'], environment)).toMatchObject({ code, out: '', error: expect.stringMatching(sentence) })
  })
})

test('help is found in every way', async () => {
  const help = await line.start(['help', 'mail', 'send'])
  expect(help).toMatchObject({ code: 0, error: '', out: expect.stringContaining('Example:\n  callsign mail send') })
  for (const args of [
    ['mail', 'send', '--help'],
    ['--help', 'mail', 'send'],
    ['mail', 'send', '-h'],
  ])
    expect((await line.start(args)).out).toBe(help.out)
  expect((await line.start(['mail', '--help'])).out).toBe((await line.start(['help', 'mail'])).out)
  expect((await line.start(['help'])).out).toBe((await line.start(['--help'])).out)
})
