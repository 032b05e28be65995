// The steps of docs/operating.md, with its commands. Runs in the namespace of DNS, authority and provider. The server has a namespace of its own.
import { type ChildProcess, spawn } from 'node:child_process'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { setTimeout as delay } from 'node:timers/promises'
import { stopChild } from '../harness/callsign-server.ts'
import { createChecklist, expectThat } from '../harness/checklist.ts'
import { readSteps } from './guide.ts'
import { addresses, names, reversed, startWorld } from './world.ts'

const [folder = ''] = process.argv.slice(2)
const stepMsMax = 60_000
const you = 'you@gmail.com'

const environment: Record<string, string> = {
  PATH: `/opt/callsign/packages/server/bin:${process.env.PATH}`,
  HOME: folder,
  NODE_EXTRA_CA_CERTS: join(folder, 'trusted.pem'),
  CURL_CA_BUNDLE: join(folder, 'trusted.pem'),
}
const steps = readSteps()
const world = await startWorld(folder)
const { check, finish } = createChecklist()
let server: ChildProcess | null = null
let printedRecords = ''

type Ended = { status: number | null; stdout: string; stderr: string }

function run(program: string, args: string[], options: { cwd?: string; input?: string } = {}): Promise<Ended> {
  const child = spawn(program, args, { env: environment, cwd: options.cwd ?? '/etc/callsign' })
  const output = { stdout: '', stderr: '' }
  for (const name of ['stdout', 'stderr'] as const)
    child[name].on('data', (bytes: Buffer) => {
      output[name] += bytes.toString()
    })
  child.stdin.end(options.input ?? '')
  return new Promise((resolve, reject) => {
    child.once('error', reject)
    child.once('close', (status) => resolve({ status, ...output }))
  })
}

/** Runs the commands of a block on the server, and returns what they print. */
async function onServer(block: string, cwd?: string): Promise<string> {
  const commands = block.replaceAll('192.0.2.10', addresses.server)
  const arguments_ = ['netns', 'exec', 'server', 'bash', '--norc', '-euo', 'pipefail', '-c', commands]
  const { status, stdout, stderr } = await run('ip', arguments_, cwd ? { cwd } : {})
  expectThat(status === 0, `${commands} ended with ${status}: ${stdout.slice(-600)} ${stderr.slice(-600)}`)
  return stdout
}

function blockOf(number: number, index: number): string {
  const block = steps[number - 1]?.blocks[index]
  expectThat(block !== undefined, `docs/operating.md has no block ${index + 1} in step ${number}`)
  return block
}

/** Runs block `index` of a step, which has to print every word of `expected`. */
async function runBlock(number: number, index: number, expected: string[], cwd?: string): Promise<string> {
  const block = blockOf(number, index)
  const printed = await onServer(block, cwd)
  for (const word of expected) expectThat(printed.includes(word), `${block} did not print ${word}, but ${printed.slice(-600)}`)
  return printed
}

const titleOf = (number: number): string => steps[number - 1]?.title ?? `${number}. (not in docs/operating.md)`
const lastLine = (text: string): string | undefined => text.trim().split('\n').at(-1)

const beganMs = performance.now()
try {
  await walk()
} finally {
  if (server) await stopChild(server)
  await world.stop()
}
console.log(`\n${((performance.now() - beganMs) / 1000).toFixed(1)} seconds of machine time, without the waiting for people and for DNS`)
finish()

/** Each step needs the ones before it. */
async function walk(): Promise<void> {
  for (const [number, step] of [address, install, settings, records, start, dkim, diagnose, mail, backup].entries())
    if (!(await check(titleOf(number + 1), step))) return
  await check('   without its records the provider refuses', async () => {
    world.withdraw()
    await onServer(
      blockOf(8, 0)
        .replace(/^for .*?^done$/ms, '')
        .replace('Hello from an agent', 'Too late'),
    )
    const { reply, verdicts } = await attemptOf('Too late')
    expectThat(reply.startsWith('550 5.7.26'), `the provider answered ${reply} (${verdicts})`)
    return `${reply.slice(0, 10)} (${verdicts})`
  })
}

async function address(): Promise<string> {
  world.publish(`${names.mail}. A own\n${names.api}. A own`)
  world.dns.set(`${reversed(addresses.server)}.in-addr.arpa`, { PTR: [names.mail] })
  await runBlock(1, 0, [`${addresses.server}\n${addresses.server}`, `${names.mail}.`, 'open'], '/')
  return `${addresses.server} is ${names.mail}`
}

