// Mail out, composed, signed and delivered to smtp-sink, against Postfix accepting the same mail and relaying it there.
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { parseArgs } from 'node:util'
import { findFreePort } from '../packages/server/tests/harness/peer-process.ts'
import { findPostfix, startPostfix } from '../packages/server/tests/harness/postfix.ts'
import { ask, makeDirectory, startCallsign, stopChild } from './harness/callsign-server.ts'
import { report } from './harness/goals.ts'
import { openKeepAliveClient } from './harness/keep-alive-client.ts'
import { readProcessorSeconds } from './harness/process-tree.ts'
import { median, printHead, printTable, withSpread } from './harness/table.ts'

const { values } = parseArgs({
  options: {
    rounds: { type: 'string', default: '3' },
    messages: { type: 'string', default: '2000' },
    bytes: { type: 'string', default: '10240' },
    seconds: { type: 'string' },
    connections: { type: 'string' },
    /** A folder for a profile of the server, as Node writes it with --cpu-prof. */
    profile: { type: 'string' },
  },
})
const [rounds, messages, bytes] = [Number(values.rounds), Number(values.messages), Number(values.bytes)]
/** Sessions of smtp-source, and requests at the same time. */
const clients = 10

type Measure = { perSecond: number; ownUs: number; postgresUs: number }

/** Starts Postfix's sink on a free port. `count` returns the number of messages it has taken. */
async function startSink(): Promise<{ port: number; count: () => number; stop: () => Promise<void> }> {
  const port = await findFreePort()
  const child = spawn('/usr/sbin/smtp-sink', [...(process.getuid?.() === 0 ? ['-u', 'nobody'] : []), '-c', `127.0.0.1:${port}`, '200'], {
    stdio: ['ignore', 'pipe', 'ignore'],
  })
  let taken = 0
  // The sink rewrites one line with its counters, which are sessions, quits and messages.
  child.stdout.on('data', (chunk: Buffer) => {
    const last = [...chunk.toString().matchAll(/mesg=(\d+)/g)].at(-1)
    if (last) taken = Number(last[1])
  })
  await once(child, 'spawn')
  return { port, count: () => taken, stop: () => stopChild(child) }
}

/** From the first message handed in to the last one at the sink. */
async function measure(pid: number, sink: { count: () => number }, handIn: () => Promise<void>): Promise<Measure> {
  const wanted = sink.count() + messages
  const spent = () => readProcessorSeconds(pid)
  const [beganMs, spentBefore] = [performance.now(), spent()]
  await handIn()
  while (sink.count() < wanted) await new Promise((resolve) => setTimeout(resolve, 5))
  const seconds = (performance.now() - beganMs) / 1000
  const after = spent()
  const perMessage = (part: 'node' | 'postgres') => ((after[part] - spentBefore[part]) * 1e6) / messages
  return { perSecond: messages / seconds, ownUs: perMessage('node'), postgresUs: perMessage('postgres') }
}

async function finish(child: ChildProcess): Promise<void> {
  const [code] = await once(child, 'exit')
  if (code !== 0) throw new Error(`smtp-source ended with ${code}`)
}

const missing = findPostfix()
if (missing) {
  console.error(`This figure needs Postfix: ${missing}`)
  process.exit(1)
}
const sink = await startSink()
const directory = makeDirectory()
const postfix = await startPostfix('example.net', sink.port, { in_flow_delay: '0', smtpd_client_connection_count_limit: '0' })
const callsign = await startCallsign(directory.path, {
  nodeArguments: values.profile ? ['--cpu-prof', '--cpu-prof-dir', values.profile] : [],
  settings: { CALLSIGN_MAIL_TRANSPORT: 'relay', CALLSIGN_SMTP_RELAY_URL: `smtp://127.0.0.1:${sink.port}?tls=off` },
})
try {
  const key = callsign.key as string
  await ask(callsign, key, 'POST', '/api/v1/identities', { agent_handle: 'sender' })
  const text = `${'words of a message that goes out, '.repeat(2).trim()}\n`.repeat(Math.ceil(bytes / 64)).slice(0, bytes)
  const body = Buffer.from(JSON.stringify({ agent: 'sender', to: ['somebody@example.net'], subject: 'A message', text }))
  const throughPostfix = () => {
    const given = ['-s', String(clients), '-m', String(messages), '-l', String(bytes), '-d']
    return finish(
      spawn('/usr/sbin/smtp-source', [...given, '-f', 'sender@example.org', '-t', 'somebody@example.net', `127.0.0.1:${postfix.port}`]),
    )
  }
  const throughCallsign = async () => {
    let left = messages
    const client = async () => {
      const connection = await openKeepAliveClient(`${callsign.url}/api/v1/mail/send`, key, body, 201)
      while (left-- > 0) await connection.post()
      connection.close()
    }
    await Promise.all(Array.from({ length: clients }, client))
  }
  printHead('Mail out, to the next server', [
    `${messages} messages of ${bytes} bytes, ${clients} clients at a time, each message to one recipient; from the first one handed in to the last one at smtp-sink.`,
    'Postfix: smtp-source hands in ready bytes over SMTP; accepted (fsync) and relayed. Callsign: POST /mail/send; committed (fsync), composed, signed with',
    'RSA-2048 and Ed25519, relayed over kept connections, its outcome, log and events committed. Both with their shipped limits, in turns. The processor time is of the server and its children.',
  ])
  const own: Measure[] = []
  const peer: Measure[] = []
  // The first round of each warms up.
  for (let round = 0; round <= rounds; round++) {
    const measured = [await measure(postfix.pid, sink, throughPostfix), await measure(callsign.pid, sink, throughCallsign)] as const
    if (round === 0) continue
    peer.push(measured[0])
    own.push(measured[1])
  }
  const rows = [
    ['Postfix', ...row(peer, peer)],
    ['callsign', ...row(own, peer)],
  ]
  printTable(['server', 'messages/s', 'ratio', 'CPU µs/message', 'its PostgreSQL'], rows)
  report('deliver', median(own.map((one, i) => one.perSecond / (peer[i] as Measure).perSecond)))
  console.log(`\nMedians of ${rounds} alternating rounds (min–max). Each ratio compares results of the same round.`)
} finally {
  await Promise.all([callsign.stop(), postfix.stop()])
  await sink.stop()
  directory.remove()
}

function row(measures: Measure[], against: Measure[]): string[] {
  const ratios = measures.map((one, i) => one.perSecond / (against[i] as Measure).perSecond)
  return [
    withSpread(measures.map((one) => one.perSecond)),
    measures === against ? '1' : withSpread(ratios, 2),
    median(measures.map((one) => one.ownUs)).toFixed(0),
    median(measures.map((one) => one.postgresUs)).toFixed(0),
  ]
}
