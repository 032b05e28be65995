// The two addresses of a tunnel, the public one and the target's own, and what is not HTTP on either side.
import { type AddressInfo, createServer, type Server } from 'node:net'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { Callsign, type TunnelListener } from '../../sdk/src/index.ts'
import { type Origin, sendRaw, startOrigin, visit } from './harness/origin.ts'
import { type Harness, startHarness } from './harness/start.ts'
import { waitFor } from './harness/wait.ts'

let harness: Harness
let origin: Origin
let client: Callsign
let listener: TunnelListener
let port: number
let host: string

/** A target that answers every request with these bytes, one write each, and then closes if it is asked to. */
let pieces: string[] = []
let closes = false
/** All bytes that this target got. */
let received = ''
let raw: Server
let rawListener: TunnelListener
let rawHost: string

beforeAll(async () => {
  origin = await startOrigin((_incoming, outgoing) => outgoing.end('seen'))
  harness = await startHarness()
  for (const handle of ['shop', 'raw_one']) await harness.createAgent(handle)
  client = new Callsign({ url: harness.baseUrl, apiKey: harness.organizationKey })
  port = Number(new URL(harness.baseUrl).port)
  host = `shop.tunnel.localhost:${port}`
  rawHost = `raw-one.tunnel.localhost:${port}`
  listener = await client.tunnels.listen('shop', origin.port, { connections: 1 })
  raw = createServer((socket) => {
    socket.on('error', () => {})
    socket.on('data', (bytes) => {
      received += bytes.toString('latin1')
    })
    socket.once('data', async () => {
      for (const piece of pieces) await new Promise((resolve) => socket.write(piece, 'latin1', resolve))
      if (closes) socket.end()
    })
  })
  await new Promise<void>((resolve) => raw.listen(0, '127.0.0.1', resolve))
  rawListener = await client.tunnels.listen('raw_one', rawPort(), { connections: 1 })
})
afterAll(async () => {
  await listener.close(0)
  await rawListener.close(0)
  raw.close()
  await harness.stop()
  await origin.stop()
})

const rawPort = (): number => (raw.address() as AddressInfo).port

async function answerTo(answer: string[], closing = false, method = 'GET'): Promise<string> {
  pieces = answer
  closes = closing
  return sendRaw(port, `${method} / HTTP/1.1\r\nHost: ${rawHost}\r\nConnection: close\r\n\r\n`)
}

const latestError = async (): Promise<string | null | undefined> => (await client.tunnels.requests('raw_one', { limit: 1 })).data[0]?.error

describe('a Location', () => {
  const locationOf = async (location: string, status = '302 Found'): Promise<string | undefined> => {
    const text = await answerTo([`HTTP/1.1 ${status}\r\nLocation: ${location}\r\nContent-Length: 0\r\nConnection: close\r\n\r\n`])
    return /^Location: (.*)\r$/m.exec(text)?.[1]
  }

  test('at the target’s own origin leads back to the public address', async () => {
    const own = `http://localhost:${rawPort()}`
    expect(await locationOf(`${own}/login?next=%2F#top`)).toBe(`http://${rawHost}/login?next=%2F#top`)
    expect(await locationOf(own.toUpperCase().replace('HTTP', 'http'))).toBe(`http://${rawHost}`)
    expect(await locationOf(`//localhost:${rawPort()}/x`)).toBe(`http://${rawHost}/x`)
    expect(await locationOf(`${own}?a=1`, '201 Created')).toBe(`http://${rawHost}?a=1`)
  })

  test('anywhere else stays as it is', async () => {
    const others = [
      '/login',
      'login',
      `https://localhost:${rawPort()}/`,
      `http://localhost:${rawPort() === 1 ? 2 : 1}/`,
      `http://127.0.0.1:${rawPort()}/`,
      `http://user@localhost:${rawPort()}/`,
      `http://localhost:${rawPort()}.example.com/`,
      `https://example.com/?to=http://localhost:${rawPort()}/`,
      'https://example.com/',
    ]
    for (const location of others) expect(await locationOf(location)).toBe(location)
  })

  test('stays as it is where the target gets the public Host', async () => {
    await rawListener.close(0)
    rawListener = await client.tunnels.listen('raw_one', rawPort(), { connections: 1, hostHeader: 'preserve' })
    const own = `http://localhost:${rawPort()}/x`
    expect(await locationOf(own)).toBe(own)
    await rawListener.close(0)
    rawListener = await client.tunnels.listen('raw_one', rawPort(), { connections: 1 })
  })
})

