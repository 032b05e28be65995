// Handles of host names, and the parts of a request that are not stored.
import { expect, test } from 'vitest'
import { handleOfHost, masked, maskHeaders, maskPath } from './model.ts'

test('a host below the domain names a handle, with - for _ and without the port', () => {
  const domain = 'tunnel.localhost'
  expect(handleOfHost('sales.tunnel.localhost', domain)).toBe('sales')
  expect(handleOfHost('My-Agent.Tunnel.LOCALHOST:8443', domain)).toBe('my_agent')
  expect(handleOfHost('my_agent.tunnel.localhost', domain)).toBe('my_agent')
  expect(handleOfHost('a.b.tunnel.localhost', domain)).toBe('a.b')
  expect(handleOfHost('sales.tunnel.localhost.:80', domain)).toBe('sales')
  for (const host of [
    'tunnel.localhost',
    '.tunnel.localhost',
    'xtunnel.localhost',
    'localhost',
    '',
    'a.tunnel.localhost.evil.example',
    '[::1]:80',
  ])
    expect(handleOfHost(host, domain)).toBeNull()
})

test('values that usually hold secrets are masked, and names and order stay', () => {
  const pairs: [string, string][] = [
    ['Authorization', 'Bearer x'],
    ['X-Api-Key', 'x'],
    ['X-Hub-Signature-256', 'x'],
    ['Accept', '*/*'],
    ['set-cookie', 'x'],
  ]
  expect(maskHeaders(pairs).map(([, value]) => value)).toEqual([masked, masked, masked, '*/*', masked])
  expect(maskPath('/hook?token=abc&id=5&api_key=')).toBe(`/hook?token=${masked}&id=5&api_key=${masked}`)
  expect(maskPath('/plain')).toBe('/plain')
})

test.each([
  ['/a?to%6ben=x&api%5Fkey=x&b=1', `/a?to%6ben=${masked}&api%5Fkey=${masked}&b=1`],
  ['/cb?code=x&state=1;sig=x', `/cb?code=${masked}&state=1;sig=${masked}`],
  ['/a?user[password]=x&%zz=1&keyword=1&author=1&encode=1', `/a?user[password]=${masked}&%zz=1&keyword=1&author=1&encode=1`],
  ['<https://x.example/?token=x>; rel=next', `<https://x.example/?token=${masked}>; rel=next`],
  ['https://x.example/cb#access_token=x&type=1', `https://x.example/cb#access_token=${masked}&type=1`],
])('only the secrets of %s are masked', (path, expected) => {
  expect(maskPath(path)).toBe(expected)
})

test('headers that hold addresses are masked as addresses', () => {
  const pairs: [string, string][] = [
    ['Referer', 'https://x.example/?token=x&a=1'],
    ['Location', '/next?jwt=x'],
    ['X-Forwarded-Uri', '/?key=x'],
    ['X-Auth', 'x'],
    ['X-Otp', 'x'],
    ['X-Author', 'shown'],
  ]
  expect(maskHeaders(pairs).map(([, value]) => value)).toEqual([
    `https://x.example/?token=${masked}&a=1`,
    `/next?jwt=${masked}`,
    `/?key=${masked}`,
    masked,
    masked,
    'shown',
  ])
})
