// callsign domains … against the real server and real DNS.
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type DnsServer, startDnsServer } from '../../mail/tests/harness/dns-server.ts'
import { publish } from '../../server/tests/harness/published-records.ts'
import { type Harness, startHarness } from '../../server/tests/harness/start.ts'
import { createCommandLine } from './command-line.ts'

let harness: Harness
let dns: DnsServer
const line = createCommandLine()
beforeAll(async () => {
  dns = await startDnsServer()
  harness = await startHarness({ CALLSIGN_DNS_SERVERS: dns.address, CALLSIGN_MAIL_DOMAIN: 'mail.callsign.dev' })
})
afterAll(async () => {
  await harness.stop()
  await dns.stop()
  line.remove()
})

const run = (...args: string[]) =>
  line.run(['domains', ...args], { environment: { CALLSIGN_URL: harness.baseUrl, CALLSIGN_API_KEY: harness.organizationKey } })
async function json(...args: string[]) {
  const ran = await run(...args, '--json')
  expect([ran.code, ran.error]).toEqual([0, ''])
  return JSON.parse(ran.out)
}

test('from nothing to a default domain, and away again', async () => {
  const added = await run('add', 'cli.example')
  expect(added.code).toBe(0)
  for (const words of ['_callsign.cli.example', 'v=DKIM1; k=rsa; p=', 'dmarc, recommended', 'pending']) expect(added.out).toContain(words)
  expect(added.error).toBe('Publish these records, then run callsign domains verify cli.example\n')

  const early = await run('verify', 'cli.example')
  expect(early.code).toBe(1)
  expect(early.out).toContain('Records that are incomplete')
  publish(dns, (await json('show', 'cli.example')).dns_records)
  const verified = await run('verify', 'CLI.example')
  expect([verified.code, verified.out]).toEqual([0, expect.stringContaining('cli.example is verified.')])

  const second = await json('add', 'second.cli.example', '--provider', 'builtin')
  expect((await run('default', 'second.cli.example')).code).toBe(2)
  publish(dns, second.dns_records)
  await json('verify', second.id)
  expect((await run('default', second.id)).out).toBe('New identities have their mailboxes at second.cli.example.\n')
  expect((await run('list')).out).toMatch(/^DOMAIN .*\nsecond\.cli\.example +verified +yes .*\ncli\.example +verified /)
  expect((await json('list')).data).toHaveLength(2)
  expect((await run('show', 'cli.example')).out).toMatch(/status {4}verified\ndefault {3}no/)

  const zone = await run('zone-file', 'cli.example')
  expect(zone.out).toMatch(/^; DNS records of cli\.example\n\$ORIGIN cli\.example\.\n/)
  expect((await json('zone-file', 'cli.example')).zone_file).toBe(zone.out)

  const made = await line.run(['identities', 'create', 'cli_agent', '--domain', 'cli.example'], {
    environment: { CALLSIGN_URL: harness.baseUrl, CALLSIGN_API_KEY: harness.organizationKey },
  })
  expect(made.out).toBe('cli_agent has mail at cli_agent@cli.example.\n')
  expect(await run('rm', 'cli.example')).toMatchObject({ code: 5, error: expect.stringContaining('1 mailbox') })
  expect((await run('rm', 'cli.example', '--force')).out).toContain('1 mailbox moved to mail.callsign.dev')
  await json('rm', second.id)
  expect((await json('list')).data).toEqual([])
})

test.each([
  [2, ['add', 'https://x.example']],
  [2, ['add', 'x.example', '--provider', 'postbox']],
  [2, ['add', 'x.example', '--provider', 'resend']],
  [2, ['show', 'unknown.example']],
  [4, ['show', 'dom_01h455vb4pex5vsknk084sn02q']],
  [2, ['verify']],
])('exit code %i for %j', async (code, args) => {
  expect(await run(...args)).toMatchObject({ code, out: '', error: expect.stringMatching(/^callsign: .+\n$/) })
})
