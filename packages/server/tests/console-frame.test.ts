// The sandboxed frame in which the console shows mail.
import { request } from 'undici'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { openBrowser } from './harness/console-browser.ts'
import { type Harness, startHarness } from './harness/start.ts'

let harness: Harness
let browser: ReturnType<typeof openBrowser>

beforeAll(async () => {
  harness = await startHarness()
  browser = openBrowser(harness)
  await browser.signInByLink(harness.consoleUrl)
})
afterAll(() => harness.stop())

async function post(fields: Record<string, string>, headers: Record<string, string> = {}) {
  const answer = await request(`${harness.baseUrl}/console/frame`, {
    method: 'POST',
    headers: {
      origin: harness.publicUrl,
      cookie: `callsign_session=${browser.cookie}`,
      'content-type': 'application/x-www-form-urlencoded',
      ...headers,
    },
    body: new URLSearchParams(fields).toString(),
  })
  return { status: answer.statusCode, headers: answer.headers, text: await answer.body.text() }
}

const html = '<p style="color: red">Hello & welcome +1 ü</p>'

test('sends the HTML back unchanged, in a sandbox without scripts and remote images', async () => {
  const answer = await post({ html, images: '0', csrf: browser.csrf })
  expect([answer.status, answer.text]).toEqual([200, html])
  expect(answer.headers).toMatchObject({
    'content-type': 'text/html; charset=utf-8',
    'cache-control': 'no-store',
    'x-dns-prefetch-control': 'off',
    'x-content-type-options': 'nosniff',
    'referrer-policy': 'no-referrer',
    'content-security-policy':
      "sandbox allow-popups allow-popups-to-escape-sandbox; default-src 'none'; style-src 'unsafe-inline'; img-src data: 'self'; " +
      "form-action 'none'; base-uri 'none'; frame-ancestors 'self'",
  })
})

test('allows remote images when they were asked for', async () => {
  const { headers } = await post({ html, images: '1', csrf: browser.csrf })
  expect(headers['content-security-policy']).toContain("img-src data: 'self' https: http:;")
})

test('takes 10 MB of mail, and not 13', async () => {
  expect((await post({ html: 'x'.repeat(10_000_000), csrf: browser.csrf })).text).toHaveLength(10_000_000)
  expect((await post({ html: 'x'.repeat(13_000_000), csrf: browser.csrf })).status).toBe(413)
})

test('shows nothing without a session, with a wrong CSRF value, or for a form of another page', async () => {
  const refused = [
    await post({ html, csrf: browser.csrf }, { cookie: '' }),
    await post({ html, csrf: 'wrong' }),
    await post({ html }),
    await post({ html, csrf: browser.csrf }, { origin: 'https://evil.example' }),
    await post({ html, csrf: browser.csrf }, { origin: 'null' }),
  ]
  for (const answer of refused) {
    expect(answer.status).toBe(403)
    expect(answer.text).not.toContain('Hello')
    expect(answer.headers['content-type']).toContain('application/json')
  }
  expect((await post({ html, csrf: browser.csrf }, { 'content-type': 'application/json' })).status).toBe(415)
})
