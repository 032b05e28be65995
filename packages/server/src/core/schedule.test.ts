// The delays before attempts.
import { expect, test } from 'vitest'
import { nextAttemptMs } from './schedule.ts'

test.each([
  { attempts: 1, random: 0.5, ms: 60_000 },
  { attempts: 2, random: 0.5, ms: 300_000 },
  { attempts: 1, random: 0, ms: 48_000 },
  { attempts: 1, random: 0.75, ms: 66_000 },
  { attempts: 0, random: 0.5, ms: null },
  { attempts: 3, random: 0.5, ms: null },
])('after $attempts attempts and a draw of $random: $ms ms', ({ attempts, random, ms }) => {
  expect(nextAttemptMs([60, 300], attempts, 0.2, random)).toBe(ms)
})

test('milliseconds are whole numbers', () => expect(nextAttemptMs([0.0015], 1, 0, 0)).toBe(2))
