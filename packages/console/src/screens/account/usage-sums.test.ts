// Sums of the counts of mail.
import type { UsageDay } from '@callsign/sdk'
import { expect, test } from 'vitest'
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