/** The first block needs the Internet and systemd, which `npm run unit` has. */
async function install(): Promise<string> {
  await runBlock(2, 1, ['usage: callsignd'], '/')
  return 'a checkout in /opt/callsign'
}

async function settings(): Promise<string> {
  printedRecords = await runBlock(3, 0, [`CALLSIGN_MAIL_DOMAIN=${names.mail}`, 'CALLSIGN_ACME_DIRECTORY=https://acme-v02'], '/')
  return '/etc/callsign/callsign.env'
}

async function records(): Promise<string> {
  const count = world.publish(printedRecords)
  await runBlock(4, 0, [`10 ${names.mail}.`, 'v=spf1', 'v=DMARC1'])
  return `${count} records as setup printed them`
}

/** The first block is for systemd. Its command is run here, with the directory of the settings. */
async function start(): Promise<string> {
  const child = spawn('ip', ['netns', 'exec', 'server', 'callsignd', 'serve'], {
    env: environment,
    cwd: '/etc/callsign',
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  server = child
  let errors = ''
  child.stderr.on('data', (bytes: Buffer) => (errors = `${errors}${bytes}`.slice(-1000)))
  await new Promise<void>((resolve, reject) => {
    child.once('exit', (code) => reject(new Error(`the server ended with ${code}: ${errors}`)))
    createInterface({ input: child.stdout }).on('line', (line) => {
      environment.KEY = /shown this once: (\S+)/.exec(line)?.[1] ?? environment.KEY ?? ''
      if (line.startsWith('callsign ready')) resolve()
    })
  })
  expectThat(environment.KEY !== '', 'the first start printed no key')
  await runBlock(5, 1, ['organization_name'])
  return `${world.acme.state.certificates.size} certificates, and the key works over HTTPS`
}

async function dkim(): Promise<string> {
  const count = world.publish(await runBlock(6, 0, ['_domainkey']))
  expectThat(count === 2, `callsignd dkim printed ${count} records`)
  return `${count} records`
}

async function diagnose(): Promise<string | undefined> {
  const printed = await onServer(`${blockOf(7, 0).trim()} || true`)
  const attention = printed.split('\n').filter((line) => line.startsWith('ATTENTION'))
  expectThat(lastLine(printed) === 'Everything is fine.', attention.join(' / ') || printed)
  return lastLine(printed)
}

async function mail(): Promise<string> {
  await runBlock(8, 0, ['"sales"'])
  const { reply, verdicts } = await attemptOf('Hello from an agent')
  expectThat(reply.startsWith('250') && !/fail|none/.test(verdicts), `the provider answered ${reply} (${verdicts})`)
  await answer()
  await until('the message as delivered, and the reply', async () => {
    const listed = await runBlock(8, 1, [])
    return listed.includes('"delivered"') && listed.includes('Re: Hello from an agent') ? true : undefined
  })
  return `${verdicts}, and a reply arrived`
}

async function backup(): Promise<string | undefined> {
  return lastLine(await runBlock(9, 0, ['backed up', 'restored']))
}

/** The provider sends the reply of its user. */
async function answer(): Promise<void> {
  const headers = [
    `From: You <${you}>`,
    `To: sales@${names.mail}`,
    'Subject: Re: Hello from an agent',
    'Message-ID: <1@mail.gmail.com>',
    `Date: ${new Date().toUTCString()}`,
  ]
  const { status, stderr } = await run(
    'curl',
    [
      ...['--silent', '--show-error', '--interface', addresses.provider, '--ssl-reqd', `smtp://${names.mail}:25/${names.provider}`],
      ...['--mail-from', you, '--mail-rcpt', `sales@${names.mail}`, '--upload-file', '-'],
    ],
    { input: `${headers.join('\r\n')}\r\n\r\nThank you.\r\n` },
  )
  expectThat(status === 0, `the reply was refused: ${stderr}`)
}

/** The provider's record of the message with this subject. */
function attemptOf(subject: string) {
  return until(`"${subject}" at the provider`, () => world.provider.attempts.find((one) => one.subject === subject))
}

async function until<T>(name: string, find: () => Promise<T | undefined> | T | undefined): Promise<T> {
  const endMs = performance.now() + stepMsMax
  for (;;) {
    const found = await find()
    if (found !== undefined) return found
    expectThat(performance.now() < endMs, `${name} did not come within ${stepMsMax} ms`)
    await delay(50)
  }
}
