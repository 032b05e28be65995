// The custom domain: its row, valid names, and its status after an inspection of its records.
import { type DnsRecord, type Domain, domainCharactersMax } from '@callsign/contract/domains'
import type { Static } from 'typebox'
import { toDomainName } from '../../../core/domain-name.ts'
import { ApiError } from '../../../core/errors.ts'
import type { Tx } from '../../../core/sql.ts'

export type DomainRecord = Static<typeof DnsRecord>
export type DomainStatus = 'pending' | 'verified' | 'failed'

export type DomainRow = {
  id: string
  organization_id: string
  domain: string
  status: DomainStatus
  is_default: boolean
  /** Mail at the name is this organization's. */
  holds_name: boolean
  provider: string
  provider_domain_id: string | null
  dns_records: DomainRecord[]
  verified_at: Date | null
  failing_since: Date | null
  check_at: Date | null
  client_id: string | null
  created_at: Date
  updated_at: Date
}

/** The result of inspecting the records. `undecided`: the provider has not decided yet. `notes` has one entry per record: the value found, or null. */
export type Inspection = { verdict: 'verified' | 'incomplete' | 'undecided'; records: DomainRecord[]; notes: (string | null)[] }

export type ReportKind = 'dmarc' | 'tls'

/** The local parts that take reports at every domain. */
export const reportParts: Record<ReportKind, string> = { dmarc: 'dmarc-reports', tls: 'tls-reports' }

/** The recommended records that ask other mail servers for reports. The DMARC policy asks for no refusals: that is the owner's choice. */
export const reportRecords = (domain: string): DomainRecord[] => {
  const record = { type: 'TXT', status: 'pending', required: false } as const
  return [
    { ...record, purpose: 'dmarc', name: `_dmarc.${domain}`, value: `v=DMARC1; p=none; rua=mailto:${reportParts.dmarc}@${domain}` },
    { ...record, purpose: 'tls_rpt', name: `_smtp._tls.${domain}`, value: `v=TLSRPTv1; rua=mailto:${reportParts.tls}@${domain}` },
  ]
}

/** The job that removes a deleted domain from its provider. Its subject is `provider id`. */
export const unregisterJob = 'domain.unregister'

/** A verified domain fails only after its records were wrong for this long, so that a DNS outage over a weekend changes nothing. */
export const failingMsMax = 72 * 3_600_000
export const domainsMax = 1000

