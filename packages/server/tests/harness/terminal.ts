// callsignd on a terminal, which util-linux's script gives it.
import { type ChildProcessWithoutNullStreams, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { repository, type Settings } from './callsignd.ts'

export const hasScript = spawnSync('script', ['--version']).stdout?.includes('util-linux') === true
export const skipReason = hasScript ? '' : ' (skipped: script of util-linux is not installed)'

/** callsignd, or another command, on a terminal. `until` waits for a text on it and returns all that was printed. */
export class Terminal {
  readonly #child: ChildProcessWithoutNullStreams
  #screen = ''
  #onOutput = () => {}
  readonly ended: Promise<number | null>

  /** Runs callsignd in `folder`, by default the repository. */
  constructor(
    args: string,
    settings: Settings,
    folder = repository,
    command = `exec sh ${join(repository, 'bin', 'run')} packages/server/src/main.ts ${args}`,
  ) {
    this.#child = spawn('script', ['--quiet', '--return', '--command', command, '/dev/null'], {
      env: {
        PATH: process.env.PATH,
        HOME: process.env.HOME,
        CALLSIGN_DNS_SERVERS: '127.0.0.1:9',
        CALLSIGN_PORT: '0',
        CALLSIGN_SMTP_PORT: '0',
        CALLSIGN_METRICS_PORT: 'off',
        CALLSIGN_DOCTOR_TIME_SERVER: 'off',
        ...settings,
      },
      cwd: folder,
    })
    for (const stream of [this.#child.stdout, this.#child.stderr])
      stream.on('data', (bytes: Buffer) => {
        this.#screen += bytes.toString()
        this.#onOutput()
      })
    this.ended = once(this.#child, 'close').then(([code]) => {
      this.#onOutput()
      return code as number | null
    })
  }

  async close(): Promise<void> {
    this.#child.kill('SIGKILL')
    await this.ended
  }

  get screen(): string {
    return this.#screen.replaceAll('\r\n', '\n')
  }

  async until(text: string): Promise<string> {
    while (!this.screen.includes(text)) {
      if (this.#child.exitCode !== null) throw new Error(`the server ended without "${text}": ${this.screen}`)
      await new Promise<void>((resolve) => {
        this.#onOutput = resolve
      })
    }
    return this.screen
  }

  type(text: string): void {
    this.#child.stdin.write(text)
  }
}
