// A COMMIT whose answer is lost: the sender of a stored message is not asked to repeat it.
import { expect, onTestFinished, test } from 'vitest'
import { createDatabase } from './harness/database.ts'
import { startDatabaseSwitch } from './harness/database-switch.ts'
import { startHarness } from './harness/start.ts'

async function startBehindSwitch() {
  const database = await createDatabase()
  onTestFinished(database.drop)
  // A URL of a socket has no host before its path.
  const { username: user, hostname, pathname: name, port, searchParams } = new URL(database.url.replace('@/', '@socket/'))
  const address = await startDatabaseSwitch({ host: searchParams.get('host') ?? hostname, port: Number(searchParams.get('port') ?? port) })
  onTestFinished(address.stop)
  const harness = await startHarness({ CALLSIGN_DATABASE_URL: `postgres://${user}@127.0.0.1:${address.port}${name}` })
  onTestFinished(() => harness.stop())
  await harness.expectApi(201, 'POST', '/identities', { body: { agent_handle: 'anna' } })
  return { harness, address }
}

test('messages that are sent together are not sent again when the answer to their COMMIT is lost', async () => {
  const { harness, address } = await startBehindSwitch()
  const subjects = Array.from({ length: 12 }, (_, index) => `number ${String.fromCharCode(97 + index)}`)
  const send = (subject: string) =>
    harness.api('POST', '/mail/send', { body: { agent: 'anna', to: ['bob@example.net'], subject, text: 'hello' } })
  address.loseCommitOf('number f')
  const answers = await Promise.all(subjects.map(send))
  const statusOf = new Map(subjects.map((subject, index) => [subject, answers[index]?.status]))
  expect(statusOf.get('number f')).toBe(503)
  const { messages } = await harness.expectApi(200, 'GET', '/mail/messages?agent=anna&limit=100')
  const stored = messages.map(({ subject }: { subject: string }) => subject)
  expect(stored.toSorted()).toEqual([...new Set(stored)].toSorted())
  for (const [subject, status] of statusOf) if (status === 201) expect(stored).toContain(subject)
})

test('a message is accepted once when the answer to its COMMIT is lost', async () => {
  const { harness, address } = await startBehindSwitch()
  // Without a Message-ID, a repeated message cannot be recognized.
  const raw = 'From: bob@example.com\r\nTo: anna@agents.localhost\r\nSubject: once\r\n\r\nhello\r\n'
  address.loseCommitOf('bob@example.com')
  const { response } = await harness.deliver({ envelope: { from: 'bob@example.com', to: ['anna@agents.localhost'] }, raw })
  expect(response).toMatch(/^250 /)
  const { messages, total } = await harness.expectApi(200, 'GET', '/mail/messages?agent=anna')
  expect([total, messages[0].subject]).toEqual([1, 'once'])
  expect(response).toContain(messages[0].id)
})
