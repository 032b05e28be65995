// The openspf.org test suite for RFC 7208 (203 tests), through the same function that checks arriving mail.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { checkSender } from '../src/authentication/sender-checks.ts'
import type { DnsAnswer, MxRecord, Resolver } from '../src/dns.ts'
import { reverseName } from '../src/dns.ts'

type Entry = Record<string, boolean | string | string[] | [number, string]>
type Scenario = {
  description: string
  zonedata: Record<string, Entry[]>
  tests: Record<string, { helo: string; host: string; mailfrom: string; result: string | string[]; explanation?: string }>
}
const { scenarios } = JSON.parse(readFileSync(join(import.meta.dirname, 'spf', 'rfc7208-tests.json'), 'utf8')) as { scenarios: Scenario[] }

/** Results that differ from the suite's, with the reason. There is none. */
const exceptions: Record<string, string> = {}

/** The suite writes octets as \xNN escapes that YAML leaves alone in plain scalars. */
const octets = (text: string): string =>
  text.replace(/\\x([0-9A-Fa-f]{2})/g, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16))).replaceAll('\\0', '\0')

/** The scenario's zone. SPF records stand for TXT records, unless a name has TXT records. CNAMEs are followed, and TIMEOUT answers all other queries. */
function resolverOf(zonedata: Record<string, Entry[]>): Resolver {
  const zone = new Map(Object.entries(zonedata).map(([name, entries]) => [name.toLowerCase(), entries]))
  function find<T>(name: string, type: string, read: (value: string | string[] | [number, string]) => T): DnsAnswer<T> {
    const entries = zone.get(name.toLowerCase().replace(/\.$/, ''))
    const alias = entries?.find((entry) => entry.CNAME !== undefined)?.CNAME
    if (alias !== undefined && type !== 'CNAME') return find(String(alias), type, read)
    if (!entries) return { kind: 'no-name' }
    const valuesOf = (wanted: string) => entries.flatMap((entry) => (entry[wanted] === undefined ? [] : [entry[wanted]]))
    const values = valuesOf(type).length > 0 || type !== 'TXT' ? valuesOf(type) : valuesOf('SPF')
    const records = values.filter((value) => value !== 'NONE').map((value) => read(value as string))
    if (records.length > 0) return { kind: 'found', records }
    return entries.some((entry) => entry.TIMEOUT === true) ? { kind: 'failure', reason: 'TIMEOUT' } : { kind: 'no-data' }
  }
  const text = (value: string | string[] | [number, string]) => octets([value].flat().join(''))
  return {
    txt: async (name) => find(name, 'TXT', text),
    mx: async (name) => find(name, 'MX', (value): MxRecord => ({ preference: Number(value[0]), exchange: octets(String(value[1])) })),
    a: async (name) => find(name, 'A', text),
    aaaa: async (name) => find(name, 'AAAA', text),
    cname: async (name) => find(name, 'CNAME', text),
    ptr: async (name) => find(reverseName(name) ?? name, 'PTR', text),
  }
}

const cases = scenarios.flatMap(({ description, zonedata, tests }) =>
  Object.entries(tests).map(([name, one]) => [`${description}: ${name}`, name, zonedata, one] as const),
)

test('the suite is whole', () => {
  expect(cases).toHaveLength(203)
  expect(Object.keys(exceptions)).toEqual([])
})

test.each(cases)('%s', async (_title, name, zonedata, { helo, host, mailfrom, result, explanation }) => {
  const raw = Buffer.from('From: a@example.com\r\n\r\nbody\r\n')
  const settings = { resolver: resolverOf(zonedata), hostname: 'receiver.example', nowMs: Date.now }
  const { spf } = await checkSender({ envelopeFrom: octets(mailfrom), client: { address: host, name: octets(helo) }, raw }, settings)
  expect([result].flat()).toContain(exceptions[name] ?? spf?.result)
  // Hexadecimal digits of %{v} names may have either case (RFC 7208 §7.3 says nothing of it), names are compared without it.
  if (explanation !== undefined && explanation !== 'DEFAULT' && spf?.result === 'fail')
    expect(spf.reason?.toLowerCase()).toBe(octets(explanation).toLowerCase())
})
