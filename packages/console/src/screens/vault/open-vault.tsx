// The open vault, with a tab per task. Owners see the keys, and agents see their secrets only.
import { useEffect } from 'preact/hooks'
import { Notice } from '../../elements/badge.tsx'
import { Tabs } from '../../elements/tabs.tsx'
import { AccessLog } from './access-log.tsx'
import { AccessMatrix } from './access-matrix.tsx'
import { KeysTab } from './keys-tab.tsx'
import type { OpenedVault } from './protocol.ts'
import { SecretsTab } from './secrets-tab.tsx'
import { caller } from './vault-worker.ts'
import { show, type TabName, view } from './view.ts'

const labels: Record<TabName, string> = { secrets: 'Secrets', access: 'Access', audit: 'Audit', keys: 'Keys' }

export function OpenVault({ opened }: { opened: OpenedVault }) {
  const isAgent = caller.value?.role === 'agent'
  const names: TabName[] = isAgent ? ['secrets', 'keys'] : ['secrets', 'access', 'audit', 'keys']
  const tab = names.includes(view.value.tab) ? view.value.tab : 'secrets'
  useEffect(() => {
    document.title = `${labels[tab]} – Vault – Callsign`
  }, [tab])
  return (
    <div class="vault-open">
      {opened.missing.length > 0 && (
        <Notice tone="warn">
          The server does not return {opened.missing.length === 1 ? 'a secret' : `${opened.missing.length} secrets`} that this browser has
          seen before: <span class="mono">{opened.missing.join(', ')}</span>. They were deleted or revoked elsewhere, or the server
          withholds them. The audit log shows deletions.
        </Notice>
      )}
      <Tabs tabs={names.map((id) => ({ id, label: labels[id] }))} selected={tab} name="Vault" onSelect={(next) => show({ tab: next })}>
        {tab === 'secrets' && <SecretsTab opened={opened} />}
        {tab === 'access' && <AccessMatrix opened={opened} />}
        {tab === 'audit' && <AccessLog opened={opened} />}
        {tab === 'keys' && <KeysTab opened={opened} />}
      </Tabs>
    </div>
  )
}
