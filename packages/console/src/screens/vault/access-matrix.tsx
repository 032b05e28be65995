// Which agent may read which secret. The server enforces grants by withholding ciphertext.
import type { GrantedAgent, Identity } from '@callsign/sdk'
import { useState } from 'preact/hooks'
import { useQuery } from '../../cache/query.ts'
import { Button } from '../../elements/button.tsx'
import { Empty } from '../../elements/empty.tsx'
import { TextField } from '../../elements/fields.tsx'
import { Loaded } from '../../elements/loaded.tsx'
import { attempt } from '../../elements/toasts.tsx'
import type { ListedSecret, OpenedVault } from './protocol.ts'
import { vaultCalls } from './vault-worker.ts'

/** Rows and columns that are shown at once. Searching reaches the others. */
const rowsStep = 100
const columnsMax = 30

type Access = { grants: Record<string, GrantedAgent[]>; identities: Identity[] }

export async function loadAccess(): Promise<Access> {
  const calls = await vaultCalls()
  const [grants, identities] = await Promise.all([calls.grants(), calls.identities()])
  return { grants, identities }
}

export function AccessMatrix({ opened }: { opened: OpenedVault }) {
  const access = useQuery('vault-access', loadAccess)
  return (
    <div class="vault-tab">
      <p class="muted">
        An agent with the scope vault:read gets the ciphertext of its granted secrets, and needs the vault key to read them. A revoked agent
        keeps what it has read, so change the secret itself.
      </p>
      <Loaded query={access}>{(loaded) => <Matrix secrets={opened.secrets} access={loaded} onChange={() => access.reload()} />}</Loaded>
    </div>
  )
}

type MatrixProps = { secrets: ListedSecret[]; access: Access; onChange: () => Promise<void> }

function Matrix({ secrets, access, onChange }: MatrixProps) {
  const [search, setSearch] = useState('')
  const [agent, setAgent] = useState('')
  const [rowsMax, setRowsMax] = useState(rowsStep)
  if (secrets.length === 0) return <Empty icon="vault" title="No secrets yet" />
  if (access.identities.length === 0) return <Empty icon="identities" title="No identities yet" />
  const rows = secrets.filter(({ name }) => name.toLowerCase().includes(search.toLowerCase()))
  const columns = access.identities.filter(({ agent_handle: handle }) => handle.includes(agent.toLowerCase()))
  return (
    <>
      <div class="vault-filter">
        <TextField label="Search secrets" isLabelHidden type="search" placeholder="Search secrets" value={search} onInput={setSearch} />
        <TextField label="Search agents" isLabelHidden type="search" placeholder="Search agents" value={agent} onInput={setAgent} />
      </div>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a wide table scrolls, so it needs the keyboard */}
      <section class="table-scroll" aria-label="Grants" tabIndex={0}>
        <table class="table matrix" aria-label="Grants">
          <thead>
            <tr>
              <th scope="col">Secret</th>
              {columns.slice(0, columnsMax).map((identity) => (
                <th key={identity.id} scope="col">
                  {identity.agent_handle}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {rows.slice(0, rowsMax).map((secret) => (
              <MatrixRow
                key={secret.id}
                secret={secret}
                columns={columns.slice(0, columnsMax)}
                granted={access.grants[secret.id] ?? []}
                onChange={onChange}
              />
            ))}
          </tbody>
        </table>
      </section>
      {columns.length > columnsMax && (
        <p class="faint">
          {columnsMax} of {columns.length} agents. Search for the others.
        </p>
      )}
      {rows.length > rowsMax && <Button onClick={() => setRowsMax(rowsMax + rowsStep)}>Show {rowsStep} more</Button>}
    </>
  )
}

type RowProps = { secret: ListedSecret; columns: Identity[]; granted: GrantedAgent[]; onChange: () => Promise<void> }

function MatrixRow({ secret, columns, granted, onChange }: RowProps) {
  return (
    <tr>
      <th scope="row" class="truncate" title={secret.name}>
        {secret.name}
      </th>
      {columns.map((identity) => (
        <td key={identity.id}>
          <GrantBox
            secret={secret}
            identity={identity}
            isGranted={granted.some(({ identityId }) => identityId === identity.id)}
            onChange={onChange}
          />
        </td>
      ))}
    </tr>
  )
}

type GrantBoxProps = { secret: ListedSecret; identity: Identity; isGranted: boolean; onChange: () => Promise<void> }

function GrantBox({ secret, identity, isGranted, onChange }: GrantBoxProps) {
  /** The state that a running change is to reach. */
  const [wanted, setWanted] = useState<boolean | null>(null)
  const { agent_handle: handle } = identity
  const toggle = async () => {
    setWanted(!isGranted)
    const done = isGranted ? `${handle} can no longer read ${secret.name}` : `${handle} can read ${secret.name}`
    await attempt(async () => {
      const calls = await vaultCalls()
      await (isGranted ? calls.revoke(secret.id, identity.id) : calls.grant(secret.id, identity.id))
    }, done)
    await onChange()
    setWanted(null)
  }
  return (
    <input
      type="checkbox"
      checked={wanted ?? isGranted}
      disabled={wanted !== null}
      aria-label={`${handle} can read ${secret.name}`}
      onChange={() => void toggle()}
    />
  )
}
