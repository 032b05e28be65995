// The steps of docs/operating.md. Runs in the namespace of the DNS server, the provider and the client. The server has a namespace of its own.
import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { setTimeout as delay } from 'node:timers/promises'
import { startDnsServer } from '../../packages/mail/tests/harness/dns-server.ts'
import { createCertificate } from '../../packages/server/tests/harness/certificate.ts'
import { stopChild } from '../harness/callsign-server.ts'
import { createChecklist, expectThat } from '../harness/checklist.ts'
import { startProvider } from './provider.ts'

const [folder = ''] = process.argv.slice(2)
const address = '45.20.0.10'
const domain = 'agents.example.com'
const apiName = 'callsign.example.com'
const you = 'you@bigmail.example'
const stepMsMax = 60_000

const dns = await startDnsServer(
  {
    'bigmail.example': { MX: [{ preference: 10, exchange: 'mx.bigmail.example' }], TXT: ['v=spf1 ip4:45.20.0.25 -all'] },
    'mx.bigmail.example': { A: ['45.20.0.25'] },
    '25.0.20.45.in-addr.arpa': { PTR: ['mx.bigmail.example'] },
    '_dmarc.bigmail.example': { TXT: ['v=DMARC1; p=reject'] },
    [apiName]: { A: [address] },
  },
  '45.20.0.53',
)
const notAfter = new Date(Date.now() + 90 * 86_400_000)
const authority = createCertificate({ commonName: 'Hour', notAfter })
const certificate = createCertificate({ commonName: apiName, dnsNames: [apiName, domain], issuer: authority, notAfter })
const provider = await startProvider({
  address: '45.20.0.25',
  dnsServer: dns.address,
  certificate: createCertificate({ commonName: 'mx.bigmail.example', dnsNames: ['mx.bigmail.example'], issuer: authority }),
})
for (const [name, text] of Object.entries({ 'authority.pem': authority.cert, 'api.pem': certificate.cert, 'api.key': certificate.key }))
  writeFileSync(join(folder, name), text, { mode: 0o600 })

const settings: Record<string, string> = {
  CALLSIGN_DATA_DIR: join(folder, 'data'),
  CALLSIGN_HOST: '0.0.0.0',
  CALLSIGN_PUBLIC_URL: `https://${apiName}`,
  CALLSIGN_PORT: '80',
  CALLSIGN_HTTPS_PORT: '443',
  CALLSIGN_HTTP_REDIRECT: 'on',
  CALLSIGN_HTTPS_TLS_CERT_FILE: join(folder, 'api.pem'),
  CALLSIGN_HTTPS_TLS_KEY_FILE: join(folder, 'api.key'),
  CALLSIGN_SMTP_TLS_CERT_FILE: join(folder, 'api.pem'),
  CALLSIGN_SMTP_TLS_KEY_FILE: join(folder, 'api.key'),
  CALLSIGN_MAIL_DOMAIN: domain,
  CALLSIGN_MAIL_TRANSPORT: 'direct',
  CALLSIGN_SMTP_PORT: '25',
  CALLSIGN_POSTMASTER: 'postmaster_agent',
  CALLSIGN_DNS_SERVERS: dns.address,
}
mkdirSync(settings.CALLSIGN_DATA_DIR as string, { mode: 0o711 })
const mainFile = join(import.meta.dirname, '..', '..', 'packages', 'server', 'src', 'main.ts')
const onServer = (...command: string[]): [string, string[]] => ['ip', ['netns', 'exec', 'server', ...command]]
const callsignd = (...args: string[]) => onServer(process.execPath, '--disable-warning=ExperimentalWarning', mainFile, ...args)
const environment = { PATH: process.env.PATH, HOME: folder, ...settings }

const { check, finish } = createChecklist()
let server: ChildProcess | null = null
let key = ''
const beganMs = performance.now()
try {
  const isReady =
    (await check('1. address and PTR record, and outgoing port 25', () => {
      dns.set(domain, { A: [address] })
      dns.set('10.0.20.45.in-addr.arpa', { PTR: [domain] })
      const [program, args] = onServer('bash', '-c', '</dev/tcp/45.20.0.25/25')
      expectThat(spawnSync(program, args).status === 0, 'port 25 of the provider is not reachable')
      return `${address} is ${domain}`
    })) && (await check('2, 3. settings, and the first start until it is ready', start))
  if (isReady) await walk()
} finally {
  if (server) await stopChild(server)
  provider.stop()
  await dns.stop()
}
console.log(`\n${((performance.now() - beganMs) / 1000).toFixed(1)} seconds of machine time, without the waiting for people and for DNS`)
finish()

