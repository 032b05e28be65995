// Parses SPF records (RFC 7208 §4.6, §5, §6). The complete record is parsed before the evaluation.
import { type IpAddress, readIp } from '../ip-address.ts'
import { keepReadings } from '../record-cache.ts'
import { type MacroText, readDomainSpec, readMacroText } from './spf-macro.ts'

export type Qualifier = 'pass' | 'fail' | 'softfail' | 'neutral'

/** A null `target` is the checked domain. Prefix lengths are in bits. */
export type Mechanism = { qualifier: Qualifier } & (
  | { kind: 'all' }
  | { kind: 'include' | 'exists'; target: MacroText }
  | { kind: 'a' | 'mx'; target: MacroText | null; bits4: number; bits6: number }
  | { kind: 'ptr'; target: MacroText | null }
  | { kind: 'ip'; network: IpAddress; bits: number }
)

export type SpfRecord = { mechanisms: Mechanism[]; redirect: MacroText | null; explanation: MacroText | null }

/** True for a TXT record that is an SPF record (RFC 7208 §4.5). */
export const isSpfRecord = (text: string): boolean => /^v=spf1(?: |$)/i.test(text)

/** Parses a record. `failure` names a syntax error. Results are cached. */
export const readSpfRecord: (text: string) => SpfRecord | { failure: string } = keepReadings(readAnew, 2_048)

function readAnew(text: string): SpfRecord | { failure: string } {
  if (!/^[ -~]*$/.test(text)) return { failure: 'characters beyond ASCII' }
  const record: SpfRecord = { mechanisms: [], redirect: null, explanation: null }
  for (const term of text.split(' ').slice(1)) {
    if (term !== '' && !readTerm(term, record)) return { failure: `syntax error in ${term}` }
  }
  return record
}

/** Adds a term to the record. False for a syntax error. */
function readTerm(term: string, record: SpfRecord): boolean {
  const modifier = /^([^:/=]*)=(.*)/.exec(term)
  if (modifier) return readModifier(modifier[1] as string, modifier[2] as string, record)
  const [, sign, kind, rest] = /^([+\-?~]?)([^:/]*)(.*)/.exec(term) as unknown as [string, string, string, string]
  const mechanism = readMechanism(kind.toLowerCase(), rest)
  if (!mechanism) return false
  record.mechanisms.push({ ...mechanism, qualifier: qualifiers[sign] as Qualifier } as Mechanism)
  return true
}

const qualifiers: Record<string, Qualifier> = { '': 'pass', '+': 'pass', '-': 'fail', '~': 'softfail', '?': 'neutral' }

function readModifier(name: string, value: string, record: SpfRecord): boolean {
  if (!/^[a-z][a-z0-9\-_.]*$/i.test(name)) return false
  const key = ({ redirect: 'redirect', exp: 'explanation' } as const)[name.toLowerCase() as 'redirect' | 'exp']
  if (!key) return readMacroText(value, { isText: true }) !== null
  if (record[key] !== null) return false
  record[key] = readDomainSpec(value)
  return record[key] !== null
}

type Unqualified = Mechanism extends infer One ? (One extends Mechanism ? Omit<One, 'qualifier'> : never) : never

function readMechanism(kind: string, rest: string): Unqualified | null {
  switch (kind) {
    case 'all':
      return rest === '' ? { kind } : null
    case 'include':
    case 'exists': {
      const target = rest.startsWith(':') ? readDomainSpec(rest.slice(1)) : null
      return target && { kind, target }
    }
    case 'ptr': {
      if (rest === '') return { kind, target: null }
      const target = rest.startsWith(':') ? readDomainSpec(rest.slice(1)) : null
      return target && { kind, target }
    }
    case 'a':
    case 'mx':
      return readHosts(kind, rest)
    case 'ip4':
      return readNetwork(rest, 4)
    case 'ip6':
      return readNetwork(rest, 16)
    default:
      return null
  }
}

function readHosts(kind: 'a' | 'mx', rest: string): Unqualified | null {
  const found = /^(?::(.+?))?(?:\/(\d+))?(?:\/\/(\d+))?$/.exec(rest)
  if (!found) return null
  const [, spec, cidr4, cidr6] = found
  const target = spec === undefined ? null : readDomainSpec(spec)
  const [bits4, bits6] = [readBits(cidr4, 32), readBits(cidr6, 128)]
  if ((spec !== undefined && target === null) || bits4 === null || bits6 === null) return null
  return { kind, target, bits4, bits6 }
}

function readNetwork(rest: string, bytes: 4 | 16): Unqualified | null {
  const found = /^:([^/%]+)(?:\/([^/]*))?$/.exec(rest)
  if (!found) return null
  const [, address, cidr] = found
  const network = readIp(address as string)
  const bits = readBits(cidr, bytes * 8)
  return network?.length === bytes && bits !== null ? { kind: 'ip', network, bits } : null
}

/** A prefix length without leading zeros. All bits by default. */
const readBits = (text: string | undefined, bitsMax: number): number | null => {
  if (text === undefined) return bitsMax
  return /^(?:0|[1-9]\d{0,2})$/.test(text) && Number(text) <= bitsMax ? Number(text) : null
}
