// Every transition of a domain's status.
import { describe, expect, test } from 'vitest'
import { type Inspection, nextStatus, type StatusColumns } from './model.ts'

describe('status after an inspection', () => {
  const at = new Date('2026-03-10T12:00:00Z')
  const earlier = new Date('2026-03-01T12:00:00Z')
  const nextCheckAt = new Date('2026-03-10T18:00:00Z')
  const hoursAgo = (hours: number) => new Date(at.getTime() - hours * 3_600_000)
  const pending: StatusColumns = { status: 'pending', dns_records: [], verified_at: null, failing_since: null, check_at: null }
  const failed: StatusColumns = { ...pending, status: 'failed' }
  const verified: StatusColumns = { ...pending, status: 'verified', verified_at: earlier, check_at: at }
  const failing = (since: Date): StatusColumns => ({ ...verified, failing_since: since })
  const inspect = (verdict: Inspection['verdict']): Inspection => ({ verdict, records: [], notes: [] })
  const after = (from: StatusColumns, verdict: Inspection['verdict'], by: 'asked' | 'background') => {
    const { status, verified_at, failing_since, check_at } = nextStatus(from, inspect(verdict), { by, at, nextCheckAt })
    return [status, verified_at, failing_since, check_at]
  }

  test.each<[string, StatusColumns, Inspection['verdict'], 'asked' | 'background', unknown[]]>([
    ['pending, confirmed', pending, 'verified', 'asked', ['verified', at, null, nextCheckAt]],
    ['pending, incomplete', pending, 'incomplete', 'asked', ['failed', null, null, null]],
    ['pending, undecided', pending, 'undecided', 'asked', ['failed', null, null, null]],
    ['failed, confirmed', failed, 'verified', 'asked', ['verified', at, null, nextCheckAt]],
    ['failed, incomplete', failed, 'incomplete', 'asked', ['failed', null, null, null]],
    ['verified, confirmed again', verified, 'verified', 'asked', ['verified', earlier, null, nextCheckAt]],
    ['verified, incomplete when asked', verified, 'incomplete', 'asked', ['failed', null, null, null]],
    ['verified, undecided', verified, 'undecided', 'asked', ['verified', earlier, null, nextCheckAt]],
    ['verified, incomplete in the background', verified, 'incomplete', 'background', ['verified', earlier, at, nextCheckAt]],
    [
      'failing for less than 72 hours',
      failing(hoursAgo(71.999)),
      'incomplete',
      'background',
      ['verified', earlier, hoursAgo(71.999), nextCheckAt],
    ],
    ['failing for 72 hours', failing(hoursAgo(72)), 'incomplete', 'background', ['failed', null, null, null]],
    ['failing, right again', failing(hoursAgo(71)), 'verified', 'background', ['verified', earlier, null, nextCheckAt]],
    ['failing, undecided', failing(hoursAgo(80)), 'undecided', 'background', ['verified', earlier, hoursAgo(80), nextCheckAt]],
  ])('%s', (_what, from, verdict, by, expected) => {
    expect(after(from, verdict, by)).toEqual(expected)
  })
})
