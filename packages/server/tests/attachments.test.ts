// Attachments by base64 and by url, their limits, and the signed links that download them.
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Ask, type Harness, type Json, startHarness } from './harness/start.ts'

let harness: Harness
let files: Server
let filesUrl: string
let fetches: string[] = []

beforeAll(async () => {
  files = createServer((request, response) => {
    fetches.push(request.url as string)
    if (request.url === '/file.pdf') response.writeHead(200, { 'content-type': 'application/pdf' }).end('%PDF-1.7 fetched')
    else if (request.url === '/moved') response.writeHead(302, { location: '/file.pdf' }).end()
    else if (request.url === '/to-metadata') response.writeHead(302, { location: 'http://169.254.169.254/latest/meta-data' }).end()
    else if (request.url === '/endless') {
      const pump = () => {
        while (!response.destroyed && response.write(Buffer.alloc(1024 * 1024)));
        if (!response.destroyed) response.once('drain', pump)
      }
      pump()
    } else response.writeHead(404).end()
  }).listen(0, '127.0.0.1')
  await new Promise((resolve) => files.once('listening', resolve))
  filesUrl = `http://127.0.0.1:${(files.address() as AddressInfo).port}`
  harness = await startHarness({ CALLSIGN_OUTBOUND_ALLOW_CIDRS: '127.0.0.0/8' })
  await harness.createAgent('ann')
  await harness.createAgent('ben')
})
afterAll(async () => {
  await harness.stop()
  files.closeAllConnections()
  files.close()
})

const base64 = (bytes: Buffer | string) => Buffer.from(bytes).toString('base64')
const send = (attachments: unknown, more: object = {}, on = harness) =>
  on.api('POST', '/mail/send', { body: { agent: 'ann', to: ['x@example.com'], subject: 'Files', text: 'a', attachments, ...more } })
const sent = async (attachments: unknown): Promise<Json[]> => {
  const { status, body } = await send(attachments)
  expect(status).toBe(201)
  return (await harness.getMessage('ann', body.id)).attachments
}
/** Opens a link on the port of the test server. Links do not need a key. */
const open = (link: string, ask: Ask = {}) => harness.api('GET', link.replace(harness.publicUrl, ''), { key: null, ...ask })

describe('by base64', () => {
  test('metadata has id, filename, content_type, size_bytes, content_id and url, and the link returns the bytes', async () => {
    const bytes = Buffer.from(Array.from({ length: 256 }, (_, i) => i))
    const [first, second] = await sent([
      { filename: 'all bytes.bin', content: base64(bytes) },
      { filename: 'pic.png', content: base64('png'), content_type: 'image/png', content_id: '<logo@x>' },
    ])
    expect(first).toEqual({
      id: expect.stringMatching(/^att_/),
      filename: 'all bytes.bin',
      content_type: 'application/octet-stream',
      size_bytes: 256,
      content_id: null,
      url: expect.stringContaining(`${harness.publicUrl}/media/${first.id}?expires=`),
    })
    expect(second).toMatchObject({ content_type: 'image/png', content_id: 'logo@x', size_bytes: 3 })
    expect((await open(first.url)).body).toEqual(bytes)
  })

  test('the type follows from the name, or is the given one with its parameters', async () => {
    const found = await sent([
      { filename: 'a.csv', content: 'AAEC' },
      { filename: 'noextension', content: 'AAEC' },
      { filename: 'b.txt', content: 'AAEC', content_type: 'Text/Markdown; charset=utf-8' },
      { filename: 'c.ics', content: 'AAEC', content_type: 'text/calendar; method=REQUEST; name=x; boundary=y' },
      { filename: 'd.csv', content: 'AAEC', content_type: 'text/csv; charset=utf-8\r\nBcc: x@y.example' },
    ])
    expect(found.map((one) => one.content_type)).toEqual([
      'text/csv',
      'application/octet-stream',
      'text/markdown; charset=utf-8',
      'text/calendar; method=REQUEST',
      'text/csv',
    ])
  })

  test.each<[string, object, string]>([
    ['neither content nor url', { filename: 'a' }, '/attachments/0'],
    ['both', { filename: 'a', content: 'AAEC', url: 'http://127.0.0.1/' }, '/attachments/0'],
    ['no filename', { content: 'AAEC' }, '/attachments/0/filename'],
    ['an empty filename', { filename: '', content: 'AAEC' }, '/attachments/0/filename'],
    ['a path as filename', { filename: '../../etc/passwd', content: 'AAEC' }, '/attachments/0/filename'],
    ['a line break in filename', { filename: 'a\r\nb', content: 'AAEC' }, '/attachments/0/filename'],
    ['content that is no base64', { filename: 'a', content: '!!!!' }, '/attachments/0/content'],
    ['base64 without padding', { filename: 'a', content: 'AAE' }, '/attachments/0/content'],
    ['base64url', { filename: 'a', content: '-_-_' }, '/attachments/0/content'],
    ['a type that is none', { filename: 'a', content: 'AAEC', content_type: 'pdf!' }, '/attachments/0/content_type'],
    ['a multipart type', { filename: 'a', content: 'AAEC', content_type: 'multipart/mixed' }, '/attachments/0/content_type'],
    ['a content_id with a line break', { filename: 'a', content: 'AAEC', content_id: 'a\r\nb' }, '/attachments/0/content_id'],
    ['an unknown field', { filename: 'a', content: 'AAEC', colour: 'red' }, '/attachments/0/colour'],
  ])('%s is 400 naming the field', async (_name, attachment, path) => {
    const { status, body } = await send([attachment])
    expect([status, body.error.code, body.error.details[0].path]).toEqual([400, 'validation_error', path])
  })

  test('an empty file is accepted', async () => {
    const [one] = await sent([{ filename: 'empty.txt', content: '' }])
    expect(one.size_bytes).toBe(0)
    expect((await open(one.url)).body).toBeNull()
  })
})

