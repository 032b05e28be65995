// Reports about domains: DMARC and TLS reports as other servers send them, and forged ones.
import { createPrivateKey, generateKeyPairSync } from 'node:crypto'
import { gzipSync } from 'node:zlib'
import { signMessage } from '@callsign/mail/authentication/dkim/signing'
import { createTransport } from 'nodemailer'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { printMailDomainReports } from '../src/host/mail-domain-reports.ts'
import { ownDomain } from './harness/published-records.ts'
import { dmarcXml, tlsJson, zipOf } from './harness/report-files.ts'
import { type Harness, type Json, startHarness } from './harness/start.ts'

const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })
const privatePem = privateKey.export({ type: 'pkcs8', format: 'pem' }).toString()
const keyRecord = `v=DKIM1; k=rsa; p=${publicKey.export({ type: 'spki', format: 'der' }).toString('base64')}`

let harness: Harness
let domain: Json
const name = 'reported.example'
beforeAll(async () => {
  harness = await startHarness()
  for (const reporter of ['reporter.example', 'other.example']) {
    harness.dns.set(`s1._domainkey.${reporter}`, { TXT: [keyRecord] })
    harness.dns.set(`_dmarc.${reporter}`, { TXT: ['v=DMARC1; p=none'] })
  }
  domain = await ownDomain(harness, harness.dns, name)
})
afterAll(() => harness.stop())

/** Sends a report, signed by this domain. Returns the reply to a refusal, or 250. */
async function report(
  to: string,
  file: Buffer,
  { filename = 'report.xml.gz', signer = 'reporter.example', from = 'reporter.example' } = {},
): Promise<string> {
  const raw = [
    `From: noreply@${from}`,
    `To: ${to}`,
    `Subject: Report domain: ${name}`,
    'MIME-Version: 1.0',
    `Content-Type: application/octet-stream; name="${filename}"`,
    `Content-Disposition: attachment; filename="${filename}"`,
    'Content-Transfer-Encoding: base64',
    '',
    ...(file.toString('base64').match(/.{1,76}/g) ?? []),
    '',
  ].join('\r\n')
  const key = { domain: signer, selector: 's1', algorithm: 'rsa-sha256' as const, privateKey: createPrivateKey(privatePem) }
  const transport = createTransport({ host: '127.0.0.1', port: harness.smtpPort, ignoreTLS: true })
  try {
    await transport.sendMail({
      envelope: { from: `noreply@${from}`, to },
      raw: signer === '' ? raw : await signMessage(Buffer.from(raw), [key], new Date()),
    })
    return '250'
  } catch (error) {
    return (error as { response: string }).response
  } finally {
    transport.close()
  }
}

const list = async (query = ''): Promise<Json[]> => (await harness.expectApi(200, 'GET', `/domains/${domain.id}/reports${query}`)).data

describe('the addresses', () => {
  test('are in the recommended records of a domain', () => {
    const record = (purpose: string) => domain.dns_records.find((one: Json) => one.purpose === purpose)
    const recommended = { type: 'TXT', status: 'valid', required: false }
    expect(record('dmarc')).toMatchObject({ ...recommended, value: `v=DMARC1; p=none; rua=mailto:dmarc-reports@${name}` })
    expect(record('tls_rpt')).toMatchObject({
      ...recommended,
      name: `_smtp._tls.${name}`,
      value: `v=TLSRPTv1; rua=mailto:tls-reports@${name}`,
    })
  })

  test('belong to no agent, and exist only at domains that are verified here', async () => {
    await harness.createAgent('taker')
    for (const local_part of ['dmarc-reports', 'tls-reports'])
      await harness.expectApi(409, 'POST', '/identities/taker/addresses', { body: { local_part, domain: name } })
    await harness.expectApi(201, 'POST', '/domains', { body: { domain: 'claimed.example' } })
    for (const at of ['claimed.example', 'elsewhere.example'])
      expect(await report(`dmarc-reports@${at}`, gzipSync(dmarcXml(at)))).toMatch(/^550 5\.1\.1/)
  })
})

