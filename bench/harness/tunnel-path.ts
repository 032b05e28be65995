// One path from a public client to the origin, its properties for the tunnel figures, and the parameters of its start.
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { connect } from 'node:net'
import { join } from 'node:path'
import { here, type RemoteHost } from './remote-host.ts'

/** `gateway` faces the public client, `client` the origin. A path without a tunnel does not have a client. `pids` are all processes of one side. */
export type Path = {
  name: string
  port: number
  /** The Host header that the path is chosen by. */
  host: string
  isTunnel: boolean
  gateway: number[]
  client: number[]
  stop: () => Promise<void>
}

/** Returns the path, or a sentence with the reason why it cannot start. */
export type Start = (options: { originPort: number; folder: string; remote: RemoteHost }) => Promise<Path | string>

/** Starts a script beside this one, on this side or the remote one, and waits for its first message. */
export async function startChild<T>(script: string, args: (string | number)[] = [], remote: RemoteHost = here): Promise<[ChildProcess, T]> {
  const nodeArgs = ['--disable-warning=ExperimentalWarning', join(import.meta.dirname, script), ...args.map(String)]
  const child = spawn(...remote.command(process.execPath, nodeArgs), { stdio: ['ignore', 'ignore', 'inherit', 'ipc'] })
  const ended = once(child, 'exit').then(([code]) => {
    throw new Error(`${script} ended with ${code} before it was ready.`)
  })
  ended.catch(() => {})
  const [message] = (await Promise.race([once(child, 'message'), ended])) as [T]
  return [child, message]
}

const readyWithinMs = 15_000

/** Resolves when the port accepts connections. Throws when the process has ended or the time limit passes. */
export async function waitForPort(port: number, child: ChildProcess, address = '127.0.0.1'): Promise<void> {
  const untilMs = performance.now() + readyWithinMs
  for (;;) {
    const socket = connect(port, address)
    const isOpen = await new Promise<boolean>((resolve) => socket.once('connect', () => resolve(true)).once('error', () => resolve(false)))
    socket.destroy()
    if (isOpen) return
    if (child.exitCode !== null) throw new Error(`${child.spawnfile} ended with ${child.exitCode}.`)
    if (performance.now() > untilMs) throw new Error(`${child.spawnfile} does not listen on ${port}.`)
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
}
