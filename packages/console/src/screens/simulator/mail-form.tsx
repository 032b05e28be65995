// Writes mail to an agent as an external sender.
import { useState } from 'preact/hooks'
import { Button, ButtonLink } from '../../elements/button.tsx'
import { CodeSamples, Empty } from '../../elements/empty.tsx'
import { Select, TextArea, TextField } from '../../elements/fields.tsx'
import { Form } from '../../elements/form.tsx'
import { Loaded } from '../../elements/loaded.tsx'
import { samplesOf } from '../../elements/samples.ts'
import { addressOf } from '../../navigation/place.ts'
import { useIdentities } from '../mail/mailboxes.ts'
import { deliverMail } from './deliver-mail.ts'

type RecipientProps = { value: string; onChange: (handle: string) => void }

/** The agents to choose from. The first is chosen until a person chooses another. */
export function Recipient({ value, onChange }: RecipientProps) {
  const identities = useIdentities()
  return (
    <Loaded query={identities}>
      {(all) =>
        all.length === 0 ? (
          <Empty icon="identities" title="No identities yet" action={<ButtonLink href={addressOf('/identities')}>New identity</ButtonLink>}>
            Create an identity first. Mail needs a mailbox.
          </Empty>
        ) : (
          <Select
            label="To"
            path="/to"
            value={value || (all[0]?.agent_handle as string)}
            options={all.map((one) => ({ value: one.agent_handle, label: `${one.agent_handle}, ${one.mailbox_address}` }))}
            onChange={onChange}
          />
        )
      }
    </Loaded>
  )
}

/** The chosen agent, or the first. Empty before the identities are loaded. */
export function useRecipient(): [string, (handle: string) => void] {
  const [chosen, setChosen] = useState('')
  const identities = useIdentities().data.value ?? []
  return [chosen || (identities[0]?.agent_handle ?? ''), setChosen]
}

export function MailForm() {
  const [to, setTo] = useRecipient()
  const [from, setFrom] = useState('Ada Park <ada@people.example>')
  const [subject, setSubject] = useState('A question')
  const [text, setText] = useState('Do you ship to Norway? Your confirmation code is 492816.')
  const [isBusy, setBusy] = useState(false)
  const body = { to, from: from.trim(), subject, text }
  const samples = samplesOf({
    method: 'POST',
    path: '/simulator/mail',
    body,
    sdk: `await callsign.simulator.mail(${JSON.stringify(body, null, 2)})`,
    cli: `callsign sim mail ${JSON.stringify(text)} --to ${to} --from ${JSON.stringify(body.from)} --subject ${JSON.stringify(subject)}`,
  })
  return (
    <div class="stack">
      <p class="faint">The message takes the path of mail over SMTP: sender checks, mail rules, flags, codes and events.</p>
      <Form onSubmit={() => deliverMail(body)} onBusy={setBusy}>
        <Recipient value={to} onChange={setTo} />
        <TextField label="From" path="/from" value={from} onInput={setFrom} required />
        <TextField label="Subject" path="/subject" value={subject} onInput={setSubject} />
        <TextArea label="Text" path="/text" value={text} onInput={setText} rows={6} />
        <Button kind="primary" type="submit" icon="sent" disabled={isBusy || !to || !from.trim()}>
          Deliver
        </Button>
      </Form>
      <CodeSamples samples={samples} />
    </div>
  )
}
