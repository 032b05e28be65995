// A harness whose mail leaves through a relay into a sink, with the agents ann and ben.
import { type MailSink, startMailSink } from './mail-sink.ts'
import { type Harness, type Json, startHarness } from './start.ts'

export type Relayed = {
  harness: Harness
  sink: MailSink
  /** A message from Eve that has arrived for ann. `mail` changes its fields. */
  arrive: (mail?: { subject?: string; [field: string]: unknown }) => Promise<Json>
  stop: () => Promise<void>
}

export async function startRelayed(): Promise<Relayed> {
  const sink = await startMailSink()
  const harness = await startHarness({ CALLSIGN_MAIL_TRANSPORT: 'relay', CALLSIGN_SMTP_RELAY_URL: sink.url })
  await harness.createAgent('ann', { display_name: 'Ann' })
  await harness.createAgent('ben')
  let count = 0
  return {
    harness,
    sink,
    async arrive({ subject = `Question ${++count}`, ...mail } = {}) {
      await harness.deliver({ from: 'Eve <eve@example.org>', to: 'ann@agents.localhost', subject, text: 'What now?', ...mail })
      return harness.waitForMail('ann', subject)
    },
    async stop() {
      await harness.stop()
      await sink.close()
    },
  }
}
