// Mail for postmaster and abuse reaches an agent, and mail loops are stopped.
import { connect } from 'node:net'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Harness, type Json, startHarness } from './harness/start.ts'
import { DialogClient } from './transcripts/smtp/play.ts'

let harness: Harness
beforeAll(async () => {
  harness = await startHarness({ CALLSIGN_POSTMASTER: 'keeper' })
})
afterAll(() => harness.stop())

/** Delivers one message over SMTP. Returns the reply to RCPT and, when that was accepted, the reply to the message. */
async function submit(recipient: string, message: string): Promise<string[]> {
  const client = await DialogClient.greeted(harness.smtpPort)
  await client.ask('EHLO there.example', '250')
  await client.ask('MAIL FROM:<eve@example.org>', '250')
  const answers = [await ask(client, `RCPT TO:<${recipient}>`)]
  if (answers[0]?.startsWith('250')) {
    await client.ask('DATA', '354')
    answers.push(
      await ask(client, `${`${/^From:/m.test(message) ? '' : 'From: eve@example.org\n'}${message}`.replaceAll('\n', '\r\n')}\r\n.`),
    )
  }
  client.close()
  return answers
}
const ask = async (client: DialogClient, line: string): Promise<string> => (await client.ask(line, '')).trimEnd()
const newest = async (handle: string): Promise<Json> =>
  (await harness.expectApi(200, 'GET', `/mailboxes/${handle}/messages?limit=1`)).data[0]

test('without any mailbox, mail to postmaster is deferred, and other recipients are unknown', async () => {
  expect(await submit('postmaster', '')).toEqual([expect.stringMatching(/^451 4\.2\.1/)])
  expect(await submit('nobody@agents.localhost', '')).toEqual([expect.stringMatching(/^550 5\.1\.1/)])
})

test('only the agent that the settings name gets it, and before it exists such mail is deferred', async () => {
  await harness.createAgent('first')
  await harness.createAgent('second')
  for (const address of ['postmaster', 'postmaster@agents.localhost', 'abuse@agents.localhost'])
    expect(await submit(address, 'Subject: one\n\n.')).toEqual([expect.stringMatching(/^451 4\.2\.1/)])
  expect(await newest('first')).toBeUndefined()
  await harness.createAgent('keeper', {}, harness.otherOrganization.key)
  for (const [index, address] of ['postmaster', 'PostMaster', 'Postmaster@Agents.Localhost', 'abuse@agents.localhost'].entries()) {
    expect((await submit(address, `Subject: to ${index}\n\n.`))[1]).toMatch(/^250/)
    const { data } = await harness.expectApi(200, 'GET', '/mailboxes/keeper/messages?limit=1', { key: harness.otherOrganization.key })
    expect(data[0]).toMatchObject({ subject: `to ${index}` })
  }
  expect(await submit('postmaster@elsewhere.example', '')).toEqual([expect.stringMatching(/^550 5\.1\.1/)])
})

test('a hosted agent can write to postmaster too', async () => {
  const sent = await harness.send('first', 'postmaster@agents.localhost', { subject: 'From inside' })
  await harness.waitForStatus('first', sent.id, 'delivered')
})

test('a role cannot be the name of an agent', async () => {
  expect((await harness.api('POST', '/identities', { body: { agent_handle: 'postmaster' } })).body.error.code).toBe('handle_already_taken')
})

test('a message that was delivered here before is refused as a loop, but not at another mailbox', async () => {
  await submit('first@agents.localhost', 'Subject: round and round\n\n.')
  const stored = await newest('first')
  const raw = (await harness.api('GET', `/mailboxes/first/messages/${stored.id}/raw`)).body as Buffer
  expect(raw.toString()).toContain('Delivered-To: first@agents.localhost\r\n')
  const again = raw.toString().replaceAll('\r\n', '\n').trimEnd()
  expect((await submit('first+tag@agents.localhost', again))[1]).toMatch(/^554 5\.4\.6/)
  expect((await submit('second@agents.localhost', again))[1]).toMatch(/^250/)
  // Forwarded as text or as an attachment it does not count as a loop.
  expect((await submit('first@agents.localhost', `Subject: see below\n\n${again}`))[1]).toMatch(/^250/)
})

test('more than fifty hops count as a loop', async () => {
  const hops = (count: number) => `${'Received: from a by b; Sun, 22 Nov 2026 03:00:00 +0000\n'.repeat(count)}Subject: hops ${count}\n\n.`
  expect((await submit('second@agents.localhost', hops(50)))[1]).toMatch(/^250/)
  expect((await submit('second@agents.localhost', hops(51)))[1]).toMatch(/^554 5\.4\.6/)
})

test('the null sender is accepted for one recipient', async () => {
  const client = await DialogClient.greeted(harness.smtpPort)
  await client.ask('EHLO there.example', '250')
  await client.ask('MAIL FROM:<>', '250')
  await client.ask('RCPT TO:<second@agents.localhost>', '250')
  await client.ask('RCPT TO:<first@agents.localhost>', '550 5.5.3')
  await client.ask('DATA', '354')
  client.send('From: mailer-daemon@there.example\r\nSubject: could not be delivered\r\n\r\n.\r\n')
  await client.ask('QUIT', '250')
  client.close()
  const message = await harness.waitForMail('second', 'could not be delivered')
  expect(message.authentication.spf).toMatchObject({ identity: 'helo', domain: 'there.example', result: 'none' })
})

test('a client that connects and disconnects leaves no state', async () => {
  const socket = connect(harness.smtpPort, '127.0.0.1')
  await new Promise((resolve) => socket.once('data', resolve))
  socket.destroy()
  expect((await submit('second@agents.localhost', 'Subject: still here\n\n.'))[1]).toMatch(/^250/)
})