describe('an Origin', () => {
  const seenWith = async (headers: Record<string, string>, method = 'POST') => {
    await visit(port, host, '/form', { method, body: method === 'POST' ? 'a=1' : undefined, headers } as object)
    return origin.seen.at(-1)?.headers as Record<string, string>
  }

  test.each(['POST', 'GET'])('of the tunnel’s own pages becomes the target’s, as Host does (%s)', async (method) => {
    const seen = await seenWith({ origin: `http://${host}` }, method)
    const own = `localhost:${origin.port}`
    expect([seen.host, seen.origin]).toEqual([own, `http://${own}`])
    // Frameworks that compare Origin with this header find nothing else to compare with than Host.
    expect(seen['x-forwarded-host']).toBeUndefined()
    expect(seen.forwarded).toBe('for=127.0.0.1;proto=http')
    expect(seen['x-forwarded-proto']).toBe('http')
  })

  test.each([
    ['another site', () => 'https://evil.example'],
    ['another port', () => 'http://shop.tunnel.localhost:1'],
    ['another scheme', () => `https://${host}`],
    ['another tunnel', () => `http://other.tunnel.localhost:${port}`],
    ['a page without an origin', () => 'null'],
    ['a name that begins like it', () => `http://${host}.evil.example`],
  ])('of %s stays as it is, so that the check of the target refuses it', async (_name, value) => {
    const seen = await seenWith({ origin: value() })
    expect(seen.origin).toBe(value())
    expect(seen['x-forwarded-host']).toBe(host)
  })

  test('stays as it is beside the public Host', async () => {
    await listener.close(0)
    listener = await client.tunnels.listen('shop', origin.port, { connections: 1, hostHeader: 'preserve' })
    const seen = await seenWith({ origin: `http://${host}` })
    expect([seen.host, seen.origin, seen['x-forwarded-host']]).toEqual([host, `http://${host}`, host])
    await listener.close(0)
    listener = await client.tunnels.listen('shop', origin.port, { connections: 1 })
  })
})

describe('the response of a target', () => {
  const head = 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n\r\n'

  test.each([
    ['blanks after the size', ['5  \r\nhello\r\n0\t\r\n\r\n']],
    ['zeros before the size', [`${'0'.repeat(60)}5\r\nhello\r\n${'0'.repeat(40)}\r\n\r\n`]],
    ['both, with an extension', ['00005 \t;a=b\r\nhello\r\n0 ;x\r\n\r\n']],
    ['nothing unusual', ['5\r\nhello\r\n0\r\n\r\n']],
  ])('is read as curl reads it: %s', async (_name, chunks) => {
    const text = await answerTo([head, ...chunks])
    expect(text).toMatch(/^HTTP\/1\.1 200 OK\r\n/)
    expect(text).toMatch(/\r\n\r\n5\r\nhello\r\n0\r\n\r\n$/)
  })

  test.each([
    ['the banner of SSH, which waits', ['SSH-2.0-OpenSSH_9.6\r\n'], false],
    ['the banner of SMTP', ['220 mail.example.com ESMTP\r\n'], true],
    ['bytes of TLS', ['\x15\x03\x03\x00\x02\x02\x28'], true],
    ['HTTP/2', ['\x00\x00\x00\x04\x00\x00\x00\x00\x00'], true],
    ['HTTP of another version', ['HTTP/2.0 200 OK\r\n\r\n'], true],
    ['a bad chunk size beside the head', [`${head}zz\r\nhello\r\n0\r\n\r\n`], true],
    ['a chunk size with a blank before it', [`${head} 5\r\nhello\r\n0\r\n\r\n`], true],
    ['a chunk size beyond any body', [`${head}${'f'.repeat(14)}\r\nhello`], true],
  ])('and is not HTTP is 502 bad_answer: %s', async (_name, answer, closing) => {
    const text = await answerTo(answer, closing)
    expect(text).toMatch(/^HTTP\/1\.1 502 /)
    expect(text).toContain('X-Tunnel-Error: bad_answer')
    await waitFor('the request in the inspector', async () => (await latestError()) === 'bad_answer')
    expect((await client.tunnels.requests('raw_one', { limit: 1 })).data[0]?.status).toBe(502)
  })

  test('and breaks off within a head is still target_lost', async () => {
    expect(await answerTo(['HTTP/1.1 200 O'], true)).toContain('X-Tunnel-Error: target_lost')
  })

  test('and turns bad after a good beginning is cut, and its reason is kept', async () => {
    const text = await answerTo([`${head}5\r\nhello\r\n`, 'zz\r\n'], true)
    expect(text).not.toContain('0\r\n\r\n')
    await waitFor('the reason in the inspector', async () => (await latestError()) === 'bad_answer')
  })
})