async function walk(): Promise<void> {
  await check('4. HTTPS for the API', () => JSON.parse(api('/api/v1/me')).organization_name)
  await check('7. two agents', () => {
    for (const handle of ['sales', 'postmaster_agent']) api('/api/v1/identities', { agent_handle: handle })
    return 'sales, postmaster_agent'
  })
  await check('   without records the provider refuses', () => expectReply('too early', '550 5.7.26'))
  await check('5. DNS records of the mail domain, from callsignd dkim', () => {
    const [program, args] = callsignd('dkim')
    const { stdout } = spawnSync(program, args, { env: environment, encoding: 'utf8' })
    const records = [...stdout.matchAll(/^(\S+)\. IN TXT (.*)$/gm)]
    expectThat(records.length === 2, `callsignd dkim printed ${stdout}`)
    for (const [, name = '', value = ''] of records)
      dns.set(name, { TXT: [[...value.matchAll(/"([^"]*)"/g)].map((part) => part[1] as string)] })
    dns.set(domain, { A: [address], MX: [{ preference: 10, exchange: domain }], TXT: ['v=spf1 mx -all'] })
    dns.set(`_dmarc.${domain}`, { TXT: [`v=DMARC1; p=none; rua=mailto:postmaster@${domain}`] })
    return `${records.length + 4} records`
  })
  await check('6. callsignd doctor', () => {
    const [program, args] = callsignd('doctor')
    const { status, stdout } = spawnSync(program, args, { env: environment, encoding: 'utf8' })
    const attention = stdout.split('\n').filter((line) => line.startsWith('ATTENTION'))
    expectThat(status === 0 && attention.length === 0, attention.join(' / '))
    return stdout.trim().split('\n').at(-1)
  })
  await check('7. a message that the provider accepts', () => expectReply('hello', '250 2.0.0'))
  await check('7. a reply from the provider arrives', receiveReply)
  await check('8. backup, and restore into an empty folder', () => {
    const file = join(folder, 'first.backup')
    const [program, args] = callsignd('backup', file)
    expectThat(spawnSync(program, args, { env: environment }).status === 0, 'the backup failed')
    const [restore, words] = callsignd('restore', file)
    mkdirSync(join(folder, 'restored'), { mode: 0o711 })
    const restored = spawnSync(restore, words, { env: { ...environment, CALLSIGN_DATA_DIR: join(folder, 'restored') }, encoding: 'utf8' })
    expectThat(restored.status === 0, restored.stderr)
    return restored.stdout.trim().split('\n').at(-1)
  })
}

/** Starts the server and reads the first key from its output. */
async function start(): Promise<string> {
  const [program, args] = callsignd('serve')
  const child = spawn(program, args, { env: environment, stdio: ['ignore', 'pipe', 'pipe'] })
  server = child
  let errors = ''
  child.stderr.on('data', (bytes: Buffer) => (errors = `${errors}${bytes}`.slice(-1000)))
  await new Promise<void>((resolve, reject) => {
    child.once('exit', (code) => reject(new Error(`the server ended with ${code}: ${errors}`)))
    createInterface({ input: child.stdout }).on('line', (line) => {
      key = /shown this once: (\S+)/.exec(line)?.[1] ?? key
      if (line.startsWith('callsign ready')) resolve()
    })
  })
  expectThat(key !== '', 'the first start printed no key')
  return 'the key was printed once'
}

/** Calls the API over HTTPS, as the documentation's curl. Without a body it GETs. */
function api(path: string, body?: object): string {
  const tls = ['--cacert', join(folder, 'authority.pem'), '--resolve', `${apiName}:443:${address}`]
  const data = body ? ['--header', 'Content-Type: application/json', '--data', JSON.stringify(body)] : []
  const headers = ['--header', `Authorization: Bearer ${key}`]
  const run = spawnSync(
    'curl',
    ['--silent', '--show-error', '--fail-with-body', '--interface', '45.20.0.99', ...tls, ...headers, ...data, `https://${apiName}${path}`],
    { encoding: 'utf8' },
  )
  expectThat(run.status === 0, `${path}: ${run.stderr} ${run.stdout}`)
  return run.stdout
}

/** Sends a message, and waits for the provider's reply to it. */
async function expectReply(subject: string, reply: string): Promise<string> {
  const sent = JSON.parse(api('/api/v1/mail/send', { agent: 'sales', to: [you], subject, text: 'Please reply.' })) as { id: string }
  const attempt = await until(`${sent.id} at the provider`, () => provider.attempts.find((one) => one.subject === subject))
  expectThat(attempt.reply.startsWith(reply), `the provider answered ${attempt.reply} (${attempt.verdicts})`)
  return `${attempt.reply.slice(0, 12)} (${attempt.verdicts})`
}

async function receiveReply(): Promise<string> {
  const message = `From: You <${you}>\r\nTo: sales@${domain}\r\nSubject: Re: hello\r\nMessage-ID: <1@bigmail.example>\r\nDate: ${new Date().toUTCString()}\r\n\r\nThank you.\r\n`
  const args = ['--silent', '--show-error', '--interface', '45.20.0.25', '--ssl-reqd', '--cacert', join(folder, 'authority.pem')]
  const target = [
    '--resolve',
    `${domain}:25:${address}`,
    `smtp://${domain}:25/mx.bigmail.example`,
    '--mail-from',
    you,
    '--mail-rcpt',
    `sales@${domain}`,
    '--upload-file',
    '-',
  ]
  const run = spawnSync('curl', [...args, ...target], { input: message, encoding: 'utf8' })
  expectThat(run.status === 0, run.stderr)
  type Listed = { data: { subject: string; direction: string }[] }
  const reply = await until('the reply', () =>
    (JSON.parse(api(`/api/v1/mailboxes/sales/messages`)) as Listed).data.find((one) => one.subject === 'Re: hello'),
  )
  return reply.direction
}

async function until<T>(name: string, find: () => T | undefined): Promise<T> {
  const endMs = performance.now() + stepMsMax
  for (;;) {
    const found = find()
    if (found !== undefined) return found
    expectThat(performance.now() < endMs, `${name} did not come within ${stepMsMax} ms`)
    await delay(50)
  }
}
