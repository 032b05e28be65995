// Incoming mail with storage quotas. One server takes the same mail without a quota, with one of the agent, and with one of the organization too.
// All mail is for one agent, which is the worst case, because additions to one quota wait for each other.
import { execFile } from 'node:child_process'
import { existsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs, promisify } from 'node:util'
import { startDnsServer } from '../packages/mail/tests/harness/dns-server.ts'
import { ask, makeDirectory, startCallsign } from './harness/callsign-server.ts'
import { readProcessorSeconds } from './harness/process-tree.ts'
import { createSender, textLine } from './harness/signed-message.ts'
import { median, printHead, printTable, withSpread } from './harness/table.ts'

const { values } = parseArgs({ options: { rounds: { type: 'string', default: '7' }, messages: { type: 'string', default: '2000' } } })
const rounds = Number(values.rounds)
const count = Number(values.messages)
const sessions = 10
const messageBytes = 10_000
const quotaBytes = 1e12
const source = '/usr/sbin/smtp-source'
const run = promisify(execFile)

if (!existsSync(source)) {
  console.error('This figure needs a client: smtp-source is not installed (apt install postfix).')
  process.exit(2)
}

type Quotas = { agent: number | null; organization: number | null }
const variants: [string, Quotas][] = [
  ['no quota', { agent: null, organization: null }],
  ['quota of the agent', { agent: quotaBytes, organization: null }],
  ['quotas of the agent and the organization', { agent: quotaBytes, organization: quotaBytes }],
]

const directory = makeDirectory()
const dns = await startDnsServer()
const sender = await createSender('127.0.0.1')
for (const [name, records] of Object.entries(sender.records)) dns.set(name, records)
const file = join(directory.path, 'message')
// Lines end in LF, as smtp-source expects. Without a Message-ID, because copies with the same one would be filed as one.
writeFileSync(file, (await sender.sign(textLine, messageBytes)).toString('latin1').replaceAll('\r\n', '\n').trimEnd(), 'latin1')

const callsign = await startCallsign(join(directory.path, 'data'), { settings: { CALLSIGN_DNS_SERVERS: dns.address } })
const key = callsign.key as string
await ask(callsign, key, 'POST', '/api/v1/identities', { agent_handle: 'box' })

async function limit({ agent, organization }: Quotas): Promise<void> {
  await ask(callsign, key, 'PATCH', '/api/v1/identities/box', { storage_quota_bytes: agent })
  await ask(callsign, key, 'PATCH', '/api/v1/organization', { storage_quota_bytes: organization })
}

/** Sends `count` messages on kept connections. Returns messages per second. */
async function send(messages: number): Promise<number> {
  const envelope = ['-f', 'ada@sender.example', '-t', 'box@agents.localhost', '-F', file]
  const beganMs = performance.now()
  await run(source, ['-d', '-s', String(sessions), '-m', String(messages), ...envelope, `127.0.0.1:${callsign.smtpPort}`])
  return messages / ((performance.now() - beganMs) / 1000)
}

printHead('Mail in with storage quotas', [
  `${sessions} sessions of smtp-source, ${count} messages of ${messageBytes / 1000} KB to one agent, ${rounds} rounds in turns. DKIM, SPF and DMARC checked, filed, committed with fsync, then 250.`,
  'Median (min–max) messages a second; the median of the ratios to the run without a quota in the same round; processor time a message.',
])
try {
  const measured = variants.map(() => ({ rates: [] as number[], nodeUs: [] as number[], postgresUs: [] as number[] }))
  for (const [, quotas] of variants) {
    await limit(quotas)
    await send(count / 4)
  }
  for (let round = 0; round < rounds; round++)
    for (const [index, [, quotas]] of variants.entries()) {
      const own = measured[index] as (typeof measured)[number]
      await limit(quotas)
      const before = readProcessorSeconds(callsign.pid)
      own.rates.push(await send(count))
      const after = readProcessorSeconds(callsign.pid)
      own.nodeUs.push(((after.node - before.node) * 1e6) / count)
      own.postgresUs.push(((after.postgres - before.postgres) * 1e6) / count)
    }
  const without = (measured[0] as (typeof measured)[number]).rates
  printTable(
    ['quotas', 'messages/s', 'to no quota', 'node + postgres'],
    variants.map(([name], index) => {
      const { rates, nodeUs, postgresUs } = measured[index] as (typeof measured)[number]
      const ratio = median(rates.map((rate, round) => rate / (without[round] as number)))
      return [name, withSpread(rates), `${ratio.toFixed(2)}x`, `${median(nodeUs).toFixed(0)} + ${median(postgresUs).toFixed(0)} µs`]
    }),
  )
} finally {
  await callsign.stop()
  await dns.stop()
  directory.remove()
}
