// A stage whose mail leaves through a relay into a sink, with the agents ann and ben.
import { type MailSink, startMailSink } from './mail-sink.ts'
import { type Json, type Stage, startStage } from './start.ts'

export type Relayed = {
  stage: Stage
  sink: MailSink
  /** A message that has arrived for ann, from Eve; `mail` changes its fields. */
  arrive: (mail?: { subject?: string; [field: string]: unknown }) => Promise<Json>
  stop: () => Promise<void>
}

export async function startRelayed(): Promise<Relayed> {
  const sink = await startMailSink()
  const stage = await startStage({ CALLSIGN_MAIL_TRANSPORT: 'relay', CALLSIGN_SMTP_RELAY_URL: sink.url })
  await stage.createAgent('ann', { display_name: 'Ann' })
  await stage.createAgent('ben')
  let count = 0
  return {
    stage,
    sink,
    async arrive({ subject = `Question ${++count}`, ...mail } = {}) {
      await stage.deliver({ from: 'Eve <eve@example.org>', to: 'ann@agents.localhost', subject, text: 'What now?', ...mail })
      return stage.waitForMail('ann', subject)
    },
    async stop() {
      await stage.stop()
      await sink.close()
    },
  }
}
