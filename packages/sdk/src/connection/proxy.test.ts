// Selects the proxy for an address from the environment.
import { expect, test } from 'vitest'
import { proxyFor, readProxy } from './proxy.ts'

const to = (address: string, environment: Record<string, string>): string | null => proxyFor(new URL(address), environment)?.href ?? null

test('by the protocol, in upper or lower case, and ALL_PROXY for both', () => {
  expect(to('https://a.example/', { HTTPS_PROXY: 'http://p:1' })).toBe('http://p:1/')
  expect(to('https://a.example/', { https_proxy: 'q:2', HTTPS_PROXY: 'http://p:1' })).toBe('http://q:2/')
  expect(to('http://a.example/', { HTTPS_PROXY: 'http://p:1' })).toBeNull()
  expect(to('http://a.example/', { http_proxy: 'http://p:1' })).toBe('http://p:1/')
  expect(to('http://a.example/', { HTTP_PROXY: 'http://p:1' })).toBe('http://p:1/')
  // CGI programs receive a request's Proxy header as HTTP_PROXY (CVE-2016-5385).
  expect(to('http://a.example/', { HTTP_PROXY: 'http://p:1', REQUEST_METHOD: 'GET' })).toBeNull()
  for (const protocol of ['http', 'https']) expect(to(`${protocol}://a.example/`, { ALL_PROXY: 'http://p:1' })).toBe('http://p:1/')
  expect(to('https://a.example/', {})).toBeNull()
  expect(to('https://a.example/', { HTTPS_PROXY: '' })).toBeNull()
})

test.each([
  ['*', true],
  ['a.example', true],
  ['.example', true],
  ['*.example', true],
  ['other.test, A.EXAMPLE ', true],
  ['a.example:443', true],
  ['ample', false],
  ['b.a.example', false],
  ['', false],
])('NO_PROXY=%s', (NO_PROXY, isExempt) => {
  expect(to('https://a.example/', { HTTPS_PROXY: 'http://p:1', NO_PROXY }) === null).toBe(isExempt)
})

test('other kinds of proxies are refused', () => {
  for (const text of ['socks5://p:1', 'not a proxy', 'ftp://p', 'http://user:50%off@p:1']) expect(() => readProxy(text)).toThrow(TypeError)
  expect(readProxy('user:pass@p:3128').href).toBe('http://user:pass@p:3128/')
  expect(readProxy('https://p').href).toBe('https://p/')
})

test.each(['localhost', 'a.localhost', '127.0.0.1', '127.9.9.9', '[::1]'])('%s is reached directly', (host) => {
  for (const protocol of ['http', 'https']) expect(to(`${protocol}://${host}:8080/`, { ALL_PROXY: 'http://p:1' })).toBeNull()
})