describe('by url, through the outbound guard', () => {
  test('the file is fetched once and stored', async () => {
    fetches = []
    const [one] = await sent([{ filename: 'mine.pdf', content_type: 'application/pdf', url: `${filesUrl}/file.pdf` }])
    expect([one.filename, one.size_bytes]).toEqual(['mine.pdf', 16])
    expect((await open(one.url)).body.toString()).toBe('%PDF-1.7 fetched')
    expect(fetches).toEqual(['/file.pdf'])
    const [moved] = await sent([{ filename: 'moved.pdf', url: `${filesUrl}/moved` }])
    expect(moved.size_bytes).toBe(16)
  })

  test('a reply accepts it too', async () => {
    await harness.deliver({ from: 'eve@example.org', to: 'ann@agents.localhost', subject: 'Ask', text: 'a' })
    const { id } = await harness.waitForMail('ann', 'Ask')
    const body = { text: 'a', attachments: [{ filename: 'a.pdf', content_type: 'application/pdf', url: `${filesUrl}/file.pdf` }] }
    const answer = await harness.expectApi(201, 'POST', `/mailboxes/ann/messages/${id}/reply`, { body })
    expect((await harness.getMessage('ann', answer.id)).attachments).toMatchObject([{ filename: 'a.pdf', size_bytes: 16 }])
  })

  test.each([
    ['a private address', 'http://10.0.0.1/a'],
    ['the metadata service', 'http://169.254.169.254/latest/meta-data'],
    ['a redirect to it', '/to-metadata'],
    ['a file', 'file:///etc/passwd'],
    ['credentials', 'http://user:secret@127.0.0.1/'],
    ['a missing file', '/missing'],
    ['a port that nobody listens on', 'http://127.0.0.1:1/'],
    ['more than a message may hold', '/endless'],
    ['no URL', 'not a url'],
  ])('%s is 400 naming the attachment', async (_name, url) => {
    const { status, body } = await send([{ filename: 'a', url: url.startsWith('/') ? filesUrl + url : url }])
    expect([status, body.error.code, body.error.details[0].path]).toEqual([400, 'validation_error', '/attachments/0/url'])
    expect(JSON.stringify(body)).not.toMatch(/ECONN|secret/)
  })

  test('without CALLSIGN_OUTBOUND_ALLOW_CIDRS loopback is refused by number and by name, without a connection', async () => {
    const guarded = await startHarness()
    try {
      await guarded.createAgent('ann')
      fetches = []
      const { port } = new URL(filesUrl)
      for (const host of ['127.0.0.1', 'localhost', '[::1]', '[::ffff:127.0.0.1]', '2130706433', '0x7f.1', '0.0.0.0']) {
        const { status, body } = await send([{ filename: 'a', url: `http://${host}:${port}/file.pdf` }], {}, guarded)
        expect([host, status, body.error.code]).toEqual([host, 400, 'validation_error'])
      }
      expect(fetches).toEqual([])
    } finally {
      await guarded.stop()
    }
  })
})

describe('limits', () => {
  test('25 MB of attachments per message are accepted and delivered whole, and more is 413 payload_too_large', async () => {
    const bytes = Buffer.alloc(25 * 1024 * 1024 - 1, 'callsign')
    const { status, body } = await send([{ filename: 'most.bin', content: base64(bytes) }])
    expect(status).toBe(201)
    const [{ url, size_bytes }] = (await harness.getMessage('ann', body.id)).attachments
    expect(size_bytes).toBe(bytes.length)
    expect(bytes.equals((await open(url)).body)).toBe(true)
    const half = base64(bytes.subarray(0, 13 * 1024 * 1024))
    for (const attachments of [
      [{ filename: 'a', content: base64(Buffer.concat([bytes, Buffer.alloc(1)])) }],
      [half, half].map((content, i) => ({ filename: `${i}`, content })),
    ]) {
      const refused = await send(attachments)
      expect([refused.status, refused.body.error.code]).toEqual([413, 'payload_too_large'])
    }
  })

  test('a body over 40 MB is 413 before it is read', async () => {
    const response = await fetch(`${harness.baseUrl}/api/v1/mail/send`, {
      method: 'POST',
      headers: { authorization: `Bearer ${harness.organizationKey}`, 'content-type': 'application/json' },
      body: Buffer.alloc(40 * 1024 * 1024 + 1, 'a'),
    }).catch((error: Error) => error)
    // The server may have closed the connection while the client was still writing.
    if (!(response instanceof Error)) expect(response.status).toBe(413)
    await harness.expectApi(200, 'GET', '/me')
  })

  test('51 attachments are 400', async () => {
    expect((await send(Array.from({ length: 51 }, (_, i) => ({ filename: `${i}`, content: '' })))).status).toBe(400)
  })
})

