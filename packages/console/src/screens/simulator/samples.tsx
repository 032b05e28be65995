// Prepared mail that tries to deceive an agent or its reader.
import { type SimulatedMailSample, simulatedMailSamples } from '@callsign/sdk'
import { useState } from 'preact/hooks'
import { Button } from '../../elements/button.tsx'
import { Table } from '../../elements/table.tsx'
import { attempt } from '../../elements/toasts.tsx'
import { deliverMail } from './deliver-mail.ts'
import { Recipient, useRecipient } from './mail-form.tsx'

const samples = Object.entries(simulatedMailSamples) as [SimulatedMailSample, string][]

export function Samples() {
  const [to, setTo] = useRecipient()
  const [busy, setBusy] = useState<string | null>(null)
  const deliver = async (sample: SimulatedMailSample) => {
    setBusy(sample)
    await attempt(() => deliverMail({ to, sample }))
    setBusy(null)
  }
  return (
    <div class="stack">
      <p class="faint">See how an agent and this console handle mail that deceives. The messages are harmless and name reserved domains.</p>
      <Recipient value={to} onChange={setTo} />
      <Table
        name="Hostile mail"
        items={samples}
        keyOf={([name]) => name}
        columns={[
          { title: 'Content', cell: ([, title]) => title },
          { title: 'Name', cell: ([name]) => <code>{name}</code>, isMinor: true },
          {
            title: '',
            cell: ([name, title]) => (
              <Button size="small" disabled={!to || busy !== null} onClick={() => void deliver(name)}>
                Deliver<span class="visually-hidden"> {title}</span>
              </Button>
            ),
          },
        ]}
      />
    </div>
  )
}
