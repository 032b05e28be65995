// The part of a proxy chain that is trusted, and the headers that pass it on to the target.
import { expect, test } from 'vitest'
import { forwarding, type PublicClient } from './forwarding.ts'

const ours = new Set(['10.0.0.1', '10.0.0.2', 'fd00::1'])
const host = 'sales.tunnel.test'

function told(headers: Record<string, string>, address = '10.0.0.1') {
  const publicClient: PublicClient = { address, protocol: 'http', port: 8080, isTrusted: ours.has(address), trusts: (one) => ours.has(one) }
  const { lines, address: publicAddress } = forwarding(headers, publicClient, host)
  return { address: publicAddress, ...Object.fromEntries(lines.split('\r\n').map((line) => line.split(': '))) }
}

test('forwarding headers of an untrusted peer are ignored', () => {
  expect(told({ 'x-forwarded-for': '6.6.6.6', forwarded: 'for=6.6.6.6', 'x-forwarded-proto': 'https' }, '9.9.9.9')).toMatchObject({
    address: '9.9.9.9',
    'X-Forwarded-For': '9.9.9.9',
    'X-Forwarded-Proto': 'http',
    'X-Forwarded-Port': '8080',
    'X-Real-IP': '9.9.9.9',
    Forwarded: `for=9.9.9.9;host="${host}";proto=http`,
  })
})

test.each([
  ['9.9.9.9', '9.9.9.9, 10.0.0.1'],
  // A proxy that appends to a forged chain.
  ['6.6.6.6, 9.9.9.9', '9.9.9.9, 10.0.0.1'],
  ['6.6.6.6, 9.9.9.9, 10.0.0.2', '9.9.9.9, 10.0.0.2, 10.0.0.1'],
  ['10.0.0.2', '10.0.0.2, 10.0.0.1'],
  ['6.6.6.6, unknown', 'unknown, 10.0.0.1'],
])('the chain %s starts with the last untrusted address', (chain, expected) => {
  const answer = told({ 'x-forwarded-for': chain })
  expect(answer['X-Forwarded-For']).toBe(expected)
  expect([answer.address, answer['X-Real-IP']]).toEqual(Array(2).fill(expected.split(', ')[0]))
})

test('Forwarded matches the chain, and replaces the header of the public client', () => {
  const answer = told({ 'x-forwarded-for': '2001:db8::7, fd00::1', 'x-forwarded-proto': 'https', forwarded: 'for=6.6.6.6' })
  expect(answer.Forwarded).toBe(`for="[2001:db8::7]";host="${host}";proto=https, for="[fd00::1]", for=10.0.0.1`)
  expect(told({ forwarded: 'for=9.9.9.9;proto=https' }).Forwarded).toBe(`for=9.9.9.9;proto=https, for=10.0.0.1;host="${host}";proto=http`)
})

test('the port is the requested one, unless a proxy forwards another', () => {
  const proto = { 'x-forwarded-proto': 'https' }
  expect(told({ ...proto })['X-Forwarded-Port']).toBe('443')
  expect(told({ ...proto, 'x-forwarded-host': `${host}:8443` })['X-Forwarded-Port']).toBe('8443')
  expect(told({ ...proto, 'x-forwarded-port': '444' })['X-Forwarded-Port']).toBe('444')
})
