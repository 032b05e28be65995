// Unlocks, failed unlocks and changes of the vault, from the audit log.
import type { AuditEntry } from '@callsign/sdk'
import { useEffect, useState } from 'preact/hooks'
import { Badge } from '../../elements/badge.tsx'
import { Button } from '../../elements/button.tsx'
import { Id } from '../../elements/copy.tsx'
import { Empty, Failure, Loading } from '../../elements/empty.tsx'
import { Table } from '../../elements/table.tsx'
import { Time } from '../../elements/time.tsx'
import type { OpenedVault } from './protocol.ts'
import { vaultCalls } from './vault-worker.ts'

type Log = { entries: AuditEntry[]; next: string | null }

const entriesWanted = 50
const pagesMax = 10

/** Reads on until there are enough entries, because the audit log holds those of every area. */
async function readLog(known: Log): Promise<Log> {
  const calls = await vaultCalls()
  const entries = [...known.entries]
  let { next } = known
  for (let pages = 0; pages < pagesMax; pages++) {
    const page = await calls.audit(next)
    entries.push(...page.entries)
    next = page.next
    if (next === null || entries.length >= known.entries.length + entriesWanted) break
  }
  return { entries, next }
}

export function AccessLog({ opened }: { opened: OpenedVault }) {
  const [log, setLog] = useState<Log | null>(null)
  const [error, setError] = useState<Error | null>(null)
  const [isLoading, setLoading] = useState(false)
  const load = (known: Log) => {
    setLoading(true)
    setError(null)
    readLog(known)
      .then(setLog, setError)
      .finally(() => setLoading(false))
  }
  useEffect(() => load({ entries: [], next: null }), [])
  if (error) return <Failure error={error} onRetry={() => load(log ?? { entries: [], next: null })} />
  if (!log) return <Loading />
  const names = new Map(opened.secrets.map(({ id, name }) => [id, name]))
  return (
    <div class="vault-tab">
      <p class="muted">The server writes this log. Every unlock is in it, failed or not, and every change of secrets, grants and keys.</p>
      {log.entries.length === 0 ? <Empty icon="audit" title="Nothing yet" /> : <LogTable entries={log.entries} names={names} />}
      {log.next !== null && (
        <Button disabled={isLoading} onClick={() => load(log)}>
          Show older entries
        </Button>
      )}
    </div>
  )
}

function LogTable({ entries, names }: { entries: AuditEntry[]; names: Map<string, string> }) {
  return (
    <Table
      name="Access to the vault"
      items={entries}
      keyOf={(entry) => entry.id}
      columns={[
        { title: 'Time', cell: (entry) => <Time at={entry.created_at} form="exact" /> },
        { title: 'Action', cell: (entry) => <Badge tone={toneOf(entry.action)}>{wordsOf(entry.action)}</Badge> },
        {
          title: 'Object',
          cell: (entry) => entry.target_id && (names.get(entry.target_id) ?? <Id id={entry.target_id} name="object id" />),
        },
        { title: 'Agent', cell: (entry) => <AgentOf entry={entry} />, isMinor: true },
        {
          title: 'By',
          cell: (entry) => entry.actor_name ?? (entry.actor_id ? <Id id={entry.actor_id} name="actor id" /> : entry.actor_type),
          isMinor: true,
        },
      ]}
    />
  )
}

function AgentOf({ entry }: { entry: AuditEntry }) {
  const { identity_id: id } = entry.details
  return typeof id === 'string' ? <Id id={id} name="identity id" /> : null
}

/** `vault.secret_created` as "secret created". */
const wordsOf = (action: string): string => action.slice(action.indexOf('.') + 1).replaceAll('_', ' ')

const toneOf = (action: string) => (action === 'vault.unlock_failed' ? 'bad' : action === 'vault.rotated' ? 'accent' : 'neutral')
