// A COMMIT whose answer is lost: the sender of a stored message is not asked to repeat it.
import { expect, onTestFinished, test } from 'vitest'
import { createDatabase } from './harness/database.ts'
import { startDatabaseSwitch } from './harness/database-switch.ts'
import { startHarness } from './harness/start.ts'

test('a message is accepted once when the answer to its COMMIT is lost', async () => {
  const database = await createDatabase()
  onTestFinished(database.drop)
  const [, user, name, host, port] = /^postgres:\/\/([^@]*)@\/([^?]*)\?host=([^&]*)&port=(\d+)$/.exec(database.url) ?? []
  const address = await startDatabaseSwitch({ host: decodeURIComponent(host as string), port: Number(port) })
  onTestFinished(address.stop)
  const harness = await startHarness({ CALLSIGN_DATABASE_URL: `postgres://${user}@127.0.0.1:${address.port}/${name}` })
  onTestFinished(() => harness.stop())
  await harness.expectApi(201, 'POST', '/identities', { body: { agent_handle: 'anna' } })
  // Without a Message-ID, a repeated message cannot be recognized.
  const raw = 'From: bob@example.com\r\nTo: anna@agents.localhost\r\nSubject: once\r\n\r\nhello\r\n'
  address.loseCommitOf('bob@example.com')
  const { response } = await harness.deliver({ envelope: { from: 'bob@example.com', to: ['anna@agents.localhost'] }, raw })
  expect(response).toMatch(/^250 /)
  const { messages, total } = await harness.expectApi(200, 'GET', '/mail/messages?agent=anna')
  expect([total, messages[0].subject]).toEqual([1, 'once'])
  expect(response).toContain(messages[0].id)
})
