// The doctor's checks of DNS, reverse names, port 25, blocklists, MTA-STS, TLS reports, certificates and the clock, against servers on loopback.
import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import { type AddressInfo, createServer } from 'node:net'
import { createServer as createTlsServer } from 'node:tls'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { type DnsServer, startDnsServer } from '../../mail/tests/harness/dns-server.ts'
import { readConfig } from '../src/config/settings.ts'
import { createDnsResolver } from '../src/edges/dns/resolver.ts'
import { measureClock } from '../src/edges/dns/time-server.ts'
import { checkCertificates } from '../src/host/doctor-certificates.ts'
import { checkClock } from '../src/host/doctor-clock.ts'
import { checkMail, type MailChecks } from '../src/host/doctor-mail.ts'
import type { Finding } from '../src/host/finding.ts'
import { createCertificate } from './harness/certificate.ts'

let dns: DnsServer
let banner = ''
const policy = 'version: STSv1\nmode: enforce\nmx: agents.example\nmax_age: 86400\n'
const mailServer = createServer((socket) => {
  socket.on('error', () => {})
  socket.end(banner)
})
const key = { name: 's1._domainkey.agents.example', value: 'v=DKIM1; k=ed25519; p=abc' }

beforeAll(async () => {
  dns = await startDnsServer()
  mailServer.listen(0, '127.0.0.1')
  await once(mailServer, 'listening')
})
afterAll(async () => {
  mailServer.close()
  await dns.stop()
})

/** A complete set of records. */
beforeEach(() => {
  banner = '220 agents.example ESMTP Callsign\r\n'
  dns.set('agents.example', { A: ['127.0.0.1'], MX: [{ preference: 10, exchange: 'agents.example' }], TXT: ['v=spf1 mx ~all'] })
  dns.set('any.tunnel.agents.example', { A: ['127.0.0.1'] })
  dns.set('_dmarc.agents.example', { TXT: ['v=DMARC1; p=none'] })
  dns.set(key.name, { TXT: [key.value] })
  dns.set('_mta-sts.agents.example', { TXT: ['v=STSv1; id=1'] })
  dns.set('_smtp._tls.agents.example', { TXT: ['v=TLSRPTv1; rua=mailto:postmaster@agents.example'] })
  dns.set('1.0.0.127.in-addr.arpa', { PTR: ['agents.example'] })
  dns.set('big.example', { MX: [{ preference: 5, exchange: 'mx.big.example' }] })
  dns.set('mx.big.example', { A: ['127.0.0.1'] })
  dns.set('2.0.0.127.list.example', { A: ['127.0.0.2'] })
  dns.remove('1.0.0.127.list.example')
})

const configOf = (more: Record<string, string> = {}) =>
  readConfig({
    CALLSIGN_MAIL_DOMAIN: 'agents.example',
    CALLSIGN_TUNNEL_DOMAIN: 'tunnel.agents.example',
    CALLSIGN_PUBLIC_URL: 'https://agents.example',
    CALLSIGN_MAIL_TRANSPORT: 'direct',
    CALLSIGN_MAIL_DIRECT_PORT: String((mailServer.address() as AddressInfo).port),
    CALLSIGN_DOCTOR_MAIL_DOMAIN: 'big.example',
    CALLSIGN_DOCTOR_BLOCKLISTS: 'list.example',
    ...more,
  })

async function check(more: Partial<MailChecks> = {}, settings: Record<string, string> = {}): Promise<Finding[]> {
  const fetchFile = async () => ({ bytes: Buffer.from(policy), contentType: 'text/plain' })
  return checkMail({ config: configOf(settings), dns: createDnsResolver({ servers: [dns.address] }), dkim: [key], fetchFile, ...more })
}
const textsOf = (findings: Finding[], state: Finding['state']) => findings.filter((one) => one.state === state).map(({ text }) => text)

test('a complete installation has nothing to do', async () => {
  const findings = await check()
  expect([textsOf(findings, 'attention'), textsOf(findings, 'note')]).toEqual([[], []])
  const good = textsOf(findings, 'ok').join('\n')
  for (const part of [
    'MX record',
    's1._domainkey',
    'leads back',
    'open for incoming',
    'open for outgoing',
    'blocklist',
    'MTA-STS',
    'TLS reports',
  ])
    expect(good).toContain(part)
})

