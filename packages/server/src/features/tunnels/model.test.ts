// Which host stands for which handle, and what of a request is not kept.
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

test('values that usually hold secrets are masked, names and order stay', () => {
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
