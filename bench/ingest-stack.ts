// Incoming mail until it is checked, filed and searchable, against Postfix + rspamd + Dovecot doing the same work.
import { execFile } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs, promisify } from 'node:util'
import { startDnsServer } from '../packages/mail/tests/harness/dns-server.ts'
import { ask, makeDirectory, startCallsign } from './harness/callsign-server.ts'
import { report } from './harness/goals.ts'
import { findStack, startMailStack } from './harness/mail-stack.ts'
import { readProcessorSeconds } from './harness/process-tree.ts'
import { createSender, textLine } from './harness/signed-message.ts'
import { median, printHead, printTable, withSpread } from './harness/table.ts'

const { values } = parseArgs({
  options: {
    rounds: { type: 'string', default: '3' },
    messages: { type: 'string', default: '1000' },
    seconds: { type: 'string' },
    connections: { type: 'string' },
  },
})
const rounds = Number(values.rounds)
const sessions = 10
const run = promisify(execFile)
const sizes = [1_000, 10_000, 100_000]
const countOf = (size: number): number => Math.ceil(Number(values.messages) / (size >= 100_000 ? 4 : 1))

const missing = findStack()
if (missing) {
  console.error(`This figure needs Postfix, rspamd and Dovecot: ${missing}.`)
  process.exit(2)
}

type Measure = { perSecond: number; processorUs: number }
type Side = { port: number; to: string; pids: number[]; waitUntilFiled: (count: number) => Promise<void>; filed: number }

const directory = makeDirectory()
const dns = await startDnsServer()
const sender = await createSender('127.0.0.1')
for (const [name, records] of Object.entries(sender.records)) dns.set(name, records)
const [host = '', port = ''] = dns.address.split(':')
const callsign = await startCallsign(join(directory.path, 'data'), { settings: { CALLSIGN_DNS_SERVERS: dns.address } })
const key = callsign.key as string
await ask(callsign, key, 'POST', '/api/v1/identities', { agent_handle: 'box' })
const stack = await startMailStack({ host, port: Number(port) })

/** Callsign has filed and indexed a message when it answers 250. */
const ours: Side = {
  port: callsign.smtpPort as number,
  to: 'box@agents.localhost',
  pids: [callsign.pid],
  waitUntilFiled: async () => {},
  filed: 0,
}
const theirs: Side = { port: stack.port, to: 'box@example.com', pids: stack.pids, waitUntilFiled: stack.waitUntilFiled, filed: 0 }

async function writeMessage(bytes: number): Promise<string> {
  const raw = await sender.sign(textLine, bytes)
  const file = join(directory.path, `message-${bytes}`)
  // Without a Message-ID, because copies with the same one would be filed as one. smtp-source expects LF.
  writeFileSync(file, raw.toString('latin1').replaceAll('\r\n', '\n').trimEnd(), 'latin1')
  return file
}

const spentBy = (side: Side): number =>
  side.pids.reduce((sum, pid) => {
    const { node, postgres } = readProcessorSeconds(pid)
    return sum + node + postgres
  }, 0)

/** From the first message until the last one is filed and indexed. */
async function measure(side: Side, file: string, count: number): Promise<Measure> {
  const [beganMs, before] = [performance.now(), spentBy(side)]
  const envelope = ['-f', 'ada@sender.example', '-t', side.to]
  await run('/usr/sbin/smtp-source', ['-d', '-s', String(sessions), '-m', String(count), ...envelope, '-F', file, `127.0.0.1:${side.port}`])
  side.filed += count
  await side.waitUntilFiled(side.filed)
  const seconds = (performance.now() - beganMs) / 1000
  return { perSecond: count / seconds, processorUs: ((spentBy(side) - before) * 1e6) / count }
}

/** The results of the sender checks of the newest message on each side, so that a check that does not run is seen. */
async function readVerdicts(): Promise<string[]> {
  const { messages } = await ask<{ messages: { id: string }[] }>(callsign, key, 'GET', '/api/v1/mail/messages?agent=box&limit=1')
  const own = await ask<{ authentication: Record<'spf' | 'dkim' | 'dmarc', { result: string }> }>(
    callsign,
    key,
    'GET',
    `/api/v1/mailboxes/box/messages/${messages[0]?.id}`,
  )
  const { spf, dkim, dmarc } = own.authentication
  const header = /^Authentication-Results:(?:.*\r?\n[ \t])*.*/im.exec(readFileSync(stack.newest(), 'latin1'))?.[0] ?? ''
  const peer = ['spf', 'dkim', 'dmarc'].map((check) => new RegExp(`${check}=(\\w+)`).exec(header)?.[1] ?? 'none')
  return [[spf.result, dkim.result, dmarc.result].join(' '), peer.join(' ')]
}

const rows: string[][] = []
try {
  printHead('Mail in, against the stack for the same work', [
    `${sessions} sessions of smtp-source with kept connections, ${rounds} rounds in turns. SPF, DKIM, DMARC and ARC are checked against a DNS server on loopback.`,
    'Callsign also finds codes and flags and applies guardrails, commits with fsync, then answers 250. The stack: Postfix with its queue on disk, rspamd as milter',
    'with these four checks only, Dovecot over LMTP into a maildir with its Xapian index. A message counts when it is filed and indexed.',
  ])
  for (const size of sizes) {
    const file = await writeMessage(size)
    const measures: [Measure[], Measure[]] = [[], []]
    // The first round warms both up.
    for (let round = -1; round < rounds; round++) {
      const own = await measure(ours, file, countOf(size))
      const peer = await measure(theirs, file, countOf(size))
      if (round < 0) continue
      measures[0].push(own)
      measures[1].push(peer)
    }
    const ratios = measures[0].map((one, i) => one.perSecond / (measures[1][i] as Measure).perSecond)
    report(`stack-${size / 1000}`, median(ratios))
    const processor = measures.map((side) => `${median(side.map((one) => one.processorUs)).toFixed(0)} µs`)
    rows.push([
      `${size / 1000} KB`,
      ...measures.map((side) => withSpread(side.map((one) => one.perSecond))),
      withSpread(ratios, 2),
      ...processor,
    ])
  }
  printTable(['mail', 'Callsign', 'stack', 'ratio', 'processor, Callsign', 'processor, stack'], rows)
  const verdicts = await readVerdicts()
  console.log(`\nThe last message has spf, dkim, dmarc: ${verdicts.join(' here, ')} there.`)
  if (verdicts.some((one) => one !== 'pass pass pass')) process.exitCode = 1
} finally {
  await callsign.stop()
  await stack.stop()
  await dns.stop()
  directory.remove()
}
