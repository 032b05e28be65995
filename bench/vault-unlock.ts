// Unlocks a vault of 1,000 secrets and decrypts and checks each, against Argon2id alone with the same parameters.
// The goal is 1.2 times its time and memory.
import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { Callsign } from '@callsign/sdk'
import { makeDirectory, startCallsign, stopChild } from './harness/callsign-server.ts'
import { median, printHead, printTable, withSpread } from './harness/table.ts'
import type { PeerResult, PeerTask } from './harness/vault-peer.ts'

const { values } = parseArgs({
  options: { rounds: { type: 'string', default: '15' }, secrets: { type: 'string', default: '1000' } },
  strict: false,
})
const [rounds, secretsCount] = [Number(values.rounds), Number(values.secrets)]
const vaultKey = 'a vault key for measuring only'

async function fill(url: string, apiKey: string): Promise<void> {
  const { vault } = await new Callsign({ url, apiKey }).vault.initialize({ vaultKey, recoveryCodes: 0 })
  for (let i = 0; i < secretsCount; i++) {
    const payload = {
      username: `user${i}@example.com`,
      password: `password number ${i}`,
      url: 'https://example.com/login',
      notes: 'x'.repeat(200),
    }
    await vault.create({ type: 'login', name: `secret ${i}`, payload })
  }
}

const freshRounds = 5
const startPeer = () => fork(join(import.meta.dirname, 'harness', 'vault-peer.ts'))
const kinds: PeerTask['kind'][] = ['argon2', 'argon2-wasm', 'unlock']
const names = { argon2: 'Argon2id alone (Node)', 'argon2-wasm': 'Argon2id alone (WebAssembly)', unlock: `unlock, ${secretsCount} secrets` }

const directory = makeDirectory()
const server = await startCallsign(directory.path)
const peers = new Map<PeerTask['kind'], ChildProcess>()
try {
  const key = server.key as string
  await fill(server.url, key)
  for (const kind of kinds) peers.set(kind, startPeer())
  const askPeer = async (peer: ChildProcess, kind: PeerTask['kind']): Promise<PeerResult> => {
    peer.send({ kind, url: server.url, key, vaultKey } satisfies PeerTask)
    const [result] = (await once(peer, 'message')) as [PeerResult]
    return result
  }
  const ask = (kind: PeerTask['kind']) => askPeer(peers.get(kind) as ChildProcess, kind)
  // The first result of a process is the memory of one unlock. Later ones include memory that the garbage collector has not released yet.
  const firstMb = new Map<PeerTask['kind'], number[]>(kinds.map((kind) => [kind, []]))
  for (let round = 0; round < freshRounds; round++) {
    for (const kind of kinds) {
      const peer = startPeer()
      firstMb.get(kind)?.push((await askPeer(peer, kind)).peakMb)
      await stopChild(peer)
    }
  }
  for (const kind of kinds) await ask(kind)
  const results = new Map<PeerTask['kind'], PeerResult[]>(kinds.map((kind) => [kind, []]))
  for (let round = 0; round < rounds; round++) for (const kind of kinds) results.get(kind)?.push(await ask(kind))

  printHead('Vault unlock', ['64 MiB, 3 passes, 1 lane; two requests over loopback; every secret decrypted and held against its context.'])
  const limit = results.get('argon2') as PeerResult[]
  const rows = kinds.map((kind) => {
    const own = results.get(kind) as PeerResult[]
    const of = (field: 'ms' | 'cpuMs') => [
      withSpread(
        own.map((result) => result[field]),
        1,
      ),
      withSpread(
        own.map((result, i) => result[field] / (limit[i] as PeerResult)[field]),
        2,
      ),
    ]
    const first = (of: PeerTask['kind']) => median(firstMb.get(of) as number[])
    const peak = (results: PeerResult[]) => Math.max(...results.map(({ peakMb }) => peakMb))
    const memory = [first(kind), first(kind) / first('argon2'), peak(own), peak(own) / peak(limit)]
    return [names[kind], ...of('ms'), ...of('cpuMs'), ...memory.map((figure, i) => figure.toFixed(i % 2 === 0 ? 0 : 2))]
  })
  printTable(
    ['what', 'ms', 'ratio', 'CPU ms of the client', 'ratio', 'peak MB of one', 'ratio', `peak MB after ${rounds + 1}`, 'ratio'],
    rows,
  )
  const opened = median((results.get('unlock') as PeerResult[]).map(({ secrets }) => secrets))
  if (opened !== secretsCount) throw new Error(`${opened} secrets were opened of ${secretsCount}.`)
  console.log(
    `\nMedians of ${rounds} alternating rounds (min–max), each kind in its own process. Each ratio compares results of the same round.`,
  )
} finally {
  for (const peer of peers.values()) await stopChild(peer)
  await server.stop()
  directory.remove()
}
