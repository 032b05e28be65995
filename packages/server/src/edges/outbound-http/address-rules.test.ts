// The addresses that count as public, by the registries of special-purpose addresses (IANA, RFC 6890).
import { describe, expect, test } from 'vitest'
import { canonicalAddress, createAddressRules } from './address-rules.ts'

const none = createAddressRules([])

describe('refused addresses', () => {
  // biome-ignore format: a table
  test.each([
    '0.0.0.0', '0.1.2.3', '10.0.0.1', '100.64.0.1', '100.127.255.255', '127.0.0.1', '127.255.255.254', '169.254.169.254', '172.16.0.1', '172.31.255.255',
    '192.0.0.1', '192.0.2.1', '192.88.99.1', '192.168.1.1', '198.18.0.1', '198.19.255.255', '198.51.100.1', '203.0.113.1', '224.0.0.1', '239.255.255.255',
    '240.0.0.1', '255.255.255.255', '168.63.129.16', '100.100.100.200', '192.0.0.192',
    '::', '::1', '::7f00:1', '::127.0.0.1', '::ffff:127.0.0.1', '::ffff:10.0.0.1', '::ffff:a9fe:a9fe', '::ffff:0:127.0.0.1', '64:ff9b::7f00:1', '64:ff9b::808:808',
    '64:ff9b:1::1', '100::1', '2001::1', '2001:2::1', '2001:db8::1', '2001:20::1', '2002:7f00:1::', '2002:808:808::', '3fff::1', '5f00::1', '4000::1',
    'fc00::1', 'fd00:ec2::254', 'fe80::1', 'fec0::1', 'ff02::1', 'fe80::1%eth0', '2606:4700::1111%eth0',
    '010.0.0.1', '0x7f.0.0.1', '127.1', '2130706433', '', 'localhost', '8.8.8.8.', ' 8.8.8.8',
  ])('%j', (address) => {
    expect(none.allows(address)).toBe(false)
  })
})

test.each([
  '1.1.1.1',
  '8.8.8.8',
  '172.32.0.1',
  '100.128.0.1',
  '192.0.1.1',
  '223.255.255.255',
  '::ffff:8.8.8.8',
  '2606:4700:4700::1111',
  '2a00::1',
])('%s is public', (address) => {
  expect(none.allows(address)).toBe(true)
})

test('an allowed range admits its own addresses, in their mapped form too, and no others', () => {
  const rules = createAddressRules(['127.0.0.0/8', 'fd00:1::/32'])
  expect(['127.0.0.1', '127.9.9.9', '::ffff:127.0.0.1', 'fd00:1::5', '8.8.8.8'].map((address) => rules.allows(address))).toEqual(
    Array(5).fill(true),
  )
  expect(['126.0.0.1', '10.0.0.1', '128.0.0.1', '::1', 'fd00:2::5'].map((address) => rules.allows(address))).toEqual([
    true,
    false,
    true,
    false,
    false,
  ])
})

test('an allowed translator still leads to public IPv4 addresses only', () => {
  const rules = createAddressRules(['64:ff9b::/96'])
  expect(rules.allows('64:ff9b::808:808')).toBe(true)
  expect(rules.allows('64:ff9b::7f00:1')).toBe(false)
  expect(rules.allows('64:ff9b::a9fe:a9fe')).toBe(false)
  expect(createAddressRules(['64:ff9b::/96', '127.0.0.0/8']).allows('64:ff9b::7f00:1')).toBe(true)
})

test.each(['127.0.0.1', '10.0.0.0/33', 'everything', '', '::/129'])('%j is not a range', (cidr) => {
  expect(() => createAddressRules([cidr])).toThrow('is not an address range')
})

test('an address has one spelling', () => {
  expect(canonicalAddress('::ffff:127.0.0.1')).toBe('127.0.0.1')
  expect(canonicalAddress('0:0:0:0:0:0:0:1')).toBe('::1')
})
