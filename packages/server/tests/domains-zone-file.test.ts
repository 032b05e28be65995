// The zone file, read back by the parser of dns-zonefile, and by dnspython and named-checkzone where they are installed.
import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import dnsZonefile from 'dns-zonefile'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { type DnsServer, startDnsServer } from '../../mail/tests/harness/dns-server.ts'
import { type ResendServer, startResendServer } from './harness/resend-server.ts'
import { type Harness, type Json, startHarness } from './harness/start.ts'

// Debian's packages belong to Debian's Python.
const python = '/usr/bin/python3'
const program = `
import json, sys
import dns.zone, dns.rdatatype
given = json.load(sys.stdin)
zone = dns.zone.from_text(given['text'], origin=given['origin'] + '.', relativize=False, check_origin=False)
found = []
for name, ttl, data in zone.iterate_rdatas():
    kind = dns.rdatatype.to_text(data.rdtype)
    value = b''.join(data.strings).decode() if kind == 'TXT' else str(data)
    found.append([str(name), kind, value])
print(json.dumps(found))
`

function findTool(command: string, args: string[]): string | null {
  try {
    execFileSync(command, args, { stdio: 'ignore' })
    return null
  } catch {
    return `${command} ${args.join(' ')} does not run here`
  }
}
const noPython = findTool(python, ['-c', 'import dns.zone'])
const noBind = findTool('/usr/bin/named-checkzone', ['-v'])

let harness: Harness
let dns: DnsServer
let resend: ResendServer
beforeAll(async () => {
  dns = await startDnsServer()
  resend = await startResendServer()
  harness = await startHarness({
    CALLSIGN_DNS_SERVERS: dns.address,
    CALLSIGN_RESEND_API_KEY: resend.apiKey,
    CALLSIGN_RESEND_URL: resend.url,
  })
})
afterAll(async () => {
  await harness.stop()
  await dns.stop()
  await resend.stop()
})

async function zoneOf(domain: string, provider: string): Promise<{ data: Json; text: string; headers: Headers }> {
  const { data } = await harness.expectApi(201, 'POST', '/domains', { body: { domain, provider } })
  const { status, headers, body } = await harness.api('GET', `/domains/${data.id}/zone-file`)
  expect(status).toBe(200)
  return { data, text: (body as Buffer).toString(), headers }
}

test('the file has its own type and name', async () => {
  const { text, headers } = await zoneOf('plain.zone.example', 'builtin')
  expect(headers.get('content-type')).toBe('text/dns')
  expect(headers.get('content-disposition')).toBe('attachment; filename="plain.zone.example.zone"')
  expect(text).toMatch(/^; DNS records of plain\.zone\.example\n\$ORIGIN plain\.zone\.example\.\n\$TTL 3600\n/)
})

type Parse = (text: string, origin: string) => string[][]

const parseWithPython: Parse = (text, origin) =>
  JSON.parse(execFileSync(python, ['-c', program], { input: JSON.stringify({ text, origin }) }).toString())

/** The parser returns the strings of a TXT record quoted, with a space between them. */
const parseInNode: Parse = (text) => {
  const { txt = [], mx = [], cname = [] } = dnsZonefile.parse(text)
  return [
    ...txt.map((record) => [record.name, 'TXT', record.txt.replaceAll('" "', '').replace(/^"|"$/g, '')]),
    ...mx.map((record) => [record.name, 'MX', `${record.preference} ${record.host}`]),
    ...cname.map((record) => [record.name, 'CNAME', record.alias]),
  ]
}

const parsers = [
  { name: 'dns-zonefile', parse: parseInNode, reason: null },
  { name: 'dnspython', parse: parseWithPython, reason: noPython },
]

describe.each(parsers)('$name', ({ name: parser, parse, reason }) => {
  // A name is registered once.
  const zone = `${parser}.zone.example`
  beforeEach(({ skip }) => skip(reason !== null, reason ?? ''))

  test("reads exactly the API's records, with full names", async () => {
    const { data, text } = await zoneOf(`sub.${zone}`, 'builtin')
    const expected = data.dns_records.map((record: Json) => [
      `${record.name}.`,
      record.type,
      record.type === 'MX' ? `${record.priority} ${record.value}.` : record.value,
    ])
    expect(parse(text, `sub.${zone}`).toSorted()).toEqual(expected.toSorted())
  })

  test('reads those of Resend, whose names are below the registered domain', async () => {
    const { data, text } = await zoneOf(`mail.${zone}`, 'resend')
    const value = (purpose: string, type: string) =>
      data.dns_records.find((record: Json) => record.purpose === purpose && record.type === type).value
    expect(parse(text, `mail.${zone}`).toSorted()).toEqual(
      [
        [`send.mail.${zone}.`, 'MX', `10 ${value('SPF', 'MX')}.`],
        [`send.mail.${zone}.`, 'TXT', value('SPF', 'TXT').replaceAll('"', '')],
        [`resend._domainkey.mail.${zone}.`, 'TXT', value('DKIM', 'TXT')],
      ].toSorted(),
    )
  })
})

test.skipIf(noBind !== null)(noBind ? `named-checkzone (skipped: ${noBind})` : 'named-checkzone accepts it', async () => {
  const { text } = await zoneOf('checked.zone.example', 'builtin')
  const folder = mkdtempSync(join(tmpdir(), 'callsign-zone-'))
  try {
    const file = join(folder, 'zone')
    // A whole zone needs values of its owner, which are the responsible mailbox and the name servers.
    const own =
      'checked.zone.example. IN SOA ns.elsewhere.example. hostmaster.elsewhere.example. 1 3600 600 86400 60\nchecked.zone.example. IN NS ns.elsewhere.example.\n'
    writeFileSync(file, `${text}${own}`)
    expect(execFileSync('/usr/bin/named-checkzone', ['-i', 'local', 'checked.zone.example', file]).toString()).toContain('OK')
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
})
