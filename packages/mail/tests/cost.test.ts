// The bounds on cost refuse what grows faster than its size, and what is above a limit in every run.
import { expect, test } from 'vitest'
import { expectCost, expectLinear } from './harness/cost.ts'

/** Works for a number of steps. */
function work(steps: number): number {
  let sum = 0
  for (let step = 0; step < steps; step++) sum = (sum * 31 + step) | 0
  return sum
}

test('linear work is within the bound, cubic work is not', async () => {
  await expectLinear((size) => () => work(size * 1000), 500, 0)
  await expect(expectLinear((size) => () => work(size ** 3 / 1000), 500, 0)).rejects.toThrow('to be less than')
})

test('one run within the limit is enough, and without one the cost is refused', async () => {
  let runs = 0
  await expectCost(() => work(runs++ < 3 ? 30_000_000 : 1000), 10)
  await expect(expectCost(() => work(5_000_000), 1, 'five million steps')).rejects.toThrow('five million steps')
})
