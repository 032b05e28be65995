// Handles of host names.
import { expect, test } from 'vitest'
import { handleOfHost } from './model.ts'

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
