// Creates or changes a secret. A secret that was changed elsewhere in the meantime is not overwritten silently.
import type { NewSecret, SecretType } from '@callsign/sdk'
import { useState } from 'preact/hooks'
import { Notice } from '../../elements/badge.tsx'
import { Button } from '../../elements/button.tsx'
import { Dialog } from '../../elements/dialog.tsx'
import { Select, TextField } from '../../elements/fields.tsx'
import { Form } from '../../elements/form.tsx'
import { toast } from '../../elements/toasts.tsx'
import { codeOf } from './calls.ts'
import { MemberField } from './member-field.tsx'
import type { ListedSecret } from './protocol.ts'
import { isKnownType, membersOf, secretTypes, typeLabels } from './secret-types.ts'
import { change, vaultCalls } from './vault-worker.ts'
import { show } from './view.ts'

type Known = { secret: ListedSecret; payload: Record<string, unknown> }

type Fields = { type: SecretType; name: string; description: string; members: Record<string, string> }

const typeOptions = secretTypes.map((type) => ({ value: type, label: typeLabels[type] }))

function fieldsOf(known: Known | null): Fields {
  if (!known || !isKnownType(known.secret.type)) return { type: 'login', name: '', description: '', members: {} }
  const { secret, payload } = known
  const members = Object.fromEntries(Object.entries(payload).filter((entry): entry is [string, string] => typeof entry[1] === 'string'))
  return { type: secret.type as SecretType, name: secret.name, description: secret.description ?? '', members }
}

/** Stores the fields, as a new secret or as a change. Empty optional members are left out or removed. */
async function store(fields: Fields, known: Known | null): Promise<void> {
  const { type, name, members } = fields
  const description = fields.description.trim() || null
  const wanted = membersOf(type).map(({ name: member, isRequired }): [string, string | null] => [
    member,
    members[member] || (isRequired ? '' : null),
  ])
  if (known) {
    await change((calls) => calls.update(known.secret.id, { name, description, payload: Object.fromEntries(wanted) }))
    return
  }
  const payload = Object.fromEntries(wanted.filter(([, value]) => value !== null))
  const { createdId } = await change((calls) => calls.create({ type, name, description, payload } as unknown as NewSecret))
  show({ secret: createdId })
}

/** The fields with their submission. `base` is the version that the change starts from. */
function useSecretForm(known: Known | null, onClose: () => void) {
  const [base, setBase] = useState(known)
  const [fields, setFields] = useState(() => fieldsOf(known))
  const [isBusy, setBusy] = useState(false)
  const [isConflict, setConflict] = useState(false)
  const submit = async () => {
    try {
      await store(fields, base)
      toast({ text: `${fields.name} is stored` })
      onClose()
    } catch (reason) {
      if (codeOf(reason) !== 'vault_secret_conflict') throw reason
      setConflict(true)
    }
  }
  /** Continues on their version, with their values or with these. */
  const resolve = (current: Known, isMine: boolean) => {
    setBase(current)
    if (!isMine) setFields(fieldsOf(current))
    setConflict(false)
  }
  const isComplete =
    fields.name.trim() !== '' && membersOf(fields.type).every(({ name, isRequired }) => !isRequired || fields.members[name])
  return { fields, setFields, submit, setBusy, resolve, isConflict, isDisabled: isBusy || isConflict || !isComplete }
}

export function SecretForm({ known, onClose }: { known: Known | null; onClose: () => void }) {
  const { fields, setFields, submit, setBusy, resolve, isConflict, isDisabled } = useSecretForm(known, onClose)
  const footer = (
    <>
      <Button onClick={onClose}>Cancel</Button>
      <Button kind="primary" type="submit" form="secret-form" disabled={isDisabled}>
        Save
      </Button>
    </>
  )
  return (
    <Dialog title={known ? `Edit ${known.secret.name}` : 'New secret'} footer={footer} onClose={onClose}>
      <Form id="secret-form" onSubmit={submit} onBusy={setBusy}>
        {isConflict && known && <Conflict id={known.secret.id} onCurrent={resolve} />}
        <SecretFields fields={fields} isNew={known === null} onChange={(change) => setFields({ ...fields, ...change })} />
      </Form>
    </Dialog>
  )
}

type SecretFieldsProps = { fields: Fields; isNew: boolean; onChange: (change: Partial<Fields>) => void }

function SecretFields({ fields, isNew, onChange }: SecretFieldsProps) {
  const { type, name, description, members } = fields
  return (
    <>
      {isNew && <Select label="Type" path="/type" value={type} options={typeOptions} onChange={(next) => onChange({ type: next })} />}
      <TextField
        label="Name"
        path="/name"
        value={name}
        onInput={(next) => onChange({ name: next })}
        hint="Not hidden from the server."
        required
        autoFocus
      />
      <TextField
        label="Description"
        path="/description"
        value={description}
        onInput={(next) => onChange({ description: next })}
        hint="Not encrypted. Put nothing secret here."
      />
      {membersOf(type).map((member) => (
        <MemberField
          key={`${type} ${member.name}`}
          member={member}
          type={type}
          value={members[member.name] ?? ''}
          onInput={(value) => onChange({ members: { ...members, [member.name]: value } })}
        />
      ))}
    </>
  )
}

type ConflictProps = { id: string; onCurrent: (current: Known, isMine: boolean) => void }

/** Loads the version of the other person and lets this one choose. */
function Conflict({ id, onCurrent }: ConflictProps) {
  const [error, setError] = useState<string | null>(null)
  const choose = async (isMine: boolean) => {
    try {
      const opened = await change((calls) => calls.refresh())
      const secret = opened.secrets.find((one) => one.id === id)
      if (!secret) throw new Error('The secret was deleted in the meantime. Copy your values, and create it again.')
      const { payload } = await (await vaultCalls()).get(id)
      onCurrent({ secret, payload }, isMine)
    } catch (reason) {
      setError(reason instanceof Error ? reason.message : String(reason))
    }
  }
  return (
    <div role="alert">
      <Notice tone="warn">
        <p>Someone else has changed this secret since you opened it. Nothing was stored.</p>
        {error && <p>{error}</p>}
        <div class="row wrap">
          <Button onClick={() => void choose(false)}>Show their version</Button>
          <Button onClick={() => void choose(true)}>Keep mine</Button>
        </div>
      </Notice>
    </div>
  )
}
