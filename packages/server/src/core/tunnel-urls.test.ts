// The local address of a tunnel has the port of the server, and is absent where HTTPS is set up.
import { expect, test } from 'vitest'
import { createTunnelUrls } from './tunnel-urls.ts'

test.each([
  [false, 'http://localhost:8080', 'http://sales.tunnel.localhost:8080/'],
  [false, 'http://localhost', 'http://sales.tunnel.localhost/'],
  [false, 'http://[::1]:3000', 'http://sales.tunnel.localhost:3000/'],
  [true, 'https://mail.example.com', null],
])('HTTPS %s at %s', (isSecure, serverUrl, expected) => {
  const urls = createTunnelUrls('tunnel.localhost', isSecure, () => serverUrl)
  expect(urls('sales')).toEqual({ public_url: 'https://sales.tunnel.localhost', local_url: expected })
})
