// A message of which a part has left before the database fails: the next attempt sends only what did not leave.
import { expect, onTestFinished, test } from 'vitest'
import { startBehindSwitch } from './harness/behind-switch.ts'
import { type MailSink, startMailSink } from './harness/mail-sink.ts'

async function startSink(): Promise<MailSink> {
  const sink = await startMailSink()
  onTestFinished(sink.close)
  return sink
}

test('an outage while a message is filed for an agent here does not send it to others twice', async () => {
  const sink = await startSink()
  const { harness, address } = await startBehindSwitch({ CALLSIGN_MAIL_TRANSPORT: 'relay', CALLSIGN_SMTP_RELAY_URL: sink.url })
  await harness.createAgent('ben')
  // Read only for a recipient here.
  address.cutAt('find-exchange')
  const { id } = await harness.send('anna', ['ben@agents.localhost', 'eve@example.com'], { subject: 'Once' })
  await harness.waitForStatus('anna', id, 'sent')
  await harness.waitForMail('ben', 'Once')
  const { rows } = await harness.db.query({ text: 'SELECT 1 FROM jobs WHERE subject = $1', values: [id] })
  expect([rows, sink.mails.map((mail) => mail.to)]).toEqual([[], [['eve@example.com']]])
  expect(harness.logLines().filter((line) => line.includes('a job failed'))).toHaveLength(1)
})

test('an outage while the TLS policy of one recipient is read does not send the message to the other one twice', async () => {
  const sink = await startSink()
  const { harness, address } = await startBehindSwitch({
    CALLSIGN_MAIL_TRANSPORT: 'direct',
    CALLSIGN_MAIL_DIRECT_PORT: new URL(sink.url).port,
    CALLSIGN_OUTBOUND_ALLOW_CIDRS: '127.0.0.0/8',
  })
  for (const domain of ['one.example', 'two.example']) harness.dns.set(domain, { A: ['127.0.0.1'] })
  address.cutAt('find-mta-sts-policy')
  const { id } = await harness.send('anna', ['eve@one.example', 'eve@two.example'])
  const { delivery } = await harness.waitForStatus('anna', id, 'delivered')
  expect(sink.mails.flatMap((mail) => mail.to).toSorted()).toEqual(['eve@one.example', 'eve@two.example'])
  expect(delivery.recipients.map(({ attempts }: { attempts: number }) => attempts).toSorted()).toEqual([1, 2])
})
