// The list of secrets with search, beside the selected one.
import { useRef, useState } from 'preact/hooks'
import { Badge } from '../../elements/badge.tsx'
import { Button } from '../../elements/button.tsx'
import { Empty } from '../../elements/empty.tsx'
import { Select, TextField } from '../../elements/fields.tsx'
import { samplesOf } from '../../elements/samples.ts'
import { attempt } from '../../elements/toasts.tsx'
import { VirtualList } from '../../elements/virtual-list.tsx'
import { useShortcuts } from '../../navigation/shortcuts.ts'
import type { ListedSecret, OpenedVault } from './protocol.ts'
import { SecretDetail } from './secret-detail.tsx'
import { SecretForm } from './secret-form.tsx'
import { isKnownType, secretTypes, typeLabels } from './secret-types.ts'
import { caller, change } from './vault-worker.ts'
import { show, view } from './view.ts'

const rowHeight = 56

const typeOptions = [{ value: '', label: 'All types' }, ...secretTypes.map((type) => ({ value: type as string, label: typeLabels[type] }))]

/** True when every word is in the name, the description or the id. */
function isFound({ name, description, id, type }: ListedSecret, search: string, wanted: string): boolean {
  const text = `${name} ${description ?? ''} ${id}`.toLowerCase()
  return (
    (wanted === '' || type === wanted) &&
    search
      .toLowerCase()
      .split(/\s+/)
      .every((word) => text.includes(word))
  )
}

export function SecretsTab({ opened }: { opened: OpenedVault }) {
  const { search, type, secret: id } = view.value
  const [isCreating, setCreating] = useState(false)
  const list = useRef<HTMLDivElement>(null)
  const mayWrite = caller.value?.role !== 'agent'
  const found = opened.secrets.filter((one) => isFound(one, search, type))
  const selected = opened.secrets.find((one) => one.id === id)
  const at = found.findIndex((one) => one.id === id)
  const step = (by: number) => show({ secret: found[Math.min(Math.max(at + by, 0), found.length - 1)]?.id ?? '' })
  /** Enter in the search opens the first secret, and gives the keys back to the list. */
  const openFirst = (event: Event) => {
    event.preventDefault()
    if (at < 0) step(1)
    list.current?.querySelector<HTMLInputElement>('input[type="search"]')?.blur()
  }
  useShortcuts('Secrets', [
    { keys: 'j', label: 'Next secret', run: () => step(1) },
    { keys: 'k', label: 'Previous secret', run: () => step(at < 0 ? 1 : -1) },
    { keys: '/', label: 'Search', run: () => list.current?.querySelector<HTMLInputElement>('input[type="search"]')?.focus() },
    { keys: 'c', label: 'New secret', run: () => mayWrite && setCreating(true) },
  ])
  return (
    <div class={`split vault-split${selected ? ' has-open' : ''}`}>
      <div class="split-list vault-list" ref={list}>
        <Filter onSubmit={openFirst} onCreate={mayWrite ? () => setCreating(true) : null} />
        {found.length === 0 ? (
          <p class="vault-none">{opened.secrets.length === 0 ? 'No secrets.' : 'No secret matches.'}</p>
        ) : (
          <VirtualList
            name="Secrets"
            count={found.length}
            rowHeight={rowHeight}
            selected={at}
            keyOf={(index) => found[index]?.id ?? ''}
            row={(index) => <SecretRow secret={found[index] as ListedSecret} isSelected={index === at} />}
          />
        )}
      </div>
      <div class="split-open">
        {selected ? (
          <SecretDetail key={selected.id} secret={selected} mayWrite={mayWrite} />
        ) : (
          <NoSecret opened={opened} onCreate={() => setCreating(true)} />
        )}
      </div>
      {isCreating && <SecretForm known={null} onClose={() => setCreating(false)} />}
    </div>
  )
}

/** `onCreate` is null for an agent. */
function Filter({ onSubmit, onCreate }: { onSubmit: (event: Event) => void; onCreate: (() => void) | null }) {
  const { search, type } = view.value
  return (
    // biome-ignore lint/a11y/useSemanticElements: the element <search> does not submit
    <form class="vault-filter" role="search" onSubmit={onSubmit}>
      <TextField
        label="Search"
        isLabelHidden
        type="search"
        placeholder="Search"
        value={search}
        onInput={(text) => show({ search: text })}
      />
      <Select label="Type" isLabelHidden value={type} options={typeOptions} onChange={(next) => show({ type: next })} />
      {onCreate && (
        <Button icon="plus" kind="primary" onClick={onCreate}>
          New secret
        </Button>
      )}
      <Button icon="refresh" kind="quiet" label="Load again" onClick={() => void attempt(() => change((calls) => calls.refresh()))} />
    </form>
  )
}

function SecretRow({ secret, isSelected }: { secret: ListedSecret; isSelected: boolean }) {
  return (
    <button type="button" class="vault-row" aria-current={isSelected ? 'true' : undefined} onClick={() => show({ secret: secret.id })}>
      <span class="row">
        <strong class="truncate grow">{secret.name}</strong>
        {secret.problem ? <Badge tone="bad">unreadable</Badge> : !secret.nameVerified && <Badge tone="warn">unverified name</Badge>}
        <Badge>{isKnownType(secret.type) ? typeLabels[secret.type] : secret.type}</Badge>
      </span>
      <span class="faint truncate">{secret.description ?? ''}</span>
    </button>
  )
}

function NoSecret({ opened, onCreate }: { opened: OpenedVault; onCreate: () => void }) {
  if (opened.secrets.length > 0) return <Empty icon="vault" title="Choose a secret" />
  const isAgent = caller.value?.role === 'agent'
  if (isAgent) return <Empty icon="vault" title="No secret is granted to this agent" />
  const create = (
    <Button kind="primary" icon="plus" onClick={onCreate}>
      Store a secret
    </Button>
  )
  const samples = samplesOf({
    method: 'POST',
    path: '/vault/secrets',
    body: { type: 'api_key', name: 'payments', encrypted_payload: '…' },
    sdk: "const vault = await callsign.vault.unlock(vaultKey)\nawait vault.create({ type: 'api_key', name: 'payments', payload: { api_key } })",
    cli: 'callsign vault set payments --type api_key --value-file -',
  })
  return (
    <Empty icon="vault" title="No secrets yet" samples={samples} action={create}>
      Store a password, an API key or an SSH key, and grant it to the agents that need it.
    </Empty>
  )
}
