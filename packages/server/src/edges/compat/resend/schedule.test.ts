// Times in ISO 8601 and in words, from a Monday in November and around the days on which clocks change.
import { describe, expect, test } from 'vitest'
import { readTime } from './schedule.ts'

// A Monday.
const now = '2026-11-23T14:05:00.000Z'
const read = (text: string, from = now) => readTime(text, Date.parse(from))?.toISOString() ?? null

describe('readTime', () => {
  test.each([
    ['2026-12-01T09:30:00.000Z', '2026-12-01T09:30:00.000Z'],
    ['2026-12-01T09:30:00+02:00', '2026-12-01T07:30:00.000Z'],
    ['2026-12-01T09:30', '2026-12-01T09:30:00.000Z'],
    ['in 1 min', '2026-11-23T14:06:00.000Z'],
    ['in 30 seconds', '2026-11-23T14:05:30.000Z'],
    ['in 1 hour', '2026-11-23T15:05:00.000Z'],
    ['in 30 days', '2026-12-23T14:05:00.000Z'],
    ['in an hour', '2026-11-23T15:05:00.000Z'],
    ['In  2 Hours', '2026-11-23T16:05:00.000Z'],
    ['in 3 days', '2026-11-26T14:05:00.000Z'],
    ['in 1 week', '2026-11-30T14:05:00.000Z'],
    ['5 minutes from now', '2026-11-23T14:10:00.000Z'],
    ['tomorrow at 9am', '2026-11-24T09:00:00.000Z'],
    ['tomorrow', '2026-11-24T14:05:00.000Z'],
    ['next day at 9am PST', '2026-11-24T17:00:00.000Z'],
    ['today at 5:30 pm', '2026-11-23T17:30:00.000Z'],
    ['Friday at 3pm ET', '2026-11-27T20:00:00.000Z'],
    ['next Monday at 2pm', '2026-11-30T14:00:00.000Z'],
    ['Monday at 3pm', '2026-11-23T15:00:00.000Z'],
    ['Monday at 2pm', '2026-11-30T14:00:00.000Z'],
    ['on thursday at noon', '2026-11-26T12:00:00.000Z'],
    ['at 9am', '2026-11-24T09:00:00.000Z'],
    ['18:45', '2026-11-23T18:45:00.000Z'],
    ['tomorrow at 12am', '2026-11-24T00:00:00.000Z'],
    ['tomorrow at 12pm +05:30', '2026-11-24T06:30:00.000Z'],
    ['tomorrow at midnight', '2026-11-24T00:00:00.000Z'],
  ])('%s', (text, expected) => expect(read(text)).toBe(expected))

  test('a zone decides which day it is', () => {
    expect(read('tomorrow at 9am PT', '2026-11-24T03:00:00Z')).toBe('2026-11-24T17:00:00.000Z')
  })

  test.each([
    ['2026-03-07T20:00:00Z', 'tomorrow at 9am ET', '2026-03-08T13:00:00.000Z'],
    ['2026-10-31T20:00:00Z', 'tomorrow at 9am ET', '2026-11-01T14:00:00.000Z'],
    ['2026-07-01T12:00:00Z', 'tomorrow at 9am ET', '2026-07-02T13:00:00.000Z'],
  ])('clocks that change: from %s, %s', (from, text, expected) => expect(read(text, from)).toBe(expected))

  test.each([
    '',
    'soon',
    'in the future',
    'in 5',
    'in 5 parsecs',
    'tomorrow at 25:00',
    'tomorrow at 13pm',
    'tomorrow at 9:60',
    'Fryday at 3pm',
    'friday at 3pm XYZ',
    'tomorrow at 9am, or later',
    '2026-13-01T00:00:00Z',
    'at constructor',
    'tomorrow at 9am __proto__',
    `in ${'9'.repeat(40)} days`,
    'a'.repeat(100_000),
    `${'tomorrow '.repeat(10_000)}x`,
  ])('refuses %.40s', (text) => expect(read(text)).toBeNull())
})
