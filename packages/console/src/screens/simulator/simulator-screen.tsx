// Texts and iMessages from simulated phones, and the messages sent to them.
import { useState } from 'preact/hooks'
import { invalidate, useQuery } from '../../cache/query.ts'
import { Button } from '../../elements/button.tsx'
import { Empty } from '../../elements/empty.tsx'
import { TextField } from '../../elements/fields.tsx'
import { Loaded } from '../../elements/loaded.tsx'
import { Screen } from '../../elements/screen.tsx'
import { Table } from '../../elements/table.tsx'
import { Time } from '../../elements/time.tsx'
import { attempt, toast } from '../../elements/toasts.tsx'
import { client } from '../../session/client.ts'

export default function SimulatorScreen() {
  return (
    <Screen title="Simulator">
      <div class="overview-columns">
        <SmsForm />
        <ImessageForm />
      </div>
      <Outbox />
    </Screen>
  )
}

function SmsForm() {
  const [to, setTo] = useState('')
  const [text, setText] = useState('Your code is 492816')
  const send = async (event: Event) => {
    event.preventDefault()
    await attempt(() => client.simulator.sms({ to: to.trim(), text }), 'The text has arrived')
    invalidate('phone')
  }
  return (
    <form class="card" onSubmit={(event) => void send(event)}>
      <header>
        <h2>Text to an agent</h2>
      </header>
      <div class="body stack">
        <TextField label="Number of the agent" value={to} onInput={setTo} placeholder="+12125550123" required />
        <TextField label="Text" value={text} onInput={setText} />
        <Button kind="primary" type="submit">
          Send
        </Button>
      </div>
    </form>
  )
}

function ImessageForm() {
  const [from, setFrom] = useState('+14155550123')
  const [text, setText] = useState('connect @')
  const send = async (event: Event) => {
    event.preventDefault()
    await attempt(async () => toast({ text: `The message was ${(await client.simulator.imessage({ from: from.trim(), text })).effect}` }))
    invalidate('imessage', 'outbox')
  }
  return (
    <form class="card" onSubmit={(event) => void send(event)}>
      <header>
        <h2>iMessage to the line</h2>
      </header>
      <div class="body stack">
        <TextField label="From" value={from} onInput={setFrom} required />
        <TextField label="Text" value={text} onInput={setText} hint="connect @HANDLE starts a conversation with an agent." />
        <Button kind="primary" type="submit">
          Send
        </Button>
      </div>
    </form>
  )
}

function Outbox() {
  const outbox = useQuery('outbox', () => client.simulator.outbox({ limit: 50 }))
  return (
    <section class="stack">
      <h2>Sent to simulated phones</h2>
      <Loaded query={outbox}>
        {({ data }) =>
          data.length === 0 ? (
            <Empty icon="simulator" title="Nothing sent yet" />
          ) : (
            <Table
              name="Outbox"
              items={data}
              keyOf={(item) => item.id}
              columns={[
                { title: 'Time', cell: (item) => <Time at={item.created_at} form="exact" /> },
                { title: 'Channel', cell: (item) => item.channel },
                { title: 'To', cell: (item) => item.to },
                { title: 'Text', cell: (item) => item.text },
              ]}
            />
          )
        }
      </Loaded>
    </section>
  )
}
