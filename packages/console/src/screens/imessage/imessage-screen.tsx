// iMessage conversations as bubbles, and the QR code with which a person connects to an agent.
import type { ImessageConversation, ImessageItem } from '@callsign/sdk'
import { useState } from 'preact/hooks'
import { listAll } from '../../cache/list-all.ts'
import { invalidate, useQuery } from '../../cache/query.ts'
import { Badge } from '../../elements/badge.tsx'
import { Bubble } from '../../elements/bubble.tsx'
import { Button } from '../../elements/button.tsx'
import { Copy } from '../../elements/copy.tsx'
import { Dialog } from '../../elements/dialog.tsx'
import { Empty } from '../../elements/empty.tsx'
import { Select, TextField } from '../../elements/fields.tsx'
import { Form } from '../../elements/form.tsx'
import { Loaded } from '../../elements/loaded.tsx'
import { samplesOf } from '../../elements/samples.ts'
import { Screen } from '../../elements/screen.tsx'
import { Time } from '../../elements/time.tsx'
import { attempt } from '../../elements/toasts.tsx'
import { addressOf, go } from '../../navigation/place.ts'
import { useShortcuts } from '../../navigation/shortcuts.ts'
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
  const pair = (
    <Button kind="primary" icon="link" onClick={() => setPairing(true)}>
      Connect a person
    </Button>
  )
  const all = conversations.data.value
  return (
    <Screen title="iMessage" actions={pair} isFlush={all !== undefined && all.length > 0}>
      <Loaded query={conversations}>
        {(found) =>
          found.length === 0 ? (
            <Empty icon="imessage" title="No conversations yet" samples={samples} action={pair}>
              People start a conversation by a text to the line of the server.
            </Empty>
          ) : (
            <Conversations all={found} openId={id} />
          )
        }
      </Loaded>
      {isPairing && <PairingDialog onClose={() => setPairing(false)} />}
    </Screen>
  )
}

function Conversations({ all, openId }: { all: ImessageConversation[]; openId: string | undefined }) {
  const at = all.findIndex((one) => one.id === openId)
  const open = (index: number) => {
    const next = all[index]
    if (next) go(addressOf(`/imessage/${next.id}`), { replace: openId !== undefined })
  }
  const close = () => go(addressOf('/imessage'))
  useShortcuts('Conversations', [
    { keys: 'j', label: 'Next conversation', run: () => open(at + 1) },
    { keys: 'k', label: 'Previous conversation', run: () => open(Math.max(0, at - 1)) },
    { keys: 'Escape', label: 'Close the conversation', run: close },
  ])
  return (
    <div class={`split${openId ? ' has-open' : ''}`}>
      <ul class="split-list" aria-label="Conversations">
        {all.map((one, index) => (
          <li key={one.id}>
            <a class="split-row" href={addressOf(`/imessage/${one.id}`)} aria-current={one.id === openId ? 'true' : undefined}>
              <span class="row">
                <strong class="grow truncate">{one.recipient}</strong>
                <span class="faint">{one.last_message_at && <Time at={one.last_message_at} />}</span>
              </span>
              {index < previewedMax && <LastMessage conversation={one} />}
              <span class="row">
                <span class="grow truncate faint">with {one.agent_handle}</span>
                <Badge tone={one.status === 'active' ? 'good' : 'neutral'}>{one.status}</Badge>
              </span>
            </a>
          </li>
        ))}
      </ul>
      <div class="split-open">
        {openId ? (
          <Conversation key={openId} id={openId} onClose={close} />
        ) : (
          <p class="mail-hint faint">Choose a conversation, or press j.</p>
        )}
      </div>
    </div>
  )
}

/** Conversations whose last message is shown, each with a request of its own. */
const previewedMax = 50

function LastMessage({ conversation: { id, last_message_at: at } }: { conversation: ImessageConversation }) {
  const last = useQuery(at ? `last-imessage ${id} ${at}` : null, async () => {
    const { messages } = await client.imessage.history({ conversation_id: id, limit: 1 })
    return messages[0] ?? null
  }).data.value
  const text = last && (last.text || last.media.map((file) => file.filename).join(', '))
  return (
    <span class="truncate muted">
      {last?.direction === 'outbound' && 'Agent: '}
      {text || '\u00a0'}
    </span>
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

function Conversation({ id, onClose }: { id: string; onClose: () => void }) {
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
  return (
    <article class="review" aria-label="Conversation">
      <header class="thread-header">
        <span class="only-small">
          <Button kind="quiet" icon="back" label="Back to the conversations" onClick={onClose} />
        </span>
        <div class="grow">
          <h2>{conversation.data.value?.recipient ?? 'Conversation'}</h2>
          <span class="faint">with {conversation.data.value?.agent_handle}</span>
        </div>
        {canOperate.value && isActive && (
          <Button kind="danger" onClick={() => void disconnect()}>
            Disconnect
          </Button>
        )}
      </header>
      <div class="review-body">
        <Loaded query={history}>
          {(messages) =>
            messages.length === 0 ? (
              <Empty icon="imessage" title="No messages yet" />
            ) : (
              messages.map((message) => <MessageBubble key={message.id} message={message} />)
            )
          }
        </Loaded>
      </div>
      {canOperate.value && isActive && <Reply id={id} />}
    </article>
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
  const send = async () => {
    await client.imessage.send({ conversation_id: id, text })
    setText('')
    invalidate('imessage')
  }
  return (
    <Form class="review-actions" onSubmit={send}>
      <div class="grow">
        <TextField label="Message" path="/text" isLabelHidden placeholder="Message" value={text} onInput={setText} />
      </div>
      <Button kind="primary" type="submit" icon="sent" disabled={text.trim() === ''}>
        Send
      </Button>
    </Form>
  )
}
