// One domain with its DNS records: the wanted value, the one that was found, and what to do.
import type { DnsRecord, Domain } from '@callsign/sdk'
import { useState } from 'preact/hooks'
import { forget, invalidate, useQuery } from '../../cache/query.ts'
import { Badge, Notice } from '../../elements/badge.tsx'
import { Button } from '../../elements/button.tsx'
import { Copy, WholeValue } from '../../elements/copy.tsx'
import { Confirm } from '../../elements/dialog.tsx'
import { Facts } from '../../elements/facts.tsx'
import { Loaded } from '../../elements/loaded.tsx'
import { Screen } from '../../elements/screen.tsx'
import { Time } from '../../elements/time.tsx'
import { attempt, toast } from '../../elements/toasts.tsx'
import { addressOf, go } from '../../navigation/place.ts'
import { client } from '../../session/client.ts'
import { canOperate } from '../../session/session.ts'
import { DefaultBadge, domainTones, isLocalName } from './domain-state.tsx'

export function DomainDetail({ id }: { id: string }) {
  const domain = useQuery(`domains ${id}`, () => client.domains.get(id))
  const [isDeleting, setDeleting] = useState(false)
  const remove = async () => {
    if (!(await attempt(() => client.domains.delete(id, { force: true }), 'Deleted'))) return
    forget(`domains ${id}`)
    invalidate('domains', 'overview')
    go(addressOf('/domains'))
  }
  const actions = canOperate.value && domain.data.value && <Actions domain={domain.data.value} onDelete={() => setDeleting(true)} />
  return (
    <Screen title={domain.data.value?.domain ?? 'Domain'} actions={actions} back={{ href: addressOf('/domains'), label: 'All domains' }}>
      <Loaded query={domain}>{(data) => <Records domain={data} />}</Loaded>
      {isDeleting && (
        <Confirm
          title="Delete this domain?"
          text="Its mailboxes move to the mail domain of the server. Mail to their old addresses is refused."
          action="Delete"
          isDanger
          onConfirm={() => void remove()}
          onClose={() => setDeleting(false)}
        />
      )}
    </Screen>
  )
}

function Actions({ domain: { id, status, is_default: isDefault }, onDelete }: { domain: Domain; onDelete: () => void }) {
  const [isChecking, setChecking] = useState(false)
  const changed = () => invalidate('domains', 'overview')
  const verify = async () => {
    setChecking(true)
    await attempt(async () => {
      const checked = await client.domains.verify(id)
      // The screen shows the records that fail.
      if (checked.domain.status === 'verified') toast({ text: checked.message })
      else toast({ text: `${checked.domain.domain} is not verified yet`, tone: 'bad' })
    })
    setChecking(false)
    changed()
  }
  const makeDefault = async () => {
    if (await attempt(() => client.domains.setDefault(id), 'New identities are on this domain')) changed()
  }
  return (
    <>
      <Button kind="primary" icon="refresh" disabled={isChecking} onClick={() => void verify()}>
        {isChecking ? 'Checking' : 'Check now'}
      </Button>
      <Button icon="download" onClick={() => void downloadZone(id)}>
        Zone file
      </Button>
      {status === 'verified' && !isDefault && <Button onClick={() => void makeDefault()}>Make default</Button>}
      <Button kind="danger" icon="trash" label="Delete" onClick={onDelete} />
    </>
  )
}

async function downloadZone(id: string): Promise<void> {
  await attempt(async () => {
    const link = document.createElement('a')
    link.href = URL.createObjectURL(new Blob([await client.domains.zoneFile(id)], { type: 'text/plain' }))
    link.download = 'domain.zone'
    link.click()
    URL.revokeObjectURL(link.href)
  })
}

function Records({ domain }: { domain: Domain }) {
  const localHost = domain.dns_records.find((record) => record.type === 'MX' && isLocalName(record.value))?.value
  return (
    <div class="stack">
      <div class="row wrap">
        <Badge tone={domainTones[domain.status]}>{domain.status}</Badge>
        <DefaultBadge domain={domain} />
      </div>
      {domain.failing_since && (
        <Notice tone="bad">
          The records have been wrong since <Time at={domain.failing_since} form="exact" />.
        </Notice>
      )}
      {localHost && (
        <Notice tone="warn">
          Do not publish these records yet. Mail would go to {localHost}, a local name that other mail servers cannot find. Set{' '}
          <code>CALLSIGN_MAIL_DOMAIN</code> to a public name, start the server again, and add the domain again.
        </Notice>
      )}
      <Progress records={domain.dns_records} />
      <ul class="records" aria-label="DNS records">
        {domain.dns_records.map((record) => (
          <Record key={`${record.type} ${record.name} ${record.value}`} record={record} />
        ))}
      </ul>
    </div>
  )
}

/** The number of required records that are still to be published. */
function Progress({ records }: { records: DnsRecord[] }) {
  const required = records.filter((record) => record.required)
  const left = required.filter((record) => record.status !== 'valid').length
  if (left === 0) return <p>All required records are published.</p>
  const isUnchecked = required.every((record) => record.status === 'pending')
  return (
    <p>
      {isUnchecked
        ? 'Publish these records at your DNS host, then check them.'
        : `${left} of ${required.length} required records are missing or wrong.`}{' '}
      Changes at the DNS host can take minutes to arrive.
    </p>
  )
}

const purposes: Record<string, string> = {
  mx: 'Brings the mail of the domain to this server',
  spf: 'Permits this server to send for the domain',
  dkim: 'Lets others check the signature of sent mail',
  ownership: 'Proves that the domain is yours',
  dmarc: 'Asks other servers for reports about forged mail',
  tls_rpt: 'Asks other servers for reports about encryption',
}

const notFound = 'not found'

function Record({ record }: { record: DnsRecord }) {
  const { type, name, value, priority, status, purpose, required, note } = record
  const isMissing = note === notFound
  return (
    <li class="card record" aria-label={`${type} ${name}`}>
      <header>
        <Badge tone={required || status !== 'failed' ? domainTones[status] : 'warn'}>{status}</Badge>
        <h2>{type}</h2>
        <span class="grow muted">{purposes[purpose] ?? purpose}</span>
        <span class="faint">{required ? 'required' : 'recommended'}</span>
      </header>
      <div class="body">
        <Facts
          items={[
            ['Name', <Copy key="name" value={name} name="name" />],
            ...(priority === undefined ? [] : ([['Priority', priority]] as [string, number][])),
            ['Wanted', <WholeValue key="value" value={value} name="value" />],
            ...(status === 'failed'
              ? ([['Found', isMissing ? 'Nothing at this name' : (note ?? 'Another value')]] as [string, string][])
              : []),
            ...(status === 'valid' ? [] : ([['To do', todoOf(record, isMissing)]] as [string, string][])),
          ]}
        />
      </div>
    </li>
  )
}

function todoOf({ type, status, note }: DnsRecord, isMissing: boolean): string {
  if (status === 'pending') return `Add this ${type} record at your DNS host.`
  if (isMissing) return `Add this ${type} record at your DNS host. If you have added it, wait some minutes and check again.`
  if (note?.startsWith('mail goes to others first')) return 'Remove the other MX records, or give this one the lowest priority.'
  return `Change the ${type} record at this name to the wanted value.`
}
