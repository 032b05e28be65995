// Incoming mail. Callsign stores, parses and authenticates a message before 250, against Postfix storing the same messages.
// Ten sessions of smtp-source send 1, 10 and 100 KB.
import { execFile } from 'node:child_process'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs, promisify } from 'node:util'
import { startDnsServer } from '../packages/mail/tests/harness/dns-server.ts'
import { findPostfix, startPostfix } from '../packages/server/tests/harness/postfix.ts'
import { ask, makeDirectory, startCallsign } from './harness/callsign-server.ts'
import { report } from './harness/goals.ts'
import { readProcessorSeconds } from './harness/process-tree.ts'
import { createSender, textLine } from './harness/signed-message.ts'
import { measureLatency } from './harness/smtp-latency.ts'
import { median, printHead, printTable, withSpread } from './harness/table.ts'

const { values } = parseArgs({ options: { rounds: { type: 'string', default: '3' }, messages: { type: 'string', default: '2000' } } })
const rounds = Number(values.rounds)
const sessions = 10
const source = '/usr/sbin/smtp-source'
const run = promisify(execFile)
const warmUpMessages = 300

const missing = !existsSync(source) ? 'smtp-source is not installed (apt install postfix)' : findPostfix()
if (missing) {
  console.error(`This figure needs a peer: ${missing}.`)
  process.exit(2)
}

const directory = makeDirectory()
const dns = await startDnsServer()
const sender = await createSender('127.0.0.1')
for (const [name, records] of Object.entries(sender.records)) dns.set(name, records)

/**
 * Writes a signed message of this many octets, without a Message-ID, because copies with the same one would be filed as one. Lines end in LF, as
 * smtp-source expects.
 */
async function writeMessage(bytes: number): Promise<string> {
  const raw = await sender.sign(textLine, bytes)
  const file = join(directory.path, `message-${bytes}`)
  writeFileSync(file, raw.toString('latin1').replaceAll('\r\n', '\n').trimEnd(), 'latin1')
  return file
}

const callsign = await startCallsign(join(directory.path, 'data'), { settings: { CALLSIGN_DNS_SERVERS: dns.address } })
await ask(callsign, callsign.key as string, 'POST', '/api/v1/identities', { agent_handle: 'box' })
// On hold, so a message is accepted and on disk, and is not processed further.
const postfix = await startPostfix('agents.localhost', callsign.smtpPort as number, {
  smtpd_sender_restrictions: 'check_sender_access static:HOLD',
  smtpd_client_connection_count_limit: '100',
})

async function send(port: number, file: string, count: number, isKept: boolean): Promise<number> {
  const beganMs = performance.now()
  const kept = isKept ? ['-d'] : []
  await run(source, [
    ...kept,
    '-s',
    String(sessions),
    '-m',
    String(count),
    '-f',
    'ada@sender.example',
    '-t',
    'box@agents.localhost',
    '-F',
    file,
    `127.0.0.1:${port}`,
  ])
  return count / ((performance.now() - beganMs) / 1000)
}

const sizes = [1_000, 10_000, 100_000]
const countOf = (size: number): number => Math.ceil(Number(values.messages) / (size >= 100_000 ? 4 : 1))
printHead('Mail in', [
  `${sessions} sessions of smtp-source, ${rounds} rounds in turns. Callsign: DKIM, SPF, DMARC checked against a DNS server on loopback, parsed, filed, committed with fsync, then 250.`,
  'Postfix: queue file with fsync, then 250; held, so that it does nothing more. Median (min–max) messages a second; processor time a message of Callsign.',
])
const rows: string[][] = []
try {
  const warm = await writeMessage(2_000)
  for (const port of [callsign.smtpPort as number, postfix.port]) await send(port, warm, warmUpMessages, true)
  for (const size of sizes) {
    const file = await writeMessage(size)
    for (const isKept of [true, false]) {
      const ours: number[] = []
      const theirs: number[] = []
      const nodeUs: number[] = []
      const postgresUs: number[] = []
      for (let round = 0; round < rounds; round++) {
        const before = readProcessorSeconds(callsign.pid)
        ours.push(await send(callsign.smtpPort as number, file, countOf(size), isKept))
        const after = readProcessorSeconds(callsign.pid)
        nodeUs.push(((after.node - before.node) * 1e6) / countOf(size))
        postgresUs.push(((after.postgres - before.postgres) * 1e6) / countOf(size))
        theirs.push(await send(postfix.port, file, countOf(size), isKept))
      }
      if (isKept) report(`ingest-${size / 1000}`, median(ours) / median(theirs))
      rows.push([
        `${size / 1000} KB, ${isKept ? 'kept' : 'new'} connections`,
        withSpread(ours),
        withSpread(theirs),
        `${(median(ours) / median(theirs)).toFixed(2)}x`,
        `${median(nodeUs).toFixed(0)} + ${median(postgresUs).toFixed(0)} µs`,
      ])
    }
  }
  const message = Buffer.from(readFileSync(await writeMessage(1_000), 'latin1').replaceAll('\n', '\r\n'), 'latin1')
  const latencies: string[][] = []
  for (const [name, port] of [
    ['Callsign', callsign.smtpPort as number],
    ['Postfix, held', postfix.port],
  ] as const) {
    const took = await measureLatency(port, 'ada@sender.example', 'box@agents.localhost', message, Number(values.messages))
    if (name === 'Callsign') report('ingest-latency', took[Math.floor(took.length / 2)] as number)
    latencies.push([name, ...[0.5, 0.9, 0.99].map((share) => (took[Math.floor(took.length * share)] as number).toFixed(2))])
  }
  const { messages } = await ask<{ messages: { id: string }[] }>(
    callsign,
    callsign.key as string,
    'GET',
    '/api/v1/mail/messages?agent=box&limit=1',
  )
  const last = await ask<{ authentication: { dkim: { result: string }; spf: { result: string }; dmarc: { result: string } } }>(
    callsign,
    callsign.key as string,
    'GET',
    `/api/v1/mailboxes/box/messages/${messages[0]?.id}`,
  )
  const { spf, dkim, dmarc } = last.authentication
  printTable(['mail', 'Callsign', 'Postfix, held', 'ratio', 'node + postgres'], rows)
  console.log(`\nMilliseconds from the final dot to 250, for one client and ${values.messages} sequential messages of 1 KB.\n`)
  printTable(['', 'p50', 'p90', 'p99'], latencies)
  console.log(`\nThe last message has spf=${spf.result} dkim=${dkim.result} dmarc=${dmarc.result}.`)
  if (dkim.result !== 'pass') process.exitCode = 1
} finally {
  await callsign.stop()
  await postfix.stop()
  await dns.stop()
  directory.remove()
}
