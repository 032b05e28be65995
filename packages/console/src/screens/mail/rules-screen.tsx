// Mail rules of each agent, and the suppression list of the organization.
import type { Identity, MailRule } from '@callsign/sdk'
import { useState } from 'preact/hooks'
import { listAll } from '../../cache/list-all.ts'
import { invalidate, useQuery } from '../../cache/query.ts'
import { Badge } from '../../elements/badge.tsx'
import { Button } from '../../elements/button.tsx'
import { Empty } from '../../elements/empty.tsx'
import { Select, TextField } from '../../elements/fields.tsx'
import { FormDialog } from '../../elements/form-dialog.tsx'
import { Loaded } from '../../elements/loaded.tsx'
import { samplesOf } from '../../elements/samples.ts'
import { Screen } from '../../elements/screen.tsx'
import { Table } from '../../elements/table.tsx'
import { Tabs } from '../../elements/tabs.tsx'
import { Time } from '../../elements/time.tsx'
import { attempt } from '../../elements/toasts.tsx'
import { place, setQuery } from '../../navigation/place.ts'
import { client } from '../../session/client.ts'
import { canOperate } from '../../session/session.ts'
import { useIdentities } from './mailboxes.ts'
import { Suppressions } from './suppressions.tsx'

const tabs = [
  { id: 'rules', label: 'Rules' },
  { id: 'suppressions', label: 'Suppressions' },
] as const

export default function RulesScreen() {
  const identities = useIdentities()
  const tab = place.value.query.get('tab') === 'suppressions' ? 'suppressions' : 'rules'
  return (
    <Screen title="Rules and suppressions">
      <Tabs tabs={tabs} selected={tab} name="Lists" onSelect={(id) => setQuery({ tab: id === 'rules' ? undefined : id })} />
      {tab === 'suppressions' ? <Suppressions /> : <Loaded query={identities}>{(all) => <Rules identities={all} />}</Loaded>}
    </Screen>
  )
}

const samples = samplesOf({
  method: 'POST',
  path: '/identities/sales/mail-rules',
  body: { direction: 'inbound', action: 'block', entry: 'newsletter.example' },
  sdk: "await callsign.mailRules.create('sales', { direction: 'inbound', action: 'block', entry: 'newsletter.example' })",
  cli: 'callsign rules add sales --block newsletter.example --direction inbound',
})

function Rules({ identities }: { identities: Identity[] }) {
  const handle = place.value.query.get('agent') ?? identities[0]?.agent_handle ?? ''
  const rules = useQuery(handle ? `rules ${handle}` : null, () => listAll((page) => client.mailRules.list(handle, page)))
  const [isAdding, setAdding] = useState(false)
  if (!handle) return <Empty icon="rules" title="No identities yet" />
  const change = async (work: () => Promise<unknown>, done: string) => {
    if (await attempt(work, done)) invalidate('rules')
  }
  return (
    <div class="stack">
      <div class="row wrap">
        <Select
          label="Agent"
          isLabelHidden
          value={handle}
          options={identities.map(({ agent_handle: value }) => ({ value, label: value }))}
          onChange={(agent) => setQuery({ agent })}
        />
        {canOperate.value && (
          <Button kind="primary" icon="plus" onClick={() => setAdding(true)}>
            Add rule
          </Button>
        )}
      </div>
      <Loaded query={rules}>
        {(all) =>
          all.length === 0 ? (
            <Empty icon="rules" title="No rules yet" samples={samples} />
          ) : (
            <RuleTable rules={all} handle={handle} change={change} />
          )
        }
      </Loaded>
      {isAdding && <AddDialog handle={handle} onClose={() => setAdding(false)} />}
    </div>
  )
}

type RuleTableProps = { rules: MailRule[]; handle: string; change: (work: () => Promise<unknown>, done: string) => Promise<void> }

function RuleTable({ rules, handle, change }: RuleTableProps) {
  const toggle = (rule: MailRule) => {
    const status = rule.status === 'active' ? ('paused' as const) : ('active' as const)
    void change(
      () => client.mailRules.update(handle, rule.id, { status }),
      status === 'active' ? 'The rule is active' : 'The rule is paused',
    )
  }
  return (
    <Table
      name="Mail rules"
      items={rules}
      keyOf={(rule) => rule.id}
      columns={[
        { title: 'Action', cell: (rule) => <Badge tone={rule.action === 'allow' ? 'good' : 'bad'}>{rule.action}</Badge> },
        { title: 'Address or domain', cell: (rule) => <span class="mono">{rule.entry}</span> },
        { title: 'Direction', cell: (rule) => rule.direction },
        { title: 'Reason', cell: (rule) => rule.reason, isMinor: true },
        { title: 'Created', cell: (rule) => <Time at={rule.created_at} />, isMinor: true },
        {
          title: '',
          cell: (rule) =>
            canOperate.value && (
              <span class="row">
                <Button
                  size="small"
                  icon={rule.status === 'active' ? 'pause' : 'play'}
                  label={rule.status === 'active' ? 'Pause' : 'Resume'}
                  onClick={() => toggle(rule)}
                />
                <Button
                  size="small"
                  kind="danger"
                  icon="trash"
                  label="Delete"
                  onClick={() => void change(() => client.mailRules.delete(handle, rule.id), 'The rule is deleted')}
                />
              </span>
            ),
        },
      ]}
    />
  )
}

const actions = [
  { value: 'block', label: 'Block' },
  { value: 'allow', label: 'Allow' },
] as const
const directions = [
  { value: 'inbound', label: 'Mail to the agent' },
  { value: 'outbound', label: 'Mail from the agent' },
  { value: 'both', label: 'Both directions' },
] as const

function AddDialog({ handle, onClose }: { handle: string; onClose: () => void }) {
  const [entry, setEntry] = useState('')
  const [action, setAction] = useState<'allow' | 'block'>('block')
  const [direction, setDirection] = useState<'inbound' | 'outbound' | 'both'>('inbound')
  const [reason, setReason] = useState('')
  const add = async () => {
    await client.mailRules.create(handle, { direction, action, entry: entry.trim(), ...(reason ? { reason } : {}) })
    invalidate('rules')
  }
  return (
    <FormDialog
      title={`Rule for ${handle}`}
      action="Add"
      done="The rule is added"
      isDisabled={entry.trim() === ''}
      onSubmit={add}
      onClose={onClose}
    >
      <Select label="Action" value={action} options={actions} onChange={setAction} />
      <TextField
        label="Address or domain"
        value={entry}
        onInput={setEntry}
        hint="A domain includes its subdomains."
        required
        autoFocus
        isMono
      />
      <Select label="Direction" value={direction} options={directions} onChange={setDirection} />
      <TextField label="Reason" value={reason} onInput={setReason} />
    </FormDialog>
  )
}
