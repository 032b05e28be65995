// URLs that are refused by their text alone, and the parts that the rest of the guard gets.
import { expect, test } from 'vitest'
import { parseOutboundUrl } from './outbound-url.ts'

test.each([
  ['', 'cannot be read'],
  ['/relative', 'cannot be read'],
  ['http://', 'cannot be read'],
  ['http://[fe80::1%25eth0]/', 'cannot be read'],
  ['http://256.1.1.1/', 'cannot be read'],
  ['http://1.2.3.4.5/', 'cannot be read'],
  ['http://host:99999/', 'cannot be read'],
  ['ftp://host/', 'http:// or https://'],
  ['file:///etc/passwd', 'http:// or https://'],
  ['data:text/plain,x', 'http:// or https://'],
  ['javascript:alert(1)', 'http:// or https://'],
  ['unix:/var/run/docker.sock', 'http:// or https://'],
  ['gopher://127.0.0.1/', 'http:// or https://'],
  ['http://user@host/', 'user name or password'],
  ['http://:secret@host/', 'user name or password'],
  ['http://public.example@127.0.0.1/', 'user name or password'],
  ['http://host:25/', 'another protocol'],
  ['http://host:0/', 'another protocol'],
  ['https://host:587/', 'another protocol'],
  [`http://host/${'a'.repeat(2048)}`, 'longer than'],
  ['http://./', 'no usable host'],
])('%j is refused', (text, reason) => {
  expect(() => parseOutboundUrl(text)).toThrow(reason)
})

test('ports and hosts are parsed', () => {
  expect(parseOutboundUrl('http://Host.Example./a?b#c')).toMatchObject({ hostname: 'host.example', port: 80, isTls: false })
  expect(parseOutboundUrl('https://[2606:4700::1111]:8443/')).toMatchObject({ hostname: '2606:4700::1111', port: 8443, isTls: true })
  expect(parseOutboundUrl('https://0x8.8')).toMatchObject({ hostname: '8.0.0.8', port: 443, isTls: true })
})

test('redirects resolve against their URL and never leave https', () => {
  const from = new URL('https://host.example/a/b')
  expect(parseOutboundUrl('../c', from).url.href).toBe('https://host.example/c')
  expect(parseOutboundUrl('//other.example/c', from).url.href).toBe('https://other.example/c')
  expect(() => parseOutboundUrl('http://host.example/c', from)).toThrow('from https to http')
  expect(parseOutboundUrl('https://host.example/', new URL('http://host.example/')).isTls).toBe(true)
})
