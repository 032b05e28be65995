// Bounds on processor time. Other work on the machine adds to a run and never takes from it, so one run within the bound proves it.
import { expect } from 'vitest'
import { leastThreadMs } from './processor.ts'

const roundsMax = 50

/** Fails unless a run takes less processor time of this thread than `limitMs`. Up to 50 runs are tried. */
export async function expectCost(run: () => unknown, limitMs: number, name?: string): Promise<void> {
  expect(await leastThreadMs(run, { rounds: roundsMax, enoughMs: limitMs }), name).toBeLessThan(limitMs)
}

/**
 * Fails unless work on four times the size takes less than ten times the processor time and `fixedMs`. Quadratic work takes sixteen times as
 * much. `make` prepares work of a size.
 */
export async function expectLinear(make: (size: number) => () => unknown, size: number, fixedMs = 20): Promise<void> {
  const small = make(size)
  small()
  await expectCost(make(size * 4), (await leastThreadMs(small, { rounds: 4 })) * 10 + fixedMs)
}