describe('a public request', () => {
  test('with an absolute target is for its host, and the target sees a path', async () => {
    const send = (target: string, hostLine: string) =>
      sendRaw(port, `GET ${target} HTTP/1.1\r\nHost: ${hostLine}\r\nConnection: close\r\n\r\n`)
    expect(await send(`http://${host}/a?b=1`, host)).toMatch(/^HTTP\/1\.1 200 /)
    expect(origin.seen.at(-1)?.url).toBe('/a?b=1')
    expect(await send(`http://${host}?b=1`, host)).toMatch(/^HTTP\/1\.1 200 /)
    expect(origin.seen.at(-1)?.url).toBe('/?b=1')
    // The target of the request counts, and not Host (RFC 9112 section 3.2.2).
    expect(await send(`http://${host}/c`, 'other.tunnel.localhost')).toMatch(/^HTTP\/1\.1 200 /)
    expect(origin.seen.at(-1)?.headers['x-forwarded-host']).toBe(host)
    const count = origin.seen.length
    expect(await send('http://other.tunnel.localhost/c', host)).toMatch(/^HTTP\/1\.1 404 /)
    for (const target of [`http://user@${host}/`, `ftp://${host}/`, `http://${host}/#x`, `http:///x`])
      expect(await send(target, host)).toMatch(/^HTTP\/1\.1 400 /)
    expect(origin.seen.length).toBe(count)
  })

  test('with a method of its own passes, and TRACE and CONNECT do not', async () => {
    const answer = 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\nok'
    for (const method of ['BAN', 'FOO-BAR', 'get', 'QUERY']) expect(await answerTo([answer], false, method)).toMatch(/^HTTP\/1\.1 200 /)
    await waitFor('the requests in the inspector', async () => {
      const { data } = await client.tunnels.requests('raw_one', { limit: 4 })
      return data.map(({ method }) => method).join() === 'QUERY,get,FOO-BAR,BAN'
    })
    expect(await answerTo([answer], false, 'TRACE')).toMatch(/^HTTP\/1\.1 405 /)
    for (const method of ['CONNECT', 'connect', 'trace', 'Trace'])
      expect(await answerTo([answer], false, method)).not.toMatch(/^HTTP\/1\.1 200 /)
  })

  describe('with a method of its own and a body', () => {
    const answer = 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\nok'
    const send = (fields: string, body: string) => {
      pieces = [answer]
      received = ''
      return sendRaw(port, `BAN /b HTTP/1.1\r\nHost: ${rawHost}\r\n${fields}\r\n\r\n${body}`)
    }

    test.each([
      ['a length', 'Content-Length: 5', 'hello', 'hello'],
      ['chunks', 'Transfer-Encoding: chunked', '5\r\nhello\r\n0\r\n\r\n', '5\r\nhello\r\n0\r\n\r\n'],
      ['repeated headers', 'Cookie: a\r\nCookie: b\r\nContent-Length: 5', 'hello', 'hello'],
    ])('%s passes, and closes the connection', async (_name, fields, body, passed) => {
      const text = await send(fields, body)
      expect(text).toMatch(/^HTTP\/1\.1 200 .*^Connection: close\r$.*ok$/ms)
      expect(received).toMatch(/^BAN \/b HTTP\/1\.1\r\n/)
      expect(received.split('\r\n\r\n').slice(1).join('\r\n\r\n')).toBe(passed)
      await waitFor('the method in the inspector', async () => {
        const [latest] = (await client.tunnels.requests('raw_one', { limit: 1 })).data
        return latest?.method === 'BAN' && latest.path === '/b'
      })
    })

    test.each([
      ['two lengths', 'Content-Length: 5\r\nContent-Length: 6', 'hello'],
      ['a length and chunks', 'Content-Length: 4\r\nTransfer-Encoding: chunked', '0\r\n\r\n'],
      ['chunks and a length', 'Transfer-Encoding: chunked\r\nContent-Length: 4', '0\r\n\r\n'],
      ['an unknown coding', 'Transfer-Encoding: xchunked', '0\r\n\r\n'],
      ['a coding before chunked', 'Transfer-Encoding: gzip, chunked', '0\r\n\r\n'],
      ['a space before the colon', 'Content-Length : 5', 'hello'],
      ['a negative length', 'Content-Length: -1', ''],
      ['two Hosts', 'Host: elsewhere\r\nContent-Length: 5', 'hello'],
      ['a folded header', 'X: a\r\n Content-Length: 5\r\nContent-Length: 5', 'hello'],
    ])('%s is refused before the target sees it', async (_name, fields, body) => {
      expect(await send(fields, `${body}GET /hidden HTTP/1.1\r\nHost: ${rawHost}\r\n\r\n`)).toMatch(/^HTTP\/1\.1 (400|501) /)
      expect(received).toBe('')
    })

    test('a request to the API is refused, and not run as another method', async () => {
      const fields = `Host: localhost:${port}\r\nAuthorization: Bearer ${harness.organizationKey}\r\nContent-Type: application/json`
      const body = '{"agent_handle":"banned"}'
      const text = await sendRaw(port, `BAN /api/v1/identities HTTP/1.1\r\n${fields}\r\nContent-Length: ${body.length}\r\n\r\n${body}`)
      expect(text).toMatch(/^HTTP\/1\.1 400 /)
      expect((await client.identities.list()).data.map(({ agent_handle }) => agent_handle)).not.toContain('banned')
    })
  })
})

