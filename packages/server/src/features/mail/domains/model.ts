// The custom domain: its row, the names that may be one, and what an inspection of its records makes of it.
import { type DnsRecord, type Domain, domainCharactersMax } from '@callsign/contract/domains'
import type { Static } from 'typebox'
import { toDomainName } from '../../../core/domain-name.ts'

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
  created_at: Date
  updated_at: Date
}

/** What a look at the records came to; `undecided`: the provider has not made up its mind. `notes` say what was found, one for each record, or null. */
export type Inspection = { verdict: 'verified' | 'incomplete' | 'undecided'; records: DomainRecord[]; notes: (string | null)[] }

/** The job that takes a deleted domain off its provider; its subject is `provider id`. */
export const unregisterJob = 'domain.unregister'

/** Records must be wrong for this long before a verified domain fails, so that an outage of its DNS over a weekend changes nothing. */
export const failingMsMax = 72 * 3_600_000
export const domainsMax = 1000

/** What is wrong with a name that is to be registered, as a sentence; null when it is well formed. `mailDomain` is everybody's. */
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
    created_at: row.created_at.toISOString(),
    updated_at: row.updated_at.toISOString(),
  }
}

/** What of a domain an inspection may change. */
export type Standing = Pick<DomainRow, 'status' | 'dns_records' | 'verified_at' | 'failing_since' | 'check_at'>

type Look = {
  /** `asked`: somebody wants to know now, and what is incomplete fails. `background`: a verified domain has 72 hours. */
  by: 'asked' | 'background'
  at: Date
  /** When a domain that is verified is looked at next. */
  nextCheckAt: Date
}

/** The status of a domain after an inspection. */
export function standingAfter(row: Standing, inspection: Inspection, look: Look): Standing {
  const { at, nextCheckAt: check_at } = look
  const dns_records = inspection.records
  const verified = { status: 'verified', dns_records, verified_at: row.verified_at ?? at, check_at } as const
  if (inspection.verdict === 'verified') return { ...verified, failing_since: null }
  if (row.status === 'verified') {
    // A provider that thinks it over has not said that anything is wrong.
    if (inspection.verdict === 'undecided') return { ...verified, failing_since: row.failing_since }
    const failing_since = row.failing_since ?? at
    if (look.by === 'background' && at.getTime() - failing_since.getTime() < failingMsMax) return { ...verified, failing_since }
  }
  return { status: 'failed', dns_records, verified_at: null, failing_since: null, check_at: null }
}

/** True when an inspection has found what was known already. Key by key, because the database orders the keys of a record in its own way. */
export function isSame(before: Standing, after: Standing): boolean {
  const textOf = ({ status, dns_records, failing_since }: Standing) =>
    JSON.stringify([
      status,
      failing_since,
      dns_records.map((one) => [one.type, one.name, one.value, one.priority, one.status, one.purpose]),
    ])
  return textOf(before) === textOf(after)
}

/** What to tell who asked for the verification: which records are not there, and what was found instead. */
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
    return `The provider has not confirmed ${row.domain} yet; verify again in a few minutes. Records that it has not confirmed: ${records}.${also}`
  return `${row.domain} is not verified. Records that are incomplete: ${records}. DNS may take a while to show a change.${also}`
}
