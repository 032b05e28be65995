// Valid and invalid addresses, and membership in networks.
import { isIP } from 'node:net'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { dottedIp, isInNetwork, readableIp, readClientIp, readIp } from './ip-address.ts'

test('reads the same addresses as Node, and nothing else', () => {
  fc.assert(
    fc.property(fc.oneof(fc.ipV4(), fc.ipV4Extended(), fc.ipV6(), fc.stringMatching(/^[0-9a-f:.]{0,20}$/)), (text) => {
      expect([text, readIp(text)?.length ?? 0]).toEqual([text, isIP(text) === 0 ? 0 : isIP(text) === 4 ? 4 : 16])
    }),
  )
  for (const text of ['1:2:3:4:5:6:7::8', '1:2:3:4:5:6:7:8::', '1:2:3:4::5:6:7:8', '', 'a', '1', '1:2:3:4:5:6:7'])
    expect([text, readIp(text)?.length ?? 0]).toEqual([text, isIP(text) === 6 ? 16 : 0])
  for (const text of ['01.2.3.4', '1.2.3', '1.2.3.4.', '256.1.1.1', ':::', '1::2::3', '1:2:3:4:5:6:7:8:9', '::1.2.3.4:5', '', '1.2.3.4::'])
    expect(readIp(text), text).toBeNull()
})

test('IPv4 inside of IPv6 is IPv4 for a client, and a zone index says nothing', () => {
  expect(readClientIp('::ffff:192.0.2.7')).toEqual(Uint8Array.of(192, 0, 2, 7))
  expect(readClientIp('fe80::1%eth0')).toEqual(readIp('fe80::1'))
  expect(readClientIp(' 192.0.2.7\r\n')).toEqual(Uint8Array.of(192, 0, 2, 7))
  expect(readClientIp('::192.0.2.7')?.length).toBe(16)
})

test('networks by prefix', () => {
  const isIn = (address: string, network: string, bits: number) =>
    isInNetwork(readIp(address) as Uint8Array, readIp(network) as Uint8Array, bits)
  expect(isIn('192.0.2.200', '192.0.2.0', 24)).toBe(true)
  expect(isIn('192.0.2.200', '192.0.2.0', 25)).toBe(false)
  expect(isIn('192.0.3.0', '192.0.2.0', 23)).toBe(true)
  expect(isIn('10.0.0.1', '192.0.2.0', 0)).toBe(true)
  expect(isIn('2001:db8::1', '2001:db8::', 127)).toBe(true)
  expect(isIn('2001:db8::1', '2001:db8::', 128)).toBe(false)
  expect(isIn('2001:db8::1', '192.0.2.0', 0)).toBe(false)
})

test('as macros and people write them', () => {
  expect(dottedIp(readIp('2001:db8::cb01') as Uint8Array)).toBe('2.0.0.1.0.d.b.8.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.c.b.0.1')
  expect(readableIp(readIp('2001:DB8:0:0::cb01') as Uint8Array)).toBe('2001:db8::cb01')
  expect(readableIp(readIp('192.0.2.7') as Uint8Array)).toBe('192.0.2.7')
})
