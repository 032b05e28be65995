// The DNS records of a domain that the built-in engine serves, and the check of each against DNS.
import type { DnsAnswer, MxRecord } from '@callsign/mail/dns'
import { type DomainRecord, reportRecords } from './model.ts'

const ownershipPrefix = 'callsign-verification='
const foundCharactersMax = 120

/** The records to publish. `mailHost` receives the mail. `token` proves that the organization controls the domain's DNS. */
export function ownRecords(
  domain: string,
  more: { mailHost: string; token: string; dkim: { name: string; value: string } },
): DomainRecord[] {
  const record = (purpose: string, name: string, value: string): DomainRecord => ({
    type: 'TXT',
    name,
    value,
    status: 'pending',
    purpose,
    required: true,
  })
  return [
    { ...record('mx', domain, more.mailHost), type: 'MX', priority: 10 },
    // The host that receives the domain's mail also sends it.
    record('spf', domain, 'v=spf1 mx ~all'),
    record('dkim', more.dkim.name, more.dkim.value),
    record('ownership', `_callsign.${domain}`, `${ownershipPrefix}${more.token}`),
    ...reportRecords(domain),
  ]
}

export type Finding = { status: 'valid' | 'failed'; note: string | null }

const valid: Finding = { status: 'valid', note: null }
const wrong = (note: string): Finding => ({ status: 'failed', note })
const shown = (texts: string[]): string => {
  const text = texts.map((one) => `"${one}"`).join(', ')
  return (text.length > foundCharactersMax ? `${text.slice(0, foundCharactersMax)}…` : text).replace(/[^ -~…]/g, '?')
}
const hostOf = (name: string): string => name.toLowerCase().replace(/\.$/, '')

/** Checks that our MX record has the lowest preference, since mail goes there first (RFC 5321 §5.1). */
export function judgeMx(record: DomainRecord, answer: DnsAnswer<MxRecord>): Finding {
  if (answer.kind !== 'found') return wrong('not found')
  const ours = answer.records.filter((one) => hostOf(one.exchange) === hostOf(record.value))
  const first = Math.min(...answer.records.map((one) => one.preference))
  if (ours.some((one) => one.preference === first)) return valid
  const others = shown(answer.records.filter((one) => !ours.includes(one)).map((one) => `${one.preference} ${one.exchange}`))
  return wrong(ours.length > 0 ? `mail goes to others first: ${others}` : `found ${others}`)
}

/** Checks a TXT record by its purpose. */
export function judgeTxt(record: DomainRecord, answer: DnsAnswer<string>): Finding {
  const texts = answer.kind === 'found' ? answer.records : []
  switch (record.purpose) {
    case 'spf':
      return judgeSpf(record, texts)
    case 'dkim':
      return judgeDkim(record, texts)
    case 'dmarc':
      return judgeOne(texts, /^v=DMARC1\s*(;|$)/i, 'DMARC')
    case 'tls_rpt':
      return judgeOne(texts, /^v=TLSRPTv1\s*;/i, 'TLS-RPT')
    default:
      return judgeOwnership(record, texts)
  }
}

const spfTermsOf = (text: string): string[] => text.toLowerCase().split(' ').slice(1).filter(Boolean)

/** Requires exactly one SPF record that has our mechanism. Further mechanisms are allowed. Receivers reject several records (RFC 7208 §4.5). */
function judgeSpf(record: DomainRecord, texts: string[]): Finding {
  const policies = texts.filter((text) => /^v=spf1( |$)/i.test(text))
  if (policies.length === 0) return wrong(texts.length > 0 ? `no SPF record among ${shown(texts)}` : 'not found')
  if (policies.length > 1) return wrong(`${policies.length} SPF records, which receivers take for none: merge them into one`)
  const terms = spfTermsOf(policies[0] as string)
  const wanted = spfTermsOf(record.value).filter((term) => !term.endsWith('all'))
  // Receivers ignore terms after `all`.
  const end = terms.findIndex((term) => /^[-+~?]?all$/.test(term))
  const before = end === -1 ? terms : terms.slice(0, end)
  const missing = wanted.filter((term) => !before.some((one) => one.replace(/^\+/, '') === term))
  return missing.length === 0 ? valid : wrong(`${shown(policies)} does not have ${missing.join(' ')}`)
}

/** The tags of a DKIM or DMARC record (RFC 6376 §3.2). */
function tagsOf(text: string): Map<string, string> {
  const tags = text.split(';').flatMap((part): [string, string][] => {
    const at = part.indexOf('=')
    return at === -1 ? [] : [[part.slice(0, at).trim().toLowerCase(), part.slice(at + 1).trim()]]
  })
  return new Map(tags)
}

/** Requires exactly one key record with our key. Ignores its spacing and splitting. */
function judgeDkim(record: DomainRecord, texts: string[]): Finding {
  const keys = texts.filter((text) => tagsOf(text).has('p'))
  if (keys.length === 0) return wrong(texts.length > 0 ? `no DKIM key in ${shown(texts)}` : 'not found')
  if (keys.length > 1) return wrong(`${keys.length} DKIM keys under one name: leave only ours`)
  const [found, ours] = [tagsOf(keys[0] as string), tagsOf(record.value)]
  if ((found.get('v') ?? 'DKIM1') !== 'DKIM1') return wrong(`v= has to be DKIM1`)
  if ((found.get('k') ?? 'rsa') !== (ours.get('k') ?? 'rsa')) return wrong('the key is of another kind')
  const keyOf = (tags: Map<string, string>) => (tags.get('p') ?? '').replace(/\s/g, '')
  if (keyOf(found) === keyOf(ours)) return valid
  const isCut = keyOf(found) !== '' && keyOf(ours).startsWith(keyOf(found))
  return wrong(isCut ? 'the key is cut off: a value over 255 characters has to be split into several strings' : 'another key')
}

/** Requires exactly one record of a kind. Its policy and its addresses are the owner's choice. */
function judgeOne(texts: string[], pattern: RegExp, kind: string): Finding {
  const count = texts.filter((text) => pattern.test(text)).length
  if (count === 0) return wrong('not found')
  return count > 1 ? wrong(`${count} ${kind} records, which others take for none`) : valid
}

const judgeOwnership = (record: DomainRecord, texts: string[]): Finding =>
  texts.some((text) => text.trim() === record.value) ? valid : wrong(texts.length > 0 ? `found ${shown(texts)}` : 'not found')
