// Texts to the numbers of agents, and iMessages to the line.
import { useState } from 'preact/hooks'
import { listAll } from '../../cache/list-all.ts'
import { invalidate, useQuery } from '../../cache/query.ts'
import { Button, ButtonLink } from '../../elements/button.tsx'
import { Empty } from '../../elements/empty.tsx'
import { Select, TextField } from '../../elements/fields.tsx'
import { Form } from '../../elements/form.tsx'
import { Loaded } from '../../elements/loaded.tsx'
import { toast } from '../../elements/toasts.tsx'
import { addressOf, go } from '../../navigation/place.ts'
import { client } from '../../session/client.ts'
import { useIdentities } from '../mail/mailboxes.ts'

export function SmsForm() {
  const numbers = useQuery('phone', () => listAll((page) => client.phone.list(page)))
  const [chosen, setChosen] = useState('')
  const [from, setFrom] = useState('+16502530000')
  const [text, setText] = useState('Your code is 492816')
  const simulated = (numbers.data.value ?? []).filter((one) => one.provider === 'simulator')
  const to = chosen || (simulated[0]?.phone_number ?? '')
  const send = async () => {
    const { status } = await client.simulator.sms({ to, from: from.trim(), text })
    const id = simulated.find((one) => one.phone_number === to)?.id
    toast({ text: `The text is ${status}`, ...(id && { action: { label: 'Open', run: () => go(addressOf(`/phone/${id}`)) } }) })
    invalidate('phone')
  }
  return (
    <Loaded query={numbers}>
      {() =>
        simulated.length === 0 ? (
          <Empty
            icon="phone"
            title="No simulated numbers yet"
            action={
              <ButtonLink kind="primary" href={addressOf('/phone')}>
                Buy a number
              </ButtonLink>
            }
          >
            Buy a simulated number for an agent first.
          </Empty>
        ) : (
          <Form onSubmit={send}>
            <Select
              label="To"
              path="/to"
              value={to}
              options={simulated.map((one) => ({ value: one.phone_number, label: `${one.phone_number}, ${one.agent_handle}` }))}
              onChange={setChosen}
            />
            <TextField label="From" path="/from" value={from} onInput={setFrom} required />
            <TextField label="Text" path="/text" value={text} onInput={setText} required />
            <Button kind="primary" type="submit" icon="sent" disabled={!to || !text.trim()}>
              Send
            </Button>
          </Form>
        )
      }
    </Loaded>
  )
}

export function ImessageForm() {
  const identities = useIdentities().data.value ?? []
  const [from, setFrom] = useState('+14155550123')
  const [text, setText] = useState<string | null>(null)
  const shown = text ?? `connect @${identities[0]?.agent_handle ?? 'agent'}`
  const send = async () => {
    const { effect, conversation_id: id } = await client.simulator.imessage({ from: from.trim(), text: shown })
    toast({ text: `The message was ${effect}`, ...(id && { action: { label: 'Open', run: () => go(addressOf(`/imessage/${id}`)) } }) })
    invalidate('imessage', 'outbox')
  }
  return (
    <Form onSubmit={send}>
      <TextField label="From" path="/from" value={from} onInput={setFrom} required />
      <TextField
        label="Text"
        path="/text"
        value={shown}
        onInput={setText}
        hint="connect @HANDLE starts a conversation with an agent, disconnect ends it."
      />
      <Button kind="primary" type="submit" icon="sent" disabled={!from.trim() || !shown.trim()}>
        Send
      </Button>
    </Form>
  )
}
