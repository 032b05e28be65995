// The reader of DMARC and TLS reports: samples of the standards, and files that are made to hurt it.
import { gzipSync } from 'node:zlib'
import { describe, expect, test } from 'vitest'
import { createLog } from '../src/core/log.ts'
import { createFileReader } from '../src/edges/mail-worker/file-reader.ts'
import { readReport } from '../src/edges/mail-worker/reports/read-report.ts'
import { unpackedBytesMax } from '../src/edges/mail-worker/reports/unpack.ts'
import type { ReportContent } from '../src/features/mail/reports/model.ts'
import { dmarcXml, tlsJson, zipOf } from './harness/report-files.ts'

const name = 'reported.example'

/** A report as RFC 9990 appendix B has it, with its namespace, and record elements that are not used. */
const namespacedXml = `<?xml version="1.0" encoding="UTF-8"?>
<feedback xmlns="urn:ietf:params:xml:ns:dmarc-2.0"><version>1.0</version><report_metadata><org_name>Sample Reporter</org_name>
<email>report_sender@reporter.example</email><extra_contact_info>...</extra_contact_info><report_id>3v98abbp8ya9n3va8yr8oa3ya</report_id>
<date_range><begin>302832000</begin><end>302918399</end></date_range><generator>Example DMARC Aggregate Reporter v1.2</generator></report_metadata>
<policy_published><domain>${name}</domain><p>quarantine</p><sp>none</sp><np>none</np><testing>n</testing><discovery_method>treewalk</discovery_method></policy_published>
<record><row><source_ip>192.0.2.123</source_ip><count>123</count><policy_evaluated><disposition>pass</disposition><dkim>pass</dkim><spf>fail</spf></policy_evaluated></row>
<identifiers><envelope_from>${name}</envelope_from><header_from>${name}</header_from></identifiers>
<auth_results><dkim><domain>${name}</domain><result>pass</result><selector>abc123</selector></dkim><spf><domain>${name}</domain><result>fail</result></spf></auth_results></record>
</feedback>`

/** RFC 8460 appendix B. */
const companyReport = {
  'organization-name': 'Company-X',
  'date-range': { 'start-datetime': '2016-04-01T00:00:00Z', 'end-datetime': '2016-04-01T23:59:59Z' },
  'contact-info': 'sts-reporting@company-x.example',
  'report-id': '5065427c-23d3-47ca-b6e0-946ea0e8c4be',
  policies: [
    {
      policy: {
        'policy-type': 'sts',
        'policy-string': ['version: STSv1', 'mode: testing', 'mx: *.mail.company-y.example', 'max_age: 86400'],
        'policy-domain': 'company-y.example',
        'mx-host': '*.mail.company-y.example',
      },
      summary: { 'total-successful-session-count': 5326, 'total-failure-session-count': 303 },
      'failure-details': [
        {
          'result-type': 'certificate-expired',
          'sending-mta-ip': '2001:db8:abcd:0012::1',
          'receiving-mx-hostname': 'mx1.mail.company-y.example',
          'failed-session-count': 100,
        },
        {
          'result-type': 'starttls-not-supported',
          'sending-mta-ip': '2001:db8:abcd:0013::1',
          'receiving-mx-hostname': 'mx2.mail.company-y.example',
          'receiving-ip': '203.0.113.56',
          'failed-session-count': 200,
          'additional-information': 'https://reports.company-x.example/report_info?id=5065427c-23d3#StarttlsNotSupported',
        },
        {
          'result-type': 'validation-failure',
          'sending-mta-ip': '198.51.100.62',
          'receiving-ip': '203.0.113.58',
          'receiving-mx-hostname': 'mx-backup.mail.company-y.example',
          'failed-session-count': 3,
          'failure-reason-code': 'X509_V_ERR_PROXY_PATH_LENGTH_EXCEEDED',
        },
      ],
    },
  ],
}

