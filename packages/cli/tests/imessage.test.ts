// imessage and sim imessage on the command line, and the SDK below it, against the real server. A phone pairs, sends a message, and gets a reply.
import { writeFileSync } from 'node:fs'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Harness, startHarness } from '../../server/tests/harness/start.ts'
import { waitFor } from '../../server/tests/harness/wait.ts'
import { commandsOn, createCommandLine } from './command-line.ts'

let harness: Harness
const line = createCommandLine()
beforeAll(async () => {
  harness = await startHarness()
  await harness.createAgent('cli_sales')
})
afterAll(async () => {
  await harness.stop()
  line.remove()
})

const { run, json } = commandsOn(line, () => harness)

test('a phone pairs, writes, is answered, and is disconnected', async () => {
  const phone = '+14155550190'
  expect((await run('imessage', 'router', 'cli_sales')).out).toContain('Text "connect @cli_sales" to +18005550199 (Callsign, simulator).')
  const paired = await json('sim', 'imessage', '--from', phone, 'connect @cli_sales')
  expect(paired.effect).toBe('connected')
  const id = paired.conversation_id
  writeFileSync(line.file('a.png'), Buffer.from('89504e470d0a1a0a00', 'hex'))
  expect((await run('sim', 'imessage', '--from', phone, 'Hello', '--media', line.file('a.png'))).out).toMatch(
    /^The message is filed as imsg_/,
  )
  expect((await json('imessage', 'conversations', '--agent', 'cli_sales')).data).toMatchObject([{ id, recipient: phone, status: 'active' }])
  const sent = await json('imessage', 'send', 'Good day', '--conversation', id, '--idempotency-key', 'k1')
  expect((await json('imessage', 'send', 'Good day', '--conversation', id, '--idempotency-key', 'k1')).id).toBe(sent.id)
  expect((await json('imessage', 'send', 'By number', '--to', phone, '--agent', 'cli_sales')).conversation_id).toBe(id)
  await waitFor('the phone to have both', async () => (await json('sim', 'outbox', '--to', phone)).data.length === 3)
  const history = await run('imessage', 'history', id)
  expect(history.out).toMatch(/By number[\s\S]*Good day[\s\S]*Hello \[1 file\]/)
  expect((await run('imessage', 'history', id, '--oldest')).out).toMatch(/Hello \[1 file\][\s\S]*Good day[\s\S]*By number/)
  const newest = await json('imessage', 'history', '--limit', '1')
  const rest = await json('imessage', 'history', '--limit', '2', '--cursor', newest.next_cursor)
  expect([...newest.messages, ...rest.messages].map(({ text }: { text: string }) => text)).toEqual(['By number', 'Good day', 'Hello'])
  expect((await run('imessage', 'disconnect', id)).out).toBe(`${id} with ${phone} is archived.\n`)
  expect((await json('imessage', 'conversations', '--status', 'archived')).data).toMatchObject([{ id }])
  expect((await json('imessage', 'conversations', '--status', 'active')).data).toEqual([])
  expect((await run('imessage', 'send', 'Too late', '--conversation', id)).code).toBe(5)
  expect((await run('imessage', 'send', 'To nobody')).code).toBe(2)
  expect((await run('imessage', 'history', 'conv_01h455vb4pex5vsknk084sn02q')).code).toBe(4)
})
