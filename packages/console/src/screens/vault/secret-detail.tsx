// One decrypted secret. Hidden values are revealed for a while, and copied values leave the clipboard again.
import { useEffect, useState } from 'preact/hooks'
import { useQuery } from '../../cache/query.ts'
import { Badge, Notice } from '../../elements/badge.tsx'
import { Button } from '../../elements/button.tsx'
import { Id } from '../../elements/copy.tsx'
import { Confirm } from '../../elements/dialog.tsx'
import { Failure, Loading } from '../../elements/empty.tsx'
import { Loaded } from '../../elements/loaded.tsx'
import { Time } from '../../elements/time.tsx'
import { attempt } from '../../elements/toasts.tsx'
import { loadAccess } from './access-matrix.tsx'
import { copySecret } from './clipboard.ts'
import type { ListedSecret } from './protocol.ts'
import { SecretForm } from './secret-form.tsx'
import { isKnownType, type Member, membersIn, typeLabels } from './secret-types.ts'
import { TotpRing } from './totp-ring.tsx'
import { change, vaultCalls } from './vault-worker.ts'
import { show } from './view.ts'

type DetailProps = { secret: ListedSecret; mayWrite: boolean }

export function SecretDetail({ secret, mayWrite }: DetailProps) {
  const [payload, setPayload] = useState<Record<string, unknown> | null>(null)
  const [error, setError] = useState<Error | null>(null)
  const load = () => {
    setError(null)
    vaultCalls()
      .then((calls) => calls.get(secret.id))
      .then((opened) => setPayload(opened.payload), setError)
  }
  useEffect(() => {
    if (secret.problem === null) load()
  }, [secret.id, secret.revision, secret.problem])
  return (
    <article class="secret" aria-label={secret.name}>
      <div class="only-small">
        <Button kind="quiet" icon="back" onClick={() => show({ secret: '' })}>
          All secrets
        </Button>
      </div>
      <SecretHead secret={secret} mayWrite={mayWrite} payload={payload} />
      {secret.problem !== null && (
        <Notice tone="bad">
          <p>{secret.problem}</p>
          <p>Its name and type are what the server says. Nothing of it was decrypted.</p>
        </Notice>
      )}
      {secret.problem === null && !secret.nameVerified && (
        <Notice tone="warn">
          {secret.isBound
            ? 'The server gives this secret another name than the one that was encrypted with it. The encrypted name is shown.'
            : 'This secret was stored by a client that does not bind its name. Only its values are proven.'}
        </Notice>
      )}
      {error && <Failure error={error} onRetry={load} />}
      {!payload && !error && secret.problem === null && <Loading lines={3} />}
      {payload && <Values secret={secret} payload={payload} />}
      {mayWrite && <Readers secret={secret} />}
    </article>
  )
}

function SecretHead({ secret, mayWrite, payload }: DetailProps & { payload: Record<string, unknown> | null }) {
  const [dialog, setDialog] = useState<'edit' | 'delete' | null>(null)
  const remove = async () => {
    if (await attempt(() => change((calls) => calls.remove(secret.id)), `${secret.name} is deleted`)) show({ secret: '' })
  }
  return (
    <header class="secret-head">
      <div class="grow stack">
        <div class="row">
          <h1 class="truncate">{secret.name}</h1>
          <Badge>{isKnownType(secret.type) ? typeLabels[secret.type] : secret.type}</Badge>
        </div>
        {secret.description && <p class="muted">{secret.description}</p>}
        <p class="row faint">
          <Id id={secret.id} />
          <span>
            revision {secret.revision}, changed <Time at={secret.updatedAt} />
          </span>
        </p>
      </div>
      {mayWrite && (
        <div class="row">
          {payload && isKnownType(secret.type) && (
            <Button icon="edit" onClick={() => setDialog('edit')}>
              Edit
            </Button>
          )}
          <Button kind="danger" icon="trash" label="Delete" onClick={() => setDialog('delete')} />
        </div>
      )}
      {dialog === 'edit' && payload && <SecretForm known={{ secret, payload }} onClose={() => setDialog(null)} />}
      {dialog === 'delete' && (
        <Confirm
          title={`Delete ${secret.name}?`}
          text="The ciphertext and its grants are deleted. Copies remain in backups. This cannot be undone."
          action="Delete"
          isDanger
          onConfirm={() => void remove()}
          onClose={() => setDialog(null)}
        />
      )}
    </header>
  )
}

/** The agents that get the ciphertext. People need the vault key alone. */
function Readers({ secret }: { secret: ListedSecret }) {
  const access = useQuery('vault-access', loadAccess)
  return (
    <section class="stack" aria-label="Readers">
      <div class="row wrap">
        <h2 class="grow">Readers</h2>
        <Button size="small" icon="edit" onClick={() => show({ tab: 'access' })}>
          Change access
        </Button>
      </div>
      <p class="muted">Owners and operators with the vault key.</p>
      <Loaded query={access}>
        {({ grants }) => {
          const agents = grants[secret.id] ?? []
          if (agents.length === 0) return <p class="muted">No agent.</p>
          return (
            <span class="row wrap">
              {agents.map((agent) => (
                <Badge key={agent.identityId} tone="accent">
                  {agent.agentHandle}
                </Badge>
              ))}
            </span>
          )
        }}
      </Loaded>
    </section>
  )
}

function Values({ secret, payload }: { secret: ListedSecret; payload: Record<string, unknown> }) {
  return (
    <>
      {typeof payload.totp === 'string' && payload.totp !== '' && <TotpRing id={secret.id} />}
      <dl class="values">
        {membersIn(secret.type, payload).map((member) => (
          <Value key={member.name} member={member} value={payload[member.name]} />
        ))}
      </dl>
    </>
  )
}

/** A revealed value is hidden again after this time. */
export const revealedMs = 30_000

function Value({ member, value }: { member: Member; value: unknown }) {
  const [isRevealed, setRevealed] = useState(false)
  useEffect(() => {
    if (!isRevealed) return
    const timer = setTimeout(() => setRevealed(false), revealedMs)
    return () => clearTimeout(timer)
  }, [isRevealed])
  const text = typeof value === 'string' ? value : JSON.stringify(value)
  const name = member.label.toLowerCase()
  const isShown = !member.isHidden || isRevealed
  return (
    <div class="value">
      <dt>{member.label}</dt>
      <dd>
        {isShown ? <ValueText member={member} text={text} /> : <span class="concealed">••••••••••••</span>}
        <span class="value-actions">
          {member.isHidden && (
            <Button size="small" onClick={() => setRevealed(!isRevealed)}>
              {isRevealed ? 'Hide' : 'Reveal'}
              <span class="visually-hidden"> {name}</span>
            </Button>
          )}
          <Button size="small" icon="copy" label={`Copy ${name}`} onClick={() => void copySecret(text, name)} />
        </span>
      </dd>
    </div>
  )
}

function ValueText({ member, text }: { member: Member; text: string }) {
  if (member.isLong) return <pre class="pre grow">{text}</pre>
  return <span class={`grow${member.isHidden ? ' mono' : ''} value-text`}>{text}</span>
}