describe('the reader', () => {
  const read = (bytes: Buffer) => readReport(bytes).catch(() => null)

  test('reads the samples of the standards', async () => {
    expect(await read(zipOf('report.xml', Buffer.from(namespacedXml)))).toMatchObject({
      kind: 'dmarc',
      reportId: '3v98abbp8ya9n3va8yr8oa3ya',
      startsAt: new Date('1979-08-07T00:00:00Z'),
      sources: [{ source: '192.0.2.123', count: 123, is_passed: true, disposition: null, detail: `DKIM pass, SPF fail, From ${name}` }],
    })
    const { sources, ...report } = (await read(gzipSync(JSON.stringify(companyReport)))) as ReportContent
    expect(report).toMatchObject({ kind: 'tls', domain: 'company-y.example', reportId: companyReport['report-id'] })
    expect(sources.map((one) => [one.source, one.count, one.is_passed, one.detail])).toEqual([
      ['', 5326, true, 'sts'],
      ['2001:db8:abcd:0012::1', 100, false, 'sts, certificate-expired, mx1.mail.company-y.example'],
      ['2001:db8:abcd:0013::1', 200, false, 'sts, starttls-not-supported, mx2.mail.company-y.example'],
      ['198.51.100.62', 3, false, 'sts, validation-failure, mx-backup.mail.company-y.example'],
    ])
  })

  test('refuses bombs, entities and endless nesting, on a thread', async () => {
    const reader = createFileReader({ log: createLog('silent') })
    try {
      const spaces = Buffer.alloc(unpackedBytesMax + 1, ' ')
      const entity = dmarcXml(name).replace('<feedback>', '<!DOCTYPE feedback [<!ENTITY a SYSTEM "file:///etc/passwd">]><feedback>&a;')
      const records = '<record><row><source_ip>1</source_ip><count>1</count></row></record>'.repeat(30_000)
      const hostile = {
        'gzip that unpacks to too much': gzipSync(spaces),
        'ZIP that unpacks to too much': zipOf('a.xml', spaces),
        'ZIP that declares less': zipOf('a.xml', spaces, 100),
        'plain text above the limit': spaces,
        'an entity': Buffer.from(entity),
        'endless nesting': Buffer.from(`<feedback>${'<a>'.repeat(100_000)}`),
        'too many records': Buffer.from(dmarcXml(name, '1', records)),
        'nested JSON': Buffer.from(tlsJson(name).replace('"policies":', `"policies":${'['.repeat(50_000)}`)),
        'a report that is cut off': Buffer.from(dmarcXml(name).slice(0, -20)),
        'a report without an id': Buffer.from(dmarcXml(name, '')),
        'a report about two domains': Buffer.from(
          JSON.stringify({ ...companyReport, policies: [...companyReport.policies, { policy: { 'policy-domain': name } }] }),
        ),
      }
      for (const [what, bytes] of Object.entries(hostile)) expect([what, await reader.readReport(bytes, 'x')]).toEqual([what, null])
      expect(await reader.readReport(gzipSync(dmarcXml(name)), 'x')).toMatchObject({ kind: 'dmarc', domain: name })
    } finally {
      await reader.close()
    }
  })

  test.each<[string, (xml: string) => Buffer]>([
    ['gzip in ZIP', (xml) => zipOf('report.xml.gz', gzipSync(xml))],
    ['gzip in gzip', (xml) => gzipSync(gzipSync(xml))],
    ['ZIP in gzip', (xml) => gzipSync(zipOf('report.xml', Buffer.from(xml)))],
    ['UTF-16 with a mark', (xml) => Buffer.from(`\ufeff${xml.replace('UTF-8', 'UTF-16')}`, 'utf16le')],
    ['UTF-16 without a mark', (xml) => Buffer.from(xml.replace('UTF-8', 'UTF-16LE'), 'utf16le').swap16().swap16()],
    ['UTF-16 in big endian', (xml) => gzipSync(Buffer.from(xml, 'utf16le').swap16())],
    ['UTF-8 that says UTF-16', (xml) => Buffer.from(xml.replace('UTF-8', 'UTF-16'))],
    ['windows-1252', (xml) => Buffer.from(xml.replace('UTF-8', 'windows-1252').replace('reporter.example', 'r\xe9porter'), 'latin1')],
    [
      'an open schema',
      (xml) => Buffer.from(xml.replace('<feedback>', '<xs:schema xmlns:xs="http://www.w3.org/2001/XMLSchema">\n<feedback>')),
    ],
    ['a schema around it', (xml) => Buffer.from(`${xml.replace('<feedback>', '<xs:schema><feedback>')}</xs:schema>`)],
    ['a schema inside it', (xml) => Buffer.from(xml.replace('<feedback>', '<feedback><schema version="1">'))],
  ])('reads a report in %s', async (_, write) => {
    expect(await read(write(dmarcXml(name)))).toMatchObject({ kind: 'dmarc', domain: name, sources: [{ count: 12 }, { count: 3 }] })
  })

  test('refuses a document type in each of them, and a third layer', async () => {
    const entity = dmarcXml(name).replace('<feedback>', '<!DOCTYPE feedback [<!ENTITY a "b">]><xs:schema><feedback>&a;')
    expect(await read(Buffer.from(`\ufeff${entity}`, 'utf16le'))).toBeNull()
    expect(await read(gzipSync(gzipSync(entity)))).toBeNull()
    expect(await read(gzipSync(gzipSync(gzipSync(dmarcXml(name)))))).toBeNull()
    expect(await read(gzipSync(gzipSync(Buffer.alloc(unpackedBytesMax + 1, ' '))))).toBeNull()
  })

  test('bounds values, such that the database can store them', async () => {
    const odd = dmarcXml(name, `${'\u{1f600}'.repeat(150)}`)
      .replace('<count>12<', '<count>1e99<')
      .replace('203.0.113.7', 'a\nb\tc')
    const found = (await read(Buffer.from(odd))) as ReportContent
    expect(found.reportId.isWellFormed() && found.reportId.length <= 200).toBe(true)
    expect(found.sources.map((one) => [one.source, one.count])).toEqual([
      ['a b c', 0],
      ['198.51.100.9', 3],
    ])
  })

  test('changed bytes give an error or a report within its bounds', async () => {
    const seeds = [
      Buffer.from(dmarcXml(name)),
      Buffer.from(tlsJson(name)),
      gzipSync(dmarcXml(name)),
      zipOf('a.xml', Buffer.from(dmarcXml(name))),
    ]
    let state = 7
    const random = (max: number) => {
      state = (state * 1_103_515_245 + 12_345) % 2 ** 31
      return state % max
    }
    for (let round = 0; round < 2000; round++) {
      const bytes = Buffer.from(seeds[round % seeds.length] as Buffer)
      for (let change = 0; change <= random(4); change++) bytes[random(bytes.length)] = random(256)
      const found = await read(random(10) === 0 ? bytes.subarray(0, random(bytes.length)) : bytes)
      if (found === null) continue
      expect(found.endsAt.getTime()).toBeGreaterThanOrEqual(found.startsAt.getTime())
      for (const { count } of found.sources) expect(Number.isSafeInteger(count) && count >= 0).toBe(true)
    }
  })
})
