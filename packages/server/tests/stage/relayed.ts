// A stage whose mail leaves through a relay into a sink, with the agents ann and ben.
import { type MailSink, startMailSink } from './mail-sink.ts'
import { type Stage, startStage } from './start.ts'

export type Relayed = { stage: Stage; sink: MailSink; stop: () => Promise<void> }

export async function startRelayed(): Promise<Relayed> {
  const sink = await startMailSink()
  const stage = await startStage({ CALLSIGN_MAIL_TRANSPORT: 'relay', CALLSIGN_SMTP_RELAY_URL: sink.url })
  await stage.createAgent('ann', { display_name: 'Ann' })
  await stage.createAgent('ben')
  return {
    stage,
    sink,
    async stop() {
      await stage.stop()
      await sink.close()
    },
  }
}