describe('signed links', () => {
  let link: string
  let otherLink: string
  beforeAll(async () => {
    const [one, two] = await sent([
      { filename: 'naïve "file".html', content: base64('<script>'), content_type: 'text/html' },
      { filename: 'two.txt', content: base64('two') },
    ])
    link = one.url
    otherLink = two.url
  })

  test('a file downloads as an attachment and is never sniffed or run', async () => {
    const { status, headers, body } = await open(link)
    expect([status, body.toString()]).toEqual([200, '<script>'])
    expect(headers.get('content-disposition')).toMatch(/^attachment; filename=".+"; filename\*=UTF-8''na%C3%AFve%20%22file%22\.html$/)
    expect(headers.get('x-content-type-options')).toBe('nosniff')
    expect(headers.get('content-security-policy')).toMatch(/sandbox/)
    expect(headers.get('content-type')).toBe('text/html')
  })

  test('a link expires after an hour', () => {
    const expires = Number(new URL(link).searchParams.get('expires'))
    expect(Math.abs(expires - (Date.now() / 1000 + 3600))).toBeLessThan(60)
  })

  test('an expired link is 403 forbidden', async () => {
    // The server itself signs the link in its past, because this process and the server share a clock.
    const { vi } = await import('vitest')
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() - 3_601_000 })
    let old: string
    try {
      old = (await harness.getMessage('ann', (await harness.expectApi(200, 'GET', '/mail/messages?limit=1')).messages[0].id)).attachments[0]
        .url
    } finally {
      vi.useRealTimers()
    }
    const { status, body } = await open(old)
    expect([status, body.error.code, body.error.message]).toEqual([403, 'forbidden', expect.stringContaining('expired')])
  })

  test('a forged link is 403 for another expiry, another signature or another attachment’s signature', async () => {
    const change = (name: string, value: string) => {
      const url = new URL(link)
      url.searchParams.set(name, value)
      return url.href
    }
    const signature = new URL(link).searchParams.get('signature') as string
    const expires = new URL(link).searchParams.get('expires') as string
    const forged = [
      change('expires', String(Number(expires) + 1)),
      change('expires', `0${expires}`),
      change('expires', '99999999999'),
      change('expires', ''),
      change(
        'signature',
        signature.replace(/^./, (c) => (c === 'A' ? 'B' : 'A')),
      ),
      change('signature', signature.slice(0, -1)),
      change('signature', `${signature}=`),
      change('signature', ''),
      `${new URL(otherLink).origin}${new URL(otherLink).pathname}${new URL(link).search}`,
      link.replace(/att_\w+/, 'att_01h455vb4pex5vsknk084sn02q'),
    ]
    for (const url of forged) {
      const { status, body } = await open(url)
      expect([url, status, body.error.code]).toEqual([url, 403, 'forbidden'])
    }
    for (const query of ['', `?expires=${expires}`, `?signature=${signature}`, `${new URL(link).search}&more=1`])
      expect((await open(new URL(link).pathname + query)).status).toBe(400)
  })

  test('a key neither helps nor is needed for a link', async () => {
    expect((await open(`${new URL(link).pathname}?expires=9999999999&signature=x`, { key: harness.organizationKey })).status).toBe(403)
    await harness.expectApi(200, 'GET', link.replace(harness.publicUrl, ''), { key: null })
  })

  test('a whole message has a link to its bytes, and its signature opens nothing else', async () => {
    const sent = await harness.send('ben', 'ada@example.com', { subject: 'Raw by link' })
    const { raw_url: url } = await harness.getMessage('ben', sent.id)
    const raw = await open(url)
    expect([raw.status, raw.headers.get('content-type')]).toEqual([200, 'message/rfc822'])
    expect(String(raw.body)).toContain('Subject: Raw by link')
    const other = await harness.send('ben', 'ada@example.com', { subject: 'Another' })
    expect((await open(url.replace(sent.id, other.id))).status).toBe(403)
    await harness.expectApi(200, 'DELETE', `/mailboxes/ben/messages/${sent.id}`)
    expect((await open(url)).status).toBe(404)
  })

  test('every listing signs new links, and incoming mail has links too', async () => {
    await harness.deliver({
      from: 'eve@example.org',
      to: 'ben@agents.localhost',
      subject: 'With file',
      text: 'a',
      attachments: [{ filename: 'in.bin', content: Buffer.alloc(200_000, 3) }],
    })
    const { attachments } = await harness.waitForMail('ben', 'With file')
    expect((await open(attachments[0].url)).body).toEqual(Buffer.alloc(200_000, 3))
    const { data } = await harness.expectApi(200, 'GET', '/mailboxes/ben/messages')
    expect((await open(data[0].attachments[0].url)).status).toBe(200)
  })
})
