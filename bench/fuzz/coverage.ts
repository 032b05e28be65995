// Lists the executed blocks of the server's code from V8's precise coverage. An input that reaches new blocks is worth keeping.
import { type Profiler, Session } from 'node:inspector/promises'

const own = /\/packages\/(?:server|contract)\/src\//

export class Coverage {
  readonly #session = new Session()
  readonly #seen = new Set<string>()

  /** Starts counting in this thread. Code that is compiled later is counted too. */
  async start(): Promise<void> {
    this.#session.connect()
    await this.#session.post('Profiler.enable')
    await this.#session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: true })
  }

  /** Blocks that ran since the last call. Differences in repetition between runs also count as blocks. */
  async take(): Promise<string[]> {
    const { result } = (await this.#session.post('Profiler.takePreciseCoverage')) as Profiler.TakePreciseCoverageReturnType
    return result
      .filter(({ url }) => own.test(url))
      .flatMap(({ scriptId, functions }) =>
        functions.flatMap(({ ranges }) =>
          ranges.filter(({ count }) => count > 0).map(({ startOffset, endOffset }) => `${scriptId}:${startOffset}-${endOffset}`),
        ),
      )
  }

  /** Those of them that no call gave before. */
  async takeNew(): Promise<string[]> {
    const fresh = (await this.take()).filter((block) => !this.#seen.has(block))
    for (const block of fresh) this.#seen.add(block)
    return fresh
  }

  /** Number of different blocks that have run. */
  get size(): number {
    return this.#seen.size
  }
}