describe('reports', () => {
  test('DMARC reports as gzip, ZIP and XML are stored once, with an event', async () => {
    const to = `dmarc-reports@${name}`
    for (const _twice of [1, 2]) expect(await report(to, gzipSync(dmarcXml(name, 'gz')))).toBe('250')
    expect(await report(to, zipOf('report.xml', Buffer.from(dmarcXml(`mail.${name}`, 'zip'))), { filename: 'report.zip' })).toBe('250')
    expect(
      await report(to, Buffer.from(dmarcXml(name, 'xml')), { filename: 'report.xml', signer: 'other.example', from: 'other.example' }),
    ).toBe('250')
    const reports = await list('?kind=dmarc')
    expect(reports.map((one) => [one.report_id, one.reporter])).toEqual([
      ['xml', 'other.example'],
      ['zip', 'reporter.example'],
      ['gz', 'reporter.example'],
    ])
    expect(reports[2]).toMatchObject({
      kind: 'dmarc',
      starts_at: '2026-01-01T00:00:00.000Z',
      passed: 12,
      failed: 3,
      sources: [
        { source: '203.0.113.7', count: 12, is_passed: true, disposition: 'none', detail: `DKIM pass, SPF pass, From ${name}` },
        { source: '198.51.100.9', count: 3, is_passed: false, disposition: 'quarantine', detail: `DKIM fail, SPF fail, From ${name}` },
      ],
    })
    expect(await harness.eventsOf(reports[2]?.id)).toMatchObject([
      { type: 'domain.report_received', data: { domain: name, passed: 12, failed: 3 } },
    ])
    const first = await harness.expectApi(200, 'GET', `/domains/${domain.id}/reports?limit=2`)
    const second = await harness.expectApi(200, 'GET', `/domains/${domain.id}/reports?limit=2&cursor=${first.next_cursor}`)
    expect([...first.data, ...second.data].map((one: Json) => one.report_id)).toEqual(['xml', 'zip', 'gz'])
    await harness.expectApi(404, 'GET', `/domains/${domain.id}/reports`, { key: harness.otherOrganization.key })
  })

  test('TLS reports', async () => {
    expect(await report(`tls-reports@${name}`, gzipSync(tlsJson(name)), { filename: 'report.json.gz' })).toBe('250')
    expect(await list('?kind=tls')).toMatchObject([
      {
        report_id: 'tls-1',
        passed: 100,
        failed: 5,
        sources: [
          { count: 100, is_passed: true, detail: 'sts' },
          { source: '203.0.113.7', count: 4, is_passed: false, detail: 'sts, certificate-expired' },
          { count: 1, is_passed: false, detail: 'sts' },
        ],
      },
    ])
  })

  test('about the mail domain are for the operator', async () => {
    expect(await report('dmarc-reports@agents.localhost', gzipSync(dmarcXml('agents.localhost', 'mail')))).toBe('250')
    expect(await report('tls-reports@agents.localhost', gzipSync(tlsJson('agents.localhost')))).toBe('250')
    const lines: string[] = []
    await printMailDomainReports(harness.db, { kind: 'dmarc' }, (line) => lines.push(line))
    expect(lines).toEqual([
      '2026-01-01  dmarc  pass       12  203.0.113.7  DKIM pass, SPF pass, From agents.localhost  reporter.example',
      '2026-01-01  dmarc  FAIL        3  198.51.100.9  DKIM fail, SPF fail, From agents.localhost  reporter.example',
    ])
    lines.length = 0
    await printMailDomainReports(harness.db, { json: true }, (line) => lines.push(line))
    expect(JSON.parse(lines[0] as string).map((one: Json) => one.kind)).toEqual(['tls', 'dmarc'])
    await expect(printMailDomainReports(harness.db, { kind: 'spf' }, () => {})).rejects.toThrow('--kind')
  })

  test('DMARC reports need DMARC, which SPF gives too, and TLS reports need DKIM', async () => {
    harness.dns.set('spf.example', { TXT: ['v=spf1 ip4:127.0.0.1 -all'] })
    harness.dns.set('_dmarc.spf.example', { TXT: ['v=DMARC1; p=reject'] })
    const from = { signer: '', from: 'spf.example' }
    expect(await report(`dmarc-reports@${name}`, gzipSync(dmarcXml(name, 'by SPF')), from)).toBe('250')
    expect((await list())[0]).toMatchObject({ report_id: 'by SPF', reporter: 'spf.example' })
    expect(await report(`tls-reports@${name}`, gzipSync(tlsJson(name)), from)).toMatch(/^550 5\.7\.1 .*DKIM/)
  })

  test('forged, foreign and unreadable ones are refused', async () => {
    const before = (await list()).length
    const to = `dmarc-reports@${name}`
    const file = gzipSync(dmarcXml(name, 'forged'))
    expect(await report(to, file, { signer: '' })).toMatch(/^550 5\.7\.1 .*DKIM/)
    expect(await report(to, file, { signer: 'other.example' })).toMatch(/^550 5\.7\.1 .*DKIM/)
    expect(await report(to, gzipSync(dmarcXml('else.example')))).toMatch(/^550 5\.7\.1 .*another domain/)
    expect(await report(to, gzipSync(dmarcXml(`evil${name}`)))).toMatch(/^550 5\.7\.1 .*another domain/)
    expect(await report(to, gzipSync(tlsJson(name)))).toMatch(/^550 5\.6\.0/)
    expect(await report(to, Buffer.from('hello'))).toMatch(/^550 5\.6\.0/)
    expect(await list()).toHaveLength(before)
  })
})
