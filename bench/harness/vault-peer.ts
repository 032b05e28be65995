// One side of the vault figure, in its own process so that memory is measured alone. It derives with Argon2id alone, or unlocks a whole vault.
import { Callsign } from '@callsign/sdk'
import { argon2id, argon2idByWasm } from '../../packages/sdk/src/vault/crypto/argon2.ts'

export type PeerTask = { kind: 'argon2' | 'argon2-wasm' | 'unlock'; url: string; key: string; vaultKey: string }
/** `cpuMs` covers every thread of the process. It does not change when other processes use the machine. */
export type PeerResult = { ms: number; cpuMs: number; peakMb: number; secrets: number }

const argon2Input = { memoryKib: 65_536, passes: 3, lanes: 1, bytes: 32 }

async function work({ kind, url, key, vaultKey }: PeerTask): Promise<number> {
  if (kind === 'unlock') {
    const vault = await new Callsign({ url, apiKey: key }).vault.unlock(vaultKey)
    const secrets = vault.list()
    if (secrets.some(({ nameVerified }) => !nameVerified)) throw new Error('a secret did not open')
    vault.lock()
    return secrets.length
  }
  const derive = kind === 'argon2' ? argon2id : argon2idByWasm
  await derive({ ...argon2Input, password: new TextEncoder().encode(vaultKey), salt: crypto.getRandomValues(new Uint8Array(16)) })
  return 0
}

process.on('message', async (task: PeerTask) => {
  const started = performance.now()
  const before = process.cpuUsage()
  const secrets = await work(task)
  const ms = performance.now() - started
  const { user, system } = process.cpuUsage(before)
  const cpuMs = (user + system) / 1000
  process.send?.({ ms, cpuMs, peakMb: process.resourceUsage().maxRSS / 1024, secrets } satisfies PeerResult)
})
