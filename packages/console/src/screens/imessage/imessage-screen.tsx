// iMessage conversations as bubbles, and the QR code with which a person connects to an agent.
import type { ImessageConversation, ImessageItem } from '@callsign/sdk'
import { useState } from 'preact/hooks'
import { listAll } from '../../cache/list-all.ts'
import { invalidate, useQuery } from '../../cache/query.ts'
import { Badge } from '../../elements/badge.tsx'
import { Bubble } from '../../elements/bubble.tsx'
import { Button, ButtonLink } from '../../elements/button.tsx'
import { Copy } from '../../elements/copy.tsx'
import { Dialog } from '../../elements/dialog.tsx'
import { Empty } from '../../elements/empty.tsx'
import { Select, TextField } from '../../elements/fields.tsx'
import { Loaded } from '../../elements/loaded.tsx'
import { samplesOf } from '../../elements/samples.ts'
import { Screen } from '../../elements/screen.tsx'
import { Table } from '../../elements/table.tsx'
import { Time } from '../../elements/time.tsx'
import { attempt } from '../../elements/toasts.tsx'
import { addressOf } from '../../navigation/place.ts'
import type { ScreenProps } from '../../screen-entry.ts'
import { client } from '../../session/client.ts'
import { canOperate } from '../../session/session.ts'
import { useIdentities } from '../mail/mailboxes.ts'

const samples = samplesOf({
  method: 'GET',
  path: '/imessage/router?agent=sales',
  sdk: "const router = await callsign.imessage.router({ agent: 'sales' })",
  cli: 'callsign imessage router sales',
})

export default function ImessageScreen({ parts: [id] }: ScreenProps) {
  const conversations = useQuery('imessage', () => listAll((page) => client.imessage.conversations(page)))
  const [isPairing, setPairing] = useState(false)
  if (id) return <Conversation id={id} />
  const pair = (
    <Button kind="primary" icon="link" onClick={() => setPairing(true)}>
      Connect a person
    </Button>
  )
  return (
    <Screen title="iMessage" actions={pair}>
      <Loaded query={conversations}>
        {(all) =>
          all.length === 0 ? (
            <Empty icon="imessage" title="No conversations yet" samples={samples} action={pair}>
              People start a conversation by a text to the line of the server.
            </Empty>
          ) : (
            <ConversationTable conversations={all} />
          )
        }
      </Loaded>
      {isPairing && <PairingDialog onClose={() => setPairing(false)} />}
    </Screen>
  )
}

function ConversationTable({ conversations }: { conversations: ImessageConversation[] }) {
  return (
    <Table
      name="Conversations"
      items={conversations}
      keyOf={(one) => one.id}
      columns={[
        { title: 'Person', cell: (one) => <a href={addressOf(`/imessage/${one.id}`)}>{one.recipient}</a> },
        { title: 'Agent', cell: (one) => one.agent_handle },
        { title: 'State', cell: (one) => <Badge tone={one.status === 'active' ? 'good' : 'neutral'}>{one.status}</Badge> },
        { title: 'Latest message', cell: (one) => one.last_message_at && <Time at={one.last_message_at} />, isMinor: true },
      ]}
    />
  )
}

function PairingDialog({ onClose }: { onClose: () => void }) {
  const identities = useIdentities().data.value ?? []
  const [agent, setAgent] = useState('')
  const chosen = agent || (identities[0]?.agent_handle ?? '')
  const router = useQuery(chosen ? `imessage-router ${chosen}` : null, () => client.imessage.router({ agent: chosen }))
  return (
    <Dialog title="Connect a person" onClose={onClose}>
      <div class="stack">
        <Select
          label="Agent"
          value={chosen}
          options={identities.map(({ agent_handle: handle }) => ({ value: handle, label: handle }))}
          onChange={setAgent}
        />
        <Loaded query={router}>
          {(data) => (
            <>
              <img class="qr" src={data.qr_code} alt={`QR code that opens Messages with ${data.connect_prompt}`} width="240" height="240" />
              <p>
                The person scans the code, or texts <Copy value={data.connect_prompt} name="text" /> to{' '}
                <Copy value={data.phone_number} name="number" />.
              </p>
            </>
          )}
        </Loaded>
      </div>
    </Dialog>
  )
}

const historyMax = 200

function Conversation({ id }: { id: string }) {
  const conversation = useQuery(`imessage ${id}`, () => client.imessage.conversation(id))
  const history = useQuery(`imessage ${id} messages`, async () => {
    const found: ImessageItem[] = []
    for (let cursor: string | null | undefined; cursor !== null && found.length < historyMax; ) {
      const page = await client.imessage.history({ conversation_id: id, limit: 100, ...(cursor ? { cursor } : {}) })
      found.push(...page.messages)
      cursor = page.next_cursor
    }
    return found
  })
  const disconnect = async () => {
    if (await attempt(() => client.imessage.disconnect(id), 'The conversation has ended')) invalidate('imessage')
  }
  const isActive = conversation.data.value?.status === 'active'
  const actions = (
    <>
      <ButtonLink icon="back" href={addressOf('/imessage')}>
        All
      </ButtonLink>
      {canOperate.value && isActive && (
        <Button kind="danger" onClick={() => void disconnect()}>
          Disconnect
        </Button>
      )}
    </>
  )
  return (
    <Screen title={conversation.data.value?.recipient ?? 'Conversation'} note={conversation.data.value?.agent_handle} actions={actions}>
      <div class="stack">
        <Loaded query={history}>
          {(messages) =>
            messages.length === 0 ? (
              <Empty icon="imessage" title="No messages yet" />
            ) : (
              messages.map((message) => <MessageBubble key={message.id} message={message} />)
            )
          }
        </Loaded>
        {canOperate.value && isActive && <Reply id={id} />}
      </div>
    </Screen>
  )
}

function MessageBubble({ message }: { message: ImessageItem }) {
  const note = message.error ? message.error.message : message.direction === 'outbound' ? message.status : null
  return (
    <Bubble side={message.direction === 'outbound' ? 'right' : 'left'} at={message.created_at} note={note}>
      <span>{message.text}</span>
      {message.media.map((file) =>
        file.url ? (
          <a key={file.id} href={file.url} rel="noreferrer" target="_blank">
            {file.filename}
          </a>
        ) : (
          <span key={file.id} class="faint">
            {file.filename}, {file.status}
          </span>
        ),
      )}
    </Bubble>
  )
}

function Reply({ id }: { id: string }) {
  const [text, setText] = useState('')
  const send = async (event: Event) => {
    event.preventDefault()
    if (!(await attempt(() => client.imessage.send({ conversation_id: id, text })))) return
    setText('')
    invalidate('imessage')
  }
  return (
    <form class="row" onSubmit={(event) => void send(event)}>
      <div class="grow">
        <TextField label="Message" isLabelHidden placeholder="Message" value={text} onInput={setText} />
      </div>
      <Button kind="primary" type="submit" icon="sent" disabled={text.trim() === ''}>
        Send
      </Button>
    </form>
  )
}