/** The reason why a name cannot be registered, as the end of a sentence. Null for a valid name. Every organization shares `mailDomain`. */
export function findNameProblem(text: string, mailDomain: string): string | null {
  if (/[/:@?#\s\\]/.test(text)) return 'has to be the bare name, such as mail.example.com: no protocol, port, path or @'
  if (text.endsWith('.')) return 'has to be without the dot at its end'
  const name = toDomainName(text)
  if (name === null) return 'has to be a domain name, such as mail.example.com'
  if (name !== text) return `has to be in lower case and plain ASCII: write it as ${name}`
  if (name.length > domainCharactersMax) return `has to have at most ${domainCharactersMax} characters`
  const labels = name.split('.')
  if (labels.length < 2) return 'has to have at least two labels, such as example.com'
  if (/^\d+$/.test(labels.at(-1) as string)) return 'has to be a name, not an address'
  if (name === mailDomain) return 'is the mail domain of this server, which every identity may use as it is'
  return null
}

export function toDomain(row: DomainRow): Static<typeof Domain> {
  return {
    id: row.id,
    domain: row.domain,
    status: row.status,
    is_default: row.is_default,
    provider: row.provider,
    provider_domain_id: row.provider_domain_id,
    dns_records: row.dns_records,
    verified_at: row.verified_at?.toISOString() ?? null,
    failing_since: row.failing_since?.toISOString() ?? null,
    client_id: row.client_id,
    created_at: row.created_at.toISOString(),
    updated_at: row.updated_at.toISOString(),
  }
}

export const toListed = (row: DomainRow & { mailboxes_count: number }) => ({ ...toDomain(row), mailboxes_count: row.mailboxes_count })

/** The columns of a domain that an inspection may change. */
export type StatusColumns = Pick<DomainRow, 'status' | 'dns_records' | 'verified_at' | 'failing_since' | 'check_at'>

type Look = {
  /** `asked`: a caller requested it, and incomplete records fail at once. `background`: a verified domain has 72 hours. */
  by: 'asked' | 'background'
  at: Date
  /** The next check of a verified domain. */
  nextCheckAt: Date
}

/** The records with the notes of this inspection, in place of those of the one before. */
const withNotes = ({ records, notes }: Inspection): DomainRecord[] =>
  records.map(({ note: _, ...record }, index) => (notes[index] ? { ...record, note: notes[index] } : record))

/** The status of a domain after an inspection. */
export function nextStatus(row: StatusColumns, inspection: Inspection, look: Look): StatusColumns {
  const { at, nextCheckAt: check_at } = look
  const dns_records = withNotes(inspection)
  const verified = { status: 'verified', dns_records, verified_at: row.verified_at ?? at, check_at } as const
  if (inspection.verdict === 'verified') return { ...verified, failing_since: null }
  if (row.status === 'verified') {
    // An undecided provider has not reported an error.
    if (inspection.verdict === 'undecided') return { ...verified, failing_since: row.failing_since }
    const failing_since = row.failing_since ?? at
    if (look.by === 'background' && at.getTime() - failing_since.getTime() < failingMsMax) return { ...verified, failing_since }
  }
  return { status: 'failed', dns_records, verified_at: null, failing_since: null, check_at: null }
}

/** True when an inspection changed nothing. Compares key by key, because the database reorders the keys of a record. */
export function isSame(before: StatusColumns, after: StatusColumns): boolean {
  const textOf = ({ status, dns_records, failing_since }: StatusColumns) =>
    JSON.stringify([
      status,
      failing_since,
      dns_records.map((one) => [one.type, one.name, one.value, one.priority, one.status, one.purpose, one.note]),
    ])
  return textOf(before) === textOf(after)
}

/** The domain that a request for a new identity names, if any. */
export type WantedDomain = { custom_domain_id?: string | null; domain?: string | null }

/** Moves the mailboxes whose primary address is on a domain to the mail domain. Resolves with their number. */
export type MoveMailboxes = (tx: Tx, organizationId: string, domainId: string) => Promise<number>

export const tooManyDomains = () => new ApiError('conflict', `An organization has at most ${domainsMax} domains. Delete one first.`)

/** A number of mailboxes in words. */
export const boxesOf = (count: number): string => (count === 1 ? '1 mailbox' : `${count} mailboxes`)

export const alreadyRegistered = (domain: string) => new ApiError('domain_exists', `${domain} is registered already.`)

export const verifiedElsewhere = (domain: string) =>
  new ApiError('domain_exists', `Another organization of this server has verified ${domain} and must delete it first.`)

/** The answer to a verification: the missing records, and the values found instead. */
export function toMessage(row: Pick<DomainRow, 'domain' | 'status'>, inspection: Inspection): string {
  const lines = inspection.records.flatMap((record, index) => {
    if (record.status === 'valid') return []
    const note = inspection.notes[index]
    return [{ isRequired: record.required, text: `${record.type} ${record.name}${note ? ` (${note})` : ''}` }]
  })
  const named = (isRequired: boolean) => lines.filter((line) => line.isRequired === isRequired).map((line) => line.text)
  const [missing, recommended] = [named(true), named(false)]
  const also = recommended.length > 0 ? ` Recommended as well: ${recommended.join('; ')}.` : ''
  if (inspection.verdict === 'verified') return `${row.domain} is verified.${also}`
  const records = missing.length > 0 ? missing.join('; ') : 'none is named'
  if (inspection.verdict === 'undecided')
    return `The provider has not confirmed ${row.domain} yet: verify again in a few minutes. Unconfirmed records: ${records}.${also}`
  return `${row.domain} is not verified. Records that are incomplete: ${records}. DNS may take a while to show a change.${also}`
}
