// A COMMIT whose answer is lost: the sender of a stored message is not asked to repeat it.
import { expect, test } from 'vitest'
import { startBehindSwitch } from './harness/behind-switch.ts'

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

test('messages that arrive together are accepted once when the answer to their COMMIT is lost', async () => {
  const { harness, address } = await startBehindSwitch()
  const subjects = Array.from({ length: 12 }, (_, index) => `arrival ${String.fromCharCode(97 + index)}`)
  const deliver = (subject: string) =>
    harness.deliver({
      envelope: { from: 'bob@example.com', to: ['anna@agents.localhost'] },
      raw: `From: bob@example.com\r\nTo: anna@agents.localhost\r\nSubject: ${subject}\r\n\r\nhello\r\n`,
    })
  address.loseCommitOf('arrival f')
  const replies = await Promise.all(subjects.map(deliver))
  const { messages } = await harness.expectApi(200, 'GET', '/mail/messages?agent=anna&limit=100')
  expect(messages.map(({ subject }: { subject: string }) => subject).toSorted()).toEqual(subjects)
  const idOf = new Map(messages.map(({ subject, id }: { subject: string; id: string }) => [subject, id]))
  for (const [index, { response }] of replies.entries()) expect(response).toContain(idOf.get(subjects[index] as string))
})
