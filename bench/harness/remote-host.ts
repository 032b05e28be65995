// Places the origin and the tunnel clients on this machine, or behind a link that delays each direction by half a round trip.
import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { userInfo } from 'node:os'
import { join } from 'node:path'
import { stopChild } from './callsign-server.ts'

export type RemoteHost = {
  /** This side's address, as the remote side reaches it. */
  nearAddress: string
  /** Command that starts a program on the remote side. */
  command: (program: string, args: string[]) => [string, string[]]
  stop: () => Promise<void>
}

/** Without a link, both sides are this machine. */
export const here: RemoteHost = { nearAddress: '127.0.0.1', command: (program, args) => [program, args], stop: async () => {} }

/** Packet size limit of a connection, as on the internet. */
const packetBytes = 1500
/** Queue length of a device. It is large, because the figure is about delay and not about losses. */
const queuedPackets = 10_000
const addresses = { near: '10.91.0.1', far: '10.91.0.2' }

/**
 * Makes a network namespace of Linux behind a link with this delay each way. The TCP on both sides is the kernel's own, so that slow start and
 * its windows hold for every tunnel alike. Returns an error sentence when that fails.
 */
export async function startRemoteHost(delayMs: number): Promise<RemoteHost | string> {
  if (process.platform !== 'linux' || userInfo().uid !== 0 || !existsSync('/dev/net/tun'))
    return 'a round trip needs root on Linux with /dev/net/tun'
  const namespace = `callsign-${process.pid}`
  const devices = { near: `csn${process.pid}`, far: `csf${process.pid}` }
  const made = spawnSync('ip', ['netns', 'add', namespace], { encoding: 'utf8' })
  if (made.status !== 0)
    return `a round trip needs network namespaces (Debian: apt install iproute2): ${made.error?.message ?? made.stderr}`
  const link = spawn('python3', [join(import.meta.dirname, 'delay-link.py'), devices.near, devices.far, String(delayMs)], {
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  const stop = async () => {
    await stopChild(link)
    spawnSync('ip', ['netns', 'delete', namespace])
  }
  try {
    await ready(link)
    ip('link', 'set', devices.far, 'netns', namespace)
    for (const [place, device, address] of [
      [[], devices.near, addresses.near],
      [['-netns', namespace], devices.far, addresses.far],
    ] as const) {
      ip(...place, 'address', 'add', `${address}/30`, 'dev', device)
      ip(...place, 'link', 'set', device, 'up', 'mtu', String(packetBytes), 'txqueuelen', String(queuedPackets))
    }
    ip('-netns', namespace, 'link', 'set', 'lo', 'up')
  } catch (error) {
    await stop()
    throw error
  }
  return { nearAddress: addresses.near, command: (program, args) => ['ip', ['netns', 'exec', namespace, program, ...args]], stop }
}

async function ready(link: ChildProcess): Promise<void> {
  const ended = once(link, 'exit').then(([code]) => {
    throw new Error(`delay-link.py ended with ${code}.`)
  })
  ended.catch(() => {})
  await Promise.race([once(link.stdout as NodeJS.ReadableStream, 'data'), ended])
}

function ip(...args: string[]): void {
  const run = spawnSync('ip', args, { encoding: 'utf8' })
  if (run.status !== 0) throw new Error(`ip ${args.join(' ')}: ${run.stderr}`)
}
