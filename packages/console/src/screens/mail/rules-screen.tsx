// Mail rules of every agent and of single ones, and the suppression list of the organization.

import { everyAgent } from '@callsign/contract/mail-rules'
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
import { attempt, toast } from '../../elements/toasts.tsx'
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

/** Rules of more agents are read one agent at a time. */
const mergedAgentsMax = 50

const listOf = (owner: string): Promise<MailRule[]> => listAll((page) => client.mailRules.list(owner, page))

/** The rules of every agent first, then those of single agents, newest first. */
async function loadRules(owner: string, handles: string[]): Promise<MailRule[]> {
  if (owner !== '') return listOf(owner)
  const owners = [everyAgent, ...(handles.length > mergedAgentsMax ? [] : handles)]
  return (await Promise.all(owners.map(listOf))).flat()
}

function Rules({ identities }: { identities: Identity[] }) {
  const handles = identities.map((identity) => identity.agent_handle)
  const owner = place.value.query.get('agent') ?? ''
  const rules = useQuery(`rules ${owner} ${handles.length}`, () => loadRules(owner, handles))
  const [isAdding, setAdding] = useState(false)
  const change = async (work: () => Promise<unknown>, done?: string) => {
    if (await attempt(work, done)) invalidate('rules')
  }
  const add = canOperate.value && (
    <Button kind="primary" icon="plus" onClick={() => setAdding(true)}>
      Add rule
    </Button>
  )
  return (
    <div class="stack">
      <div class="row wrap">
        <Select
          label="Agent"
          isLabelHidden
          value={owner}
          options={[{ value: '', label: 'All rules' }, ...ownersOf(handles)]}
          onChange={(agent) => setQuery({ agent })}
        />
        {rules.data.value?.length !== 0 && add}
      </div>
      {owner === '' && handles.length > mergedAgentsMax && <p class="faint">Choose an agent to see the rules of it alone.</p>}
      <Loaded query={rules}>
        {(all) =>
          all.length === 0 ? (
            <Empty icon="rules" title="No rules yet" samples={samples} action={add}>
              A rule blocks or allows the mail of an address or a domain.
            </Empty>
          ) : (
            <RuleTable rules={all} change={change} />
          )
        }
      </Loaded>
      {isAdding && <AddDialog owner={owner || everyAgent} handles={handles} onClose={() => setAdding(false)} />}
    </div>
  )
}

const ownersOf = (handles: string[]) => [{ value: everyAgent, label: 'Every agent' }, ...handles.map((value) => ({ value, label: value }))]

type RuleTableProps = { rules: MailRule[]; change: (work: () => Promise<unknown>, done?: string) => Promise<void> }

function RuleTable({ rules, change }: RuleTableProps) {
  const ownerOf = (rule: MailRule): string => rule.agent_handle ?? everyAgent
  const toggle = (rule: MailRule) => {
    const status = rule.status === 'active' ? ('paused' as const) : ('active' as const)
    void change(
      () => client.mailRules.update(ownerOf(rule), rule.id, { status }),
      status === 'active' ? 'The rule is active' : 'The rule is paused',
    )
  }
  const restore = (rule: MailRule) => {
    const { direction, action, entry, reason, status } = rule
    return change(() => client.mailRules.create(ownerOf(rule), { direction, action, entry, reason, status }), 'The rule is back')
  }
  const remove = (rule: MailRule) =>
    change(async () => {
      // The list may be older than a change of the rule.
      const current = await client.mailRules.get(ownerOf(rule), rule.id)
      await client.mailRules.delete(ownerOf(rule), rule.id)
      toast({ text: 'The rule is deleted', action: { label: 'Undo', run: () => void restore(current) } })
    })
  return (
    <Table
      name="Mail rules"
      items={rules}
      keyOf={(rule) => rule.id}
      columns={[
        { title: 'Action', cell: (rule) => <Badge tone={rule.action === 'allow' ? 'good' : 'bad'}>{rule.action}</Badge> },
        { title: 'Address or domain', cell: (rule) => <span class="mono">{rule.entry}</span> },
        { title: 'Agent', cell: (rule) => rule.agent_handle ?? <span class="muted">every agent</span> },
        { title: 'Direction', cell: (rule) => directionTexts[rule.direction] },
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
                <Button size="small" kind="danger" icon="trash" label="Delete" onClick={() => void remove(rule)} />
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

const directionTexts: Record<MailRule['direction'], string> = { inbound: 'to the agent', outbound: 'from the agent', both: 'both' }

type AddProps = { owner: string; handles: string[]; onClose: () => void }

function AddDialog({ owner, handles, onClose }: AddProps) {
  const [agent, setAgent] = useState(owner)
  const [entry, setEntry] = useState('')
  const [action, setAction] = useState<'allow' | 'block'>('block')
  const [direction, setDirection] = useState<'inbound' | 'outbound' | 'both'>('inbound')
  const [reason, setReason] = useState('')
  const add = async () => {
    await client.mailRules.create(agent, { direction, action, entry: entry.trim(), ...(reason ? { reason } : {}) })
    invalidate('rules')
  }
  return (
    <FormDialog
      title="New rule"
      conflictPath="/entry"
      action="Add"
      done="The rule is added"
      isDisabled={entry.trim() === ''}
      onSubmit={add}
      onClose={onClose}
    >
      <Select label="Agent" value={agent} options={ownersOf(handles)} onChange={setAgent} />
      <Select label="Action" path="/action" value={action} options={actions} onChange={setAction} />
      <TextField
        label="Address or domain"
        path="/entry"
        value={entry}
        onInput={setEntry}
        hint="A domain includes its subdomains."
        required
        autoFocus
        isMono
      />
      <Select label="Direction" path="/direction" value={direction} options={directions} onChange={setDirection} />
      <TextField label="Reason" path="/reason" value={reason} onInput={setReason} />
    </FormDialog>
  )
}
