// Addresses and CIDR ranges as limits of keys.
import { expect, test } from 'vitest'
import { isInRanges, isWithin, readRange } from './ip-ranges.ts'

test.each([
  ['192.0.2.7', '192.0.2.7/32'],
  ['192.0.2.7/24', '192.0.2.0/24'],
  ['2001:DB8::1', '2001:db8::1/128'],
  ['2001:db8::1/32', '2001:db8::/32'],
  ['::ffff:192.0.2.7', '192.0.2.7/32'],
  ['0.0.0.0/0', '0.0.0.0/0'],
])('%s is the range %s', (text, range) => {
  expect(readRange(text)).toBe(range)
})

test.each([
  '',
  'home',
  '192.0.2',
  '0x7f.0.0.1',
  '0300.0.2.7',
  '192.0.2.0/33',
  '192.0.2.0/',
  '192.0.2.0/8/8',
  '192.0.2.0/-1',
  'fe80::1%eth0',
  '::ffff:192.0.2.7/96',
])('%s is not a range', (text) => {
  expect(readRange(text)).toBeNull()
})

test('an address is in a range of its own kind, also when IPv6 carries it', () => {
  expect(isInRanges('192.0.2.255', ['198.51.100.0/24', '192.0.2.0/24'])).toBe(true)
  expect(isInRanges('::ffff:192.0.2.255', ['192.0.2.0/24'])).toBe(true)
  expect(isInRanges('192.0.3.0', ['192.0.2.0/24'])).toBe(false)
  expect(isInRanges('2001:db8::1', ['0.0.0.0/0'])).toBe(false)
  expect(isInRanges('unknown', ['0.0.0.0/0', '::/0'])).toBe(false)
})

test('ranges are within others only when each is', () => {
  expect(isWithin(['10.1.0.0/16'], ['10.0.0.0/8'])).toBe(true)
  expect(isWithin(['10.1.0.0/16', '192.0.2.0/24'], ['10.0.0.0/8'])).toBe(false)
  expect(isWithin(['10.0.0.0/7'], ['10.0.0.0/8'])).toBe(false)
  expect(isWithin([], ['10.0.0.0/8'])).toBe(false)
  expect(isWithin([], [])).toBe(true)
})