test.each<[string, () => void, RegExp]>([
  [
    'a missing MX record',
    () => dns.set('agents.example', { A: ['127.0.0.1'], TXT: ['v=spf1 mx ~all'] }),
    /^MX record of agents\.example: not found\. Publish: agents\.example\. IN MX 10 agents\.example\.$/,
  ],
  [
    'another DKIM key',
    () => dns.set(key.name, { TXT: ['v=DKIM1; k=ed25519; p=xyz'] }),
    /^TXT record of s1\._domainkey.*: another key\. Publish: .*p=abc/,
  ],
  ['a missing DMARC record', () => dns.remove('_dmarc.agents.example'), /^TXT record of _dmarc.*Publish: /],
  [
    'tunnels without an address',
    () => dns.remove('any.tunnel.agents.example'),
    /^\*\.tunnel\.agents\.example \(tunnels\) has no address\. Publish an A record/,
  ],
  ['no reverse name', () => dns.remove('1.0.0.127.in-addr.arpa'), /^127\.0\.0\.1 has no reverse name \(PTR\)\. Set it to agents\.example/],
  [
    'a reverse name that leads elsewhere',
    () => dns.set('1.0.0.127.in-addr.arpa', { PTR: ['host-1.provider.example'] }),
    /host-1\.provider\.example, which does not lead back to it\. Set it to/,
  ],
  [
    'another mail server on port 25',
    () => {
      banner = '220 other.example Postfix\r\n'
    },
    /answered by another program: 220 other\.example Postfix\. Stop it, and set CALLSIGN_SMTP_PORT/,
  ],
  [
    'a listed address',
    () => dns.set('1.0.0.127.list.example', { A: ['127.0.0.4'] }),
    /^The blocklist list\.example lists 127\.0\.0\.1\. Read the reason/,
  ],
  [
    'two TLS-RPT records',
    () => dns.set('_smtp._tls.agents.example', { TXT: ['v=TLSRPTv1; rua=mailto:a@b', 'v=TLSRPTv1; rua=mailto:c@d'] }),
    /has 2 TLS-RPT records.*Leave one\.$/,
  ],
  [
    'a TLS-RPT record without an address',
    () => dns.set('_smtp._tls.agents.example', { TXT: ['v=TLSRPTv1; rua='] }),
    /has no address for reports\. Publish: .*rua=mailto:tls-reports@agents\.example"$/,
  ],
])('%s is reported with what to do', async (_name, break_, sentence) => {
  break_()
  expect(textsOf(await check(), 'attention')).toEqual([expect.stringMatching(sentence)])
})

test('a list that refuses the resolver proves nothing, and is a note', async () => {
  // Spamhaus answers so to public resolvers, for every address.
  for (const name of ['2.0.0.127.list.example', '1.0.0.127.list.example']) dns.set(name, { A: ['127.255.255.254'] })
  const findings = await check()
  expect(textsOf(findings, 'attention')).toEqual([])
  expect(textsOf(findings, 'note')).toEqual([
    expect.stringMatching(/list\.example does not answer this resolver\. Several lists refuse public resolvers/),
  ])
})

test('a closed port is reported for both directions, and a relay needs neither its own port nor a list', async () => {
  const closed = await check({}, { CALLSIGN_MAIL_DIRECT_PORT: '1' })
  expect(textsOf(closed, 'attention')).toEqual([
    expect.stringMatching(/^Port 1 of 127\.0\.0\.1 cannot be reached from here: .*ECONNREFUSED.*open the port in the firewall/),
    expect.stringMatching(/^Port 1 of mx\.big\.example cannot be reached: .*Ask your hosting provider to open port 25/),
  ])
  const relay = await check({}, { CALLSIGN_MAIL_TRANSPORT: 'relay', CALLSIGN_SMTP_RELAY_URL: 'smtp://relay.example' })
  expect(relay.some(({ text }) => /outgoing|blocklist/.test(text))).toBe(false)
})

test('an MTA-STS policy for another server and a broken one need attention, and none is a note', async () => {
  const fetching = (text: string) => ({ fetchFile: async () => ({ bytes: Buffer.from(text), contentType: 'text/plain' }) })
  const wrong = await check(fetching(policy.replace('agents.example', 'old.example')))
  expect(textsOf(wrong, 'attention')).toEqual([
    expect.stringMatching(/does not name the mail server agents\.example\. Correct the file, or remove/),
  ])
  expect(textsOf(await check(fetching('<html>')), 'attention')).toEqual([expect.stringMatching(/is not valid\. Correct the file/)])
  dns.remove('_mta-sts.agents.example')
  const none = await check()
  expect([textsOf(none, 'attention'), textsOf(none, 'note')]).toEqual([[], [expect.stringMatching(/has no MTA-STS policy.*optional/)]])
})

test('a resolver that does not answer is one finding, and a local domain is not checked', async () => {
  dns.fail('*', 'SERVFAIL')
  try {
    expect(await check()).toEqual([
      { state: 'attention', text: expect.stringMatching(/^DNS does not answer for agents\.example .*CALLSIGN_DNS_SERVERS/) },
    ])
  } finally {
    dns.fail('*', null)
  }
  expect(await check({}, { CALLSIGN_MAIL_DOMAIN: 'agents.localhost' })).toEqual([
    { state: 'note', text: expect.stringMatching(/is for this machine only.*callsignd setup/) },
  ])
})

