// A machine of its own in a network namespace, linked to the machine of the run. It is killed, frozen, or cut off.
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createWriteStream, readdirSync, readlinkSync } from 'node:fs'
import { setTimeout as delay } from 'node:timers/promises'
import { run } from './sandbox.ts'

const bridge = 'chaos0'
export const runAddress = '10.77.0.1'
const endMsMax = 10_000

export type Host = Awaited<ReturnType<typeof createHost>>

/** Creates the network that hosts are linked to. */
export function createNetwork(): void {
  run('ip', 'link', 'add', bridge, 'type', 'bridge')
  run('ip', 'address', 'add', `${runAddress}/24`, 'dev', bridge)
  run('ip', 'link', 'set', bridge, 'up')
}

/** Creates a host with the address 10.77.0.(10 + number). */
export async function createHost(number: number) {
  const address = `10.77.0.${10 + number}`
  // It only holds the namespace.
  const holder = spawn('unshare', ['--net', 'sleep', 'infinity'], { stdio: 'ignore' })
  await once(holder, 'spawn')
  const pid = holder.pid as number
  while (namespaceOf(pid) === namespaceOf(process.pid)) await delay(5)
  const [outer, inside] = [`chaos-n${number}`, (...args: string[]) => run('nsenter', '-t', `${pid}`, '-n', ...args)]
  run('ip', 'link', 'add', outer, 'type', 'veth', 'peer', 'name', 'eth0', 'netns', `${pid}`)
  run('ip', 'link', 'set', outer, 'master', bridge, 'up')
  inside('ip', 'link', 'set', 'lo', 'up')
  inside('ip', 'address', 'add', `${address}/24`, 'dev', 'eth0')
  inside('ip', 'link', 'set', 'eth0', 'up')
  // Packets to a host that is cut off get lost. Without an entry of its own, they would be refused as unreachable after a while.
  const mac = /link\/ether (\S+)/.exec(inside('ip', 'link', 'show', 'eth0'))?.[1] as string
  run('ip', 'neighbor', 'replace', address, 'lladdr', mac, 'nud', 'permanent', 'dev', bridge)

  const namespace = namespaceOf(pid)
  const pids = (): number[] =>
    readdirSync('/proc')
      .map(Number)
      .filter((one) => one > 0 && one !== pid && namespaceOf(one) === namespace)
  const signal = (name: NodeJS.Signals) => {
    for (const one of pids()) {
      try {
        process.kill(one, name)
      } catch {}
    }
  }

  return {
    number,
    address,

    /** Starts a program on the host, as this account, with its output in a file. */
    start(account: string, logFile: string, command: string, ...args: string[]): ChildProcess {
      const as = ['setpriv', `--reuid=${account}`, `--regid=${account}`, '--init-groups', command, ...args]
      const child = spawn('nsenter', ['-t', `${pid}`, '-n', ...as], { stdio: ['ignore', 'pipe', 'pipe'], cwd: '/' })
      const log = createWriteStream(logFile, { flags: 'a' })
      for (const stream of [child.stdout, child.stderr]) stream?.pipe(log, { end: false })
      return child
    },

    /** Kills every process with SIGKILL. Resolves when they have ended. */
    async kill(): Promise<void> {
      const startedMs = performance.now()
      // A process may start another one meanwhile.
      while (pids().length > 0) {
        if (performance.now() - startedMs > endMsMax) throw new Error(`processes of host ${number} do not end`)
        signal('SIGKILL')
        await delay(20)
      }
    },
    freeze: () => signal('SIGSTOP'),
    thaw: () => signal('SIGCONT'),
    /** Packets from and to the host get lost. Connections stay open on both sides. */
    cut: () => void run('ip', 'link', 'set', outer, 'down'),
    mend: () => void run('ip', 'link', 'set', outer, 'up'),
  }
}

function namespaceOf(pid: number): string | null {
  try {
    return readlinkSync(`/proc/${pid}/ns/net`)
  } catch {
    return null
  }
}