test('targets on this machine are those on loopback, the unspecified address and names below localhost', async () => {
  for (const target of [`0.0.0.0:${origin.port}`, `http://app.localhost:${origin.port}`, `http://[::]:${origin.port}`]) {
    const own = await client.tunnels.listen('shop', target, { connections: 1 })
    await own.close(0)
  }
  await listener.close(0)
  listener = await client.tunnels.listen('shop', `http://app.localhost:${origin.port}`, { connections: 1 })
  expect((await visit(port, host, '/')).body.toString()).toBe('seen')
  expect(origin.seen.at(-1)?.headers.host).toBe(`app.localhost:${origin.port}`)
  for (const remote of ['http://notlocalhost:1', 'http://localhost.example.com:1', 'http://0.0.0.1:1', 'http://10.0.0.1:1'])
    await expect(client.tunnels.listen('shop', remote)).rejects.toThrow(/not on this machine/)
})

describe('a tunnel without a client', () => {
  test('answers a browser with a page, and programs with JSON', async () => {
    await harness.createAgent('away')
    const away = `away.tunnel.localhost:${port}`
    const page = await visit(port, away, '/', { headers: { accept: 'text/html,application/xhtml+xml,*/*;q=0.8' } })
    expect([page.status, page.headers['content-type'], page.headers['x-tunnel-error']]).toEqual([
      503,
      'text/html; charset=utf-8',
      'tunnel_offline',
    ])
    expect(page.headers['retry-after']).toBe('5')
    expect(page.body.toString()).toContain('<h1>This tunnel is offline</h1>')
    expect(page.headers['content-security-policy']).toContain("default-src 'none'")
    const posted = await visit(port, away, '/', { method: 'POST', body: 'a=1', headers: { accept: 'text/html' } })
    expect(posted.headers['content-type']).toBe('text/html; charset=utf-8')
    const plain = await visit(port, away, '/', { headers: { accept: '*/*' } })
    expect(JSON.parse(plain.body.toString()).error.code).toBe('tunnel_offline')
    const unknown = await visit(port, `nobody.tunnel.localhost:${port}`, '/', { headers: { accept: 'text/html' } })
    expect([unknown.status, unknown.body.toString().includes('No tunnel has this address')]).toEqual([404, true])
  })
})