test('certificates are read from the listeners: expired, soon to expire, for another name and not trusted', async () => {
  const day = 86_400_000
  const serve = async (days: number, name: string, settings: Record<string, string> = {}) => {
    const pair = createCertificate({
      commonName: name,
      dnsNames: [name],
      notBefore: new Date(Date.now() - 100 * day),
      notAfter: new Date(Date.now() + days * day),
    })
    const server = createTlsServer(pair, (socket) => socket.on('error', () => {}))
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    const port = (server.address() as AddressInfo).port
    const config = configOf({ CALLSIGN_TUNNEL_HTTPS_PORT: String(port), CALLSIGN_SMTP_PORT: 'off', ...settings })
    const findings = await checkCertificates(config, true)
    server.close()
    return findings.map(({ state, text }) => `${state} ${text.replaceAll(String(port), 'PORT')}`)
  }
  expect(await serve(-1, 'any.tunnel.agents.example')).toEqual([
    expect.stringMatching(
      /^attention HTTPS for tunnels on port PORT: the certificate expired on .*Renew it \(CALLSIGN_TUNNEL_TLS_CERT_FILE\)/,
    ),
  ])
  expect(await serve(5.5, 'any.tunnel.agents.example')).toEqual([expect.stringMatching(/^attention .*valid for 5 more days/)])
  expect(await serve(90, 'other.example')).toEqual([
    expect.stringMatching(/^attention .*is not for any\.tunnel\.agents\.example\. Get one/),
  ])
  expect(await serve(90, 'any.tunnel.agents.example')).toEqual([
    expect.stringMatching(/^attention .*do not trust the certificate \(.*SELF_SIGNED.*whole chain/),
  ])
  const acme = { CALLSIGN_ACME_DIRECTORY: 'letsencrypt' }
  expect(await serve(-1, 'any.tunnel.agents.example', acme)).toEqual([
    expect.stringMatching(/Renew it \(CALLSIGN_ACME_DNS_HOOK, or CALLSIGN_TUNNEL_TLS_CERT_FILE\)/),
  ])
  expect(await serve(-1, 'any.tunnel.agents.example', { ...acme, CALLSIGN_ACME_DNS_HOOK: '/bin/true' })).toEqual([
    expect.stringMatching(/Renew it \(callsignd certificates shows the last error of CALLSIGN_ACME_DIRECTORY\)/),
  ])
  const config = configOf({ CALLSIGN_TUNNEL_HTTPS_PORT: '1', CALLSIGN_SMTP_PORT: 'off' })
  expect(await checkCertificates(config, true)).toEqual([
    { state: 'attention', text: expect.stringMatching(/no certificate could be read: .*ECONNREFUSED/) },
  ])
  expect(await checkCertificates(config, false)).toEqual([{ state: 'note', text: expect.stringContaining('Start the server') }])
})

test('the clock is compared with an NTP server', async () => {
  let aheadSeconds = 0
  const server = createSocket('udp4')
  server.on('message', (_question, client) => {
    const answer = Buffer.alloc(48)
    answer[0] = 0b00_100_100
    answer[1] = 2
    const seconds = Date.now() / 1000 + aheadSeconds + 2_208_988_800
    answer.writeUInt32BE(Math.floor(seconds), 40)
    answer.writeUInt32BE(Math.floor((seconds % 1) * 2 ** 32), 44)
    server.send(answer, client.port, client.address)
  })
  server.bind(0, '127.0.0.1')
  await once(server, 'listening')
  const config = configOf({ CALLSIGN_DOCTOR_TIME_SERVER: `127.0.0.1:${server.address().port}` })
  expect(await checkClock(config)).toEqual([{ state: 'ok', text: expect.stringMatching(/^The clock agrees with 127/) }])
  aheadSeconds = 3_600
  expect(await checkClock(config)).toEqual([
    { state: 'attention', text: expect.stringMatching(/^The clock is 3[56]\d\d\.\d s behind .*Synchronize it with NTP/) },
  ])
  server.close()
  await once(server, 'close')
  expect(await checkClock(config)).toEqual([
    { state: 'note', text: expect.stringMatching(/does not answer .*CALLSIGN_DOCTOR_TIME_SERVER/) },
  ])
  // A name without an address, which fails without a question to DNS.
  await expect(measureClock('a..b', 123, 60_000)).rejects.toThrow('ENOTFOUND')
  expect(await checkClock(configOf({ CALLSIGN_DOCTOR_TIME_SERVER: 'off' }))).toEqual([])
})
