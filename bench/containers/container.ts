// Starts, kills and reads containers of the server: read-only root, no capabilities, one volume.
import { readFileSync } from 'node:fs'
import { setTimeout as delay } from 'node:timers/promises'
import { podman } from './images.ts'

const readyMsMax = 120_000
const pollMs = 20

/** Limits of one container. podman's own are above what some machines allow to root. */
const openFiles = 65_536
const processes = 4096

/** Limits that this machine allows. */
export function limits(): string[] {
  const [, hard] = /^Max open files +\S+ +(\d+)/m.exec(readFileSync('/proc/self/limits', 'utf8')) ?? []
  const files = Math.min(Number(hard ?? openFiles), openFiles)
  return ['--ulimit', `nofile=${files}:${files}`, '--ulimit', `nproc=${processes}:${processes}`]
}

/** The options of compose.yaml. */
const hardening = ['--read-only', '--read-only-tmpfs=false', '--cap-drop=all', '--security-opt=no-new-privileges']

export type Container = ReturnType<typeof createContainer>

/** A container that is not started yet. The network is the machine's, so the ports are free ports of loopback. */
export function createContainer(options: { name: string; volume: string; port: number; settings: Record<string, string> }) {
  const { name, volume, port, settings } = options
  const variables = Object.entries(settings).flatMap(([key, value]) => ['--env', `${key}=${value}`])
  const common = ['--network=host', '--volume', `${volume}:/data`, ...hardening, ...limits(), ...variables]

  async function whenReady(beganMs: number): Promise<number> {
    for (;;) {
      const response = await fetch(`http://127.0.0.1:${port}/readyz`).catch(() => null)
      await response?.body?.cancel()
      if (response?.status === 200) return performance.now() - beganMs
      if (performance.now() - beganMs > readyMsMax)
        throw new Error(`not ready after ${readyMsMax} ms: ${podman(['logs', '--tail=5', name])}`)
      await delay(pollMs)
    }
  }

  return {
    /** Creates and starts the container. Resolves with the milliseconds until /readyz answers 200. */
    create(image: string): Promise<number> {
      podman(['rm', '--force', '--ignore', name])
      const beganMs = performance.now()
      podman(['run', '--detach', '--name', name, ...common, image])
      return whenReady(beganMs)
    },

    /** Starts the stopped container again. */
    start(): Promise<number> {
      const beganMs = performance.now()
      podman(['start', name])
      return whenReady(beganMs)
    },

    /** Kills every process of the container. */
    kill: () => podman(['kill', '--signal=KILL', name]),

    /** Stops it with SIGTERM and returns the exit code. */
    stop(): number {
      podman(['stop', '--time=40', name])
      return Number(podman(['inspect', '--format={{.State.ExitCode}}', name]).trim())
    },

    exec: (...command: string[]): string => podman(['exec', name, ...command]),
    isHealthy: () => podman(['healthcheck', 'run', name]) !== undefined,

    /** Runs one command of an image on the volume, without the server. Throws with its errors. */
    runOnce: (image: string, command: string[], options: string[] = []): string =>
      podman(['run', '--rm', ...common, ...options, image, ...command]),

    /** The same for a command that has to fail. Returns its errors. */
    runOnceFails(image: string, command: string[]): string {
      try {
        this.runOnce(image, command)
      } catch (error) {
        return (error as Error).message
      }
      throw new Error(`${command.join(' ')} did not fail`)
    },

    remove: () => podman(['rm', '--force', '--ignore', name]),
  }
}
