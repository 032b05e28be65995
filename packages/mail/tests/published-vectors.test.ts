// Published vectors: the ARC suite of ValiMail (MIT), in the form of mailauth's test/fixtures/arc/arc-draft-validation-tests.json, and the DKIM vectors of
// chasquid's internal/dkim/testdata (Apache-2.0), with the example of RFC 8463. Their licenses are beside them.
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { checkSender } from '../src/authentication/sender-checks.ts'
import type { Records } from './harness/dns-server.ts'
import { createZoneResolver } from './harness/zone-resolver.ts'

const folder = join(import.meta.dirname, 'published')
const dkimFolder = join(folder, 'dkim')
const client = { address: '192.0.2.7', name: 'mail.example' }

type ArcScenario = { description: string; 'txt-records': Record<string, string>; tests: Record<string, { message: string; cv: string }> }
type Zone = Record<string, Records | 'failure'>

/** Where we say otherwise than the ARC suite, and why. */
const arcExceptions: Record<string, string> = {
  // No c= tag. The suite was written for the drafts, where relaxed/relaxed was meant; RFC 8617 §4.1.2 takes DKIM's default, simple/simple.
  ams_fields_c_na: 'fail',
  // An empty h= tag. RFC 6376 §3.5 (which RFC 8617 §4.1.2 takes over) forbids it: such a signature covers no From.
  ams_fields_h_empty: 'fail',
}

describe('the ARC validation suite', () => {
  const scenarios = JSON.parse(readFileSync(join(folder, 'arc', 'validation.json'), 'utf8')) as ArcScenario[]
  const cases = scenarios.flatMap((scenario) =>
    Object.entries(scenario.tests).map(([name, one]) => [name, one, scenario['txt-records']] as const),
  )
  test('is whole', () => expect(cases).toHaveLength(171))
  test.each(cases)('%s', async (name, { message, cv }, records) => {
    const zone: Zone = Object.fromEntries(Object.entries(records).map(([key, text]) => [key.toLowerCase(), { TXT: [text] }]))
    const settings = { resolver: createZoneResolver(zone), hostname: 'mx.example', nowMs: Date.now }
    const { arc } = await checkSender({ envelopeFrom: 'x@example.com', client, raw: Buffer.from(message) }, settings)
    // An empty value marks a chain that is too broken to have a cv.
    expect(arc?.result).toBe(arcExceptions[name] ?? (cv === '' ? 'fail' : cv.toLowerCase()))
  })
})

/** Names, a colon, and a value that continues after a backslash. TEMPERROR and PERMERROR stand for failures of the resolver. */
function readZone(text: string): Zone {
  const entries = text
    .replaceAll(/\\\n\s*/g, '')
    .split('\n')
    .flatMap((line) => {
      const [, name, value] = /^([^\s:]+):\s*(.*)$/.exec(line) ?? []
      return name && value !== undefined ? [[name.toLowerCase(), value.trim()] as const] : []
    })
  const zone: Zone = {}
  for (const [name, value] of entries) {
    const before = zone[name]
    if (value === 'TEMPERROR') zone[name] = 'failure'
    else if (value !== 'PERMERROR') zone[name] = { TXT: [...(typeof before === 'object' ? (before.TXT ?? []) : []), value] }
  }
  return zone
}

describe('the DKIM vectors', () => {
  const files = readdirSync(dkimFolder)
  const names = files.filter((name) => name.endsWith('.msg')).map((name) => name.replace(/\.msg$/, ''))
  test('are whole', () => expect(names).toHaveLength(11))
  test.each(names)('%s', async (name) => {
    const read = (kind: string) => (files.includes(`${name}.${kind}`) ? readFileSync(join(dkimFolder, `${name}.${kind}`), 'utf8') : '')
    const raw = Buffer.from(readFileSync(join(dkimFolder, `${name}.msg`), 'latin1').replace(/\r?\n/g, '\r\n'), 'latin1')
    const { dkim } = await checkSender(
      { envelopeFrom: 'x@example.com', client, raw },
      { resolver: createZoneResolver(readZone(read('dns'))), hostname: 'mx.example', nowMs: Date.now },
    )
    const expected = read('result') === '' ? [] : (JSON.parse(read('result')) as { Results: { State: string }[] }).Results
    const states = dkim?.signatures.map(({ result }) => (result === 'pass' ? 'SUCCESS' : result === 'temperror' ? 'TEMPFAIL' : 'PERMFAIL'))
    expect(states).toEqual(expected.map(({ State }) => State))
  })
})
