// Sums of the counts of mail.
import type { UsageDay } from '@callsign/sdk'
import { expect, test } from 'vitest'
import { roundedUp } from './usage-chart.tsx'
import { addUp, daysOf, usageCounts } from './usage-sums.ts'

const none = Object.fromEntries(usageCounts.map((count) => [count, 0])) as UsageDay['messages']
const day = (date: string, agent: string, received: number): UsageDay => ({
  date,
  agent_handle: agent,
  domain: null,
  messages: { ...none, received },
})

test('days end with the current day in UTC, also at midnight and over the end of a month', () => {
  expect(daysOf(3, Date.parse('2026-03-01T00:00:00Z'))).toEqual(['2026-02-27', '2026-02-28', '2026-03-01'])
  expect(daysOf(2, Date.parse('2026-03-01T23:59:59Z'))).toEqual(['2026-02-28', '2026-03-01'])
})

test('days with the same name are added up', () => {
  const usage = [day('2026-03-02', 'sales', 2), day('2026-03-01', 'sales', 3), day('2026-03-01', 'billing', 1)]
  expect(addUp(usage, (one) => one.agent_handle ?? '').map(({ name, messages }) => [name, messages.received])).toEqual([
    ['billing', 1],
    ['sales', 5],
  ])
})

test('mail that was delivered was sent, as on the overview', () => {
  const one = day('2026-03-01', 'sales', 0)
  const [sum] = addUp([{ ...one, messages: { ...none, queued: 4, sent: 1, delivered: 2, failed: 1 } }], (of) => of.date)
  expect(sum?.messages).toMatchObject({ queued: 4, sent: 3, delivered: 2, failed: 1 })
})

test.each([
  [0, 1],
  [1, 1],
  [3, 5],
  [10, 10],
  [11, 20],
  [4999, 5000],
])('the axis of %i messages ends at %i', (count, top) => {
  expect(roundedUp(count)).toBe(top)
})
