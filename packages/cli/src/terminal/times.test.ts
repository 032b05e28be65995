// Relative times.
import { expect, test } from 'vitest'
import { ago } from './times.ts'

const now = Date.parse('2026-03-14T12:00:00.000Z')

test.each([
  ['2026-03-14T11:59:59.000Z', /^just now$/],
  ['2026-03-14T12:00:01.000Z', /^just now$/],
  ['2026-03-14T11:59:20.000Z', /^40 sec.* ago$/],
  ['2026-03-14T11:55:00.000Z', /^5 min.* ago$/],
  ['2026-03-14T09:10:00.000Z', /^2 h.* ago$/],
  ['2026-03-10T12:00:00.000Z', /^4 days ago$/],
  ['2026-03-14T14:30:00.000Z', /^in 2 h/],
  ['2025-12-24T12:00:00.000Z', /^2025-12-24$/],
  [null, /^-$/],
])('%s', (time, expected) => {
  expect(ago(time, now)).toMatch(expected)
})
