// Phone numbers of the agents, and the texts of one number as conversations.
import type { PhoneNumber, SmsMessage } from '@callsign/sdk'
import { useState } from 'preact/hooks'
import { listAll } from '../../cache/list-all.ts'
import { forget, invalidate, useQuery } from '../../cache/query.ts'
import { Badge, Notice, type Tone } from '../../elements/badge.tsx'
import { Button } from '../../elements/button.tsx'
import { Copy } from '../../elements/copy.tsx'
import { Confirm } from '../../elements/dialog.tsx'
import { Empty } from '../../elements/empty.tsx'
import { Select, TextField } from '../../elements/fields.tsx'
import { FormDialog } from '../../elements/form-dialog.tsx'
import { Loaded } from '../../elements/loaded.tsx'
import { samplesOf } from '../../elements/samples.ts'
import { Screen } from '../../elements/screen.tsx'
import { Table } from '../../elements/table.tsx'
import { Time } from '../../elements/time.tsx'
import { attempt } from '../../elements/toasts.tsx'
import { addressOf, go } from '../../navigation/place.ts'
import type { ScreenProps } from '../../screen-entry.ts'
import { client } from '../../session/client.ts'
import { canOperate } from '../../session/session.ts'
import { useIdentities } from '../mail/mailboxes.ts'
import { TextConversations } from './texts.tsx'

const tones: Record<PhoneNumber['sms_status'], Tone> = { ready: 'good', pending: 'warn', assignment_failed: 'bad' }
const samples = samplesOf({
  method: 'POST',
  path: '/phone/numbers',
  body: { agent_handle: 'sales' },
  sdk: "await callsign.phone.provision({ agent_handle: 'sales' })",
  cli: 'callsign phone provision sales',
})

export default function PhoneScreen({ parts: [id, sender] }: ScreenProps) {
  const numbers = useQuery('phone', () => listAll((page) => client.phone.list(page)))
  const [isBuying, setBuying] = useState(false)
  if (id) return <NumberDetail id={id} sender={sender} />
  const buy = canOperate.value && (
    <Button kind="primary" icon="plus" onClick={() => setBuying(true)}>
      Buy a number
    </Button>
  )
  return (
    <Screen title="Phone numbers" actions={buy}>
      <Loaded query={numbers}>
        {(all) =>
          all.length === 0 ? (
            <Empty icon="phone" title="No phone numbers yet" samples={samples} action={buy}>
              A number receives texts, for example sign-up codes.
            </Empty>
          ) : (
            <Table
              name="Phone numbers"
              items={all}
              keyOf={(number) => number.id}
              columns={[
                { title: 'Number', cell: (number) => <a href={addressOf(`/phone/${number.id}`)}>{number.phone_number}</a> },
                { title: 'Agent', cell: (number) => number.agent_handle },
                {
                  title: 'Texts',
                  cell: (number) => <Badge tone={tones[number.sms_status]}>{number.sms_status.replaceAll('_', ' ')}</Badge>,
                },
                { title: 'Provider', cell: (number) => number.provider, isMinor: true },
                { title: 'Since', cell: (number) => <Time at={number.created_at} />, isMinor: true },
              ]}
            />
          )
        }
      </Loaded>
      {isBuying && <BuyDialog onClose={() => setBuying(false)} />}
    </Screen>
  )
}

function BuyDialog({ onClose }: { onClose: () => void }) {
  const identities = useIdentities().data.value ?? []
  const [agent, setAgent] = useState('')
  const [region, setRegion] = useState('')
  // One purchase per opened dialog, however often the button is pressed.
  const [idempotencyKey] = useState(() => `console-${crypto.getRandomValues(new Uint32Array(4)).join('-')}`)
  const chosen = agent || (identities[0]?.agent_handle ?? '')
  const buy = async () => {
    const place = region.trim() ? { region: region.trim().toUpperCase() } : {}
    const number = await client.phone.provision({ agent_handle: chosen, ...place }, { idempotencyKey })
    invalidate('phone')
    go(addressOf(`/phone/${number.id}`))
  }
  return (
    <FormDialog title="Buy a number" action="Buy" isDisabled={chosen === ''} onSubmit={buy} onClose={onClose}>
      <Notice>A real provider charges for the number until you release it.</Notice>
      <Select
        label="Agent"
        path="/agent_handle"
        value={chosen}
        options={identities.map(({ agent_handle: handle }) => ({ value: handle, label: handle }))}
        onChange={setAgent}
      />
      <TextField
        label="State or province"
        path="/region"
        value={region}
        onInput={setRegion}
        placeholder="NY"
        hint="Two letters. Empty for any."
      />
    </FormDialog>
  )
}

function NumberDetail({ id, sender }: { id: string; sender: string | undefined }) {
  const number = useQuery(`phone ${id}`, () => client.phone.get(id))
  const texts = useQuery(`phone ${id} texts`, () => client.phone.messages(id, { limit: 100 }))
  const [isReleasing, setReleasing] = useState(false)
  const release = async () => {
    if (!(await attempt(() => client.phone.release(id), 'Released'))) return
    forget(`phone ${id}`)
    forget(`phone ${id} texts`)
    invalidate('phone')
    go(addressOf('/phone'))
  }
  const actions = (
    <>
      {number.data.value && <Copy value={number.data.value.phone_number} text="Copy" name="number" />}
      {canOperate.value && (
        <Button kind="danger" onClick={() => setReleasing(true)}>
          Release
        </Button>
      )}
    </>
  )
  const hasTexts = (texts.data.value?.data.length ?? 0) > 0
  const note = number.data.value && <NumberState number={number.data.value} />
  return (
    <Screen
      title={number.data.value?.phone_number ?? 'Phone number'}
      note={note}
      actions={actions}
      back={{ href: addressOf('/phone'), label: 'All numbers' }}
      isFlush={hasTexts}
    >
      <Loaded query={number}>{({ sms_error: error }) => error && <Notice tone="bad">{error.detail}</Notice>}</Loaded>
      <Loaded query={texts}>
        {({ data }: { data: SmsMessage[] }) =>
          data.length === 0 ? (
            <Empty icon="phone" title="No texts yet">
              Texts to this number appear here at once, with their codes as chips.
            </Empty>
          ) : (
            <TextConversations numberId={id} messages={data} openSender={sender} />
          )
        }
      </Loaded>
      {isReleasing && (
        <Confirm
          title="Release this number?"
          text="It goes back to its provider, which may sell it again. Its texts are deleted."
          action="Release"
          isDanger
          onConfirm={() => void release()}
          onClose={() => setReleasing(false)}
        />
      )}
    </Screen>
  )
}

const NumberState = ({ number }: { number: PhoneNumber }) => (
  <span class="row">
    <Badge tone={tones[number.sms_status]}>{number.sms_status.replaceAll('_', ' ')}</Badge>
    <span class="hide-small">
      {number.agent_handle}, {number.provider}
    </span>
  </span>
)
