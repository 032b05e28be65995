// Pages with a form in Chromium, from the first request of an app or link to its end: consent with both generations of the official client, and approval.
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { Client, auth as connectModern, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { auth as connectFirst } from '@modelcontextprotocol/sdk/client/auth.js'
import { build } from 'esbuild'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { launchBrowser } from '../../console/tests/harness/browser.ts'
import { signInByKey, submitSignIn, waitForShell } from '../../console/tests/harness/sign-in.ts'
import { startWorld, type World } from '../../console/tests/harness/world.ts'
import { createAppTools, createVerifier, parametersOf } from './harness/connected-app.ts'
import { waitFor } from './harness/wait.ts'

type Browser = Awaited<ReturnType<typeof launchBrowser>>
type BrowserContext = Awaited<ReturnType<Browser['newContext']>>
type Page = Awaited<ReturnType<BrowserContext['newPage']>>

let world: World
let browser: Browser
const opened: Opened[] = []
const servers: Server[] = []

beforeAll(async () => {
  ;[world, browser] = await Promise.all([startWorld({ isFilled: false }), launchBrowser()])
  await world.createAgent('sales')
  await world.createAgent('careful', { draft_approval: 'required' })
})
afterEach(async () => {
  for (const { context } of opened.splice(0)) await context.close()
})
afterAll(async () => {
  for (const server of servers) server.close()
  await browser?.close()
  await world?.stop()
})

type Opened = { context: BrowserContext; page: Page; blocked: string[] }

/** A browser without a session. `blocked` gets what a policy or a check of the browser refused. */
async function open(): Promise<Opened> {
  const context = await browser.newContext({ baseURL: world.publicUrl })
  const page = await context.newPage()
  page.setDefaultTimeout(30_000)
  const blocked: string[] = []
  page.on(
    'console',
    (message) => message.type() === 'error' && /policy|refused|blocked/i.test(message.text()) && blocked.push(message.text()),
  )
  const one = { context, page, blocked }
  opened.push(one)
  return one
}

/** A site on another port. `answer` returns a page, or the address to continue at. */
async function serve(host: string, answer: (path: string) => string): Promise<{ origin: string; asked: string[] }> {
  const asked: string[] = []
  const server = createServer((request, response) => {
    asked.push(request.url as string)
    const text = answer(request.url as string)
    if (request.url === '/app.js') response.writeHead(200, { 'content-type': 'text/javascript' }).end(text)
    else if (text.startsWith('<')) response.writeHead(200, { 'content-type': 'text/html' }).end(text)
    else response.writeHead(302, { location: text }).end()
  })
  servers.push(server)
  await new Promise<void>((resolve) => server.listen(0, host === 'localhost' ? '127.0.0.1' : host, resolve))
  return { origin: `http://${host}:${(server.address() as AddressInfo).port}`, asked }
}

type State = { client?: never; tokens?: never; verifier: string; url?: URL }

/** State of an app with an official client. */
function createProvider(redirectUrl: string) {
  const state: State = { verifier: '' }
  const keep = (more: Partial<State>) => {
    Object.assign(state, more)
  }
  const provider = {
    redirectUrl,
    clientMetadata: { client_name: 'Desk app', redirect_uris: [redirectUrl], token_endpoint_auth_method: 'none' },
    state: () => 'state-of-the-app',
    clientInformation: () => state.client,
    saveClientInformation: (given: never) => keep({ client: given }),
    tokens: () => state.tokens,
    saveTokens: (given: never) => keep({ tokens: given }),
    redirectToAuthorization: (url: URL) => keep({ url }),
    saveCodeVerifier: (verifier: string) => keep({ verifier }),
    codeVerifier: () => state.verifier,
  }
  return { provider: provider as never, state }
}

type Connect = (provider: never, options: { serverUrl: URL; authorizationCode?: string; iss?: string }) => Promise<string>
const generations: [string, Connect][] = [
  ['2', connectModern as Connect],
  ['1', connectFirst as unknown as Connect],
]

const callbackIn = ({ asked }: { asked: string[] }): Promise<URLSearchParams> =>
  waitFor('the app to be called back', async () => {
    const found = asked.find((path) => path.startsWith('/callback?'))
    return found === undefined ? null : new URL(found, 'http://app').searchParams
  })

const signIn = async (page: Page): Promise<void> => {
  await page.getByLabel('API key').fill(world.organizationKey)
  await submitSignIn(page)
}

const allow = async (page: Page): Promise<void> => {
  await page.getByRole('heading', { name: 'Connect “Desk app”' }).waitFor()
  await page.getByLabel('sales').check()
  await page.getByRole('button', { name: 'Allow' }).click()
}

describe('consent', () => {
  test.each(generations)(
    'the official client of version %s connects: sign-in, choice, callback, tokens, tools',
    async (_version, connect) => {
      const app = await serve('127.0.0.1', () => '<p>Done</p>')
      const { provider, state } = createProvider(`${app.origin}/callback`)
      const serverUrl = new URL(`${world.publicUrl}/mcp`)
      expect(await connect(provider, { serverUrl })).toBe('REDIRECT')
      const { page, blocked } = await open()
      await page.goto((state.url as URL).href)
      await signIn(page)
      await allow(page)
      const response = await callbackIn(app)
      expect(response.get('state')).toBe('state-of-the-app')
      expect(
        await connect(provider, { serverUrl, authorizationCode: response.get('code') as string, iss: response.get('iss') as string }),
      ).toBe('AUTHORIZED')
      const client = new Client({ name: 'test', version: '1' })
      await client.connect(new StreamableHTTPClientTransport(serverUrl, { authProvider: provider }))
      expect((await client.callTool({ name: 'whoami', arguments: {} })).isError).not.toBe(true)
      await client.close()
      expect(blocked).toEqual([])
    },
  )

  test.each(['claude://done', 'vscode://publisher.app/done', 'https://app.invalid/done'])(
    'an app that continues at %s gets its code',
    async (next) => {
      const app = await serve('127.0.0.1', () => next)
      const { provider, state } = createProvider(`${app.origin}/callback`)
      const { page, blocked } = await open()
      await signInByKey(page, world.organizationKey)
      await connectModern(provider, { serverUrl: new URL(`${world.publicUrl}/mcp`) })
      await page.goto((state.url as URL).href)
      // Nothing on this machine opens the address, so the browser gives up there.
      await Promise.all([page.waitForEvent('requestfailed'), allow(page)])
      expect((await callbackIn(app)).get('code')).toMatch(/^oac_/)
      expect(blocked).toEqual([])
    },
  )

  test('an app that is a page of another site connects with the official client', async () => {
    const entry = join(import.meta.dirname, 'harness', 'page-app.ts')
    const { outputFiles } = await build({ entryPoints: [entry], bundle: true, format: 'iife', platform: 'browser', write: false })
    const script = outputFiles[0]?.text as string
    const app = await serve('127.0.0.1', (path) => (path === '/app.js' ? script : '<script src="/app.js"></script>'))
    const { page, blocked } = await open()
    await signInByKey(page, world.organizationKey)
    await page.goto(`${app.origin}/?server=${encodeURIComponent(`${world.publicUrl}/mcp`)}`)
    await allow(page)
    await expect.poll(() => page.title(), { timeout: 20_000 }).toMatch(/^(24 tools|failed)/)
    expect([await page.title(), blocked]).toEqual(['24 tools', []])
  })

  test('Cancel returns to the app without access', async () => {
    const app = await serve('127.0.0.1', () => '<p>Done</p>')
    const { provider, state } = createProvider(`${app.origin}/callback`)
    const { page } = await open()
    await signInByKey(page, world.organizationKey)
    await connectModern(provider, { serverUrl: new URL(`${world.publicUrl}/mcp`) })
    await page.goto((state.url as URL).href)
    await page.getByRole('button', { name: 'Cancel' }).click()
    expect((await callbackIn(app)).get('error')).toBe('access_denied')
  })

  test('works behind a proxy that adds the policy no-referrer', async () => {
    const app = await serve('127.0.0.1', () => '<p>Done</p>')
    const { provider, state } = createProvider(`${app.origin}/callback`)
    const { page } = await open()
    await signInByKey(page, world.organizationKey)
    await connectModern(provider, { serverUrl: new URL(`${world.publicUrl}/mcp`) })
    const origins: (string | undefined)[] = []
    page.on('request', (request) => request.method() === 'POST' && origins.push(request.headers().origin))
    await page.route('**/console/connect?*', async (route) => {
      if (route.request().method() !== 'GET') return route.continue()
      const response = await route.fetch()
      return route.fulfill({ response, headers: { ...response.headers(), 'referrer-policy': 'no-referrer' } })
    })
    await page.goto((state.url as URL).href)
    await allow(page)
    expect((await callbackIn(app)).get('code')).toMatch(/^oac_/)
    expect(origins).toEqual(['null'])
  })

  test.each([
    ['another site', '127.0.0.1', ''],
    ['another port of this machine, which gets the cookie', 'localhost', ''],
    ['another site without a referrer', '127.0.0.1', '<meta name="referrer" content="no-referrer">'],
    ['another port without a referrer', 'localhost', '<meta name="referrer" content="no-referrer">'],
  ])('the form is refused from %s', async (_name, host, head) => {
    const tools = createAppTools(world)
    const { body } = await tools.register({ redirect_uris: ['http://127.0.0.1:9/callback'] })
    const asked = tools.requestOf(body.client_id, createVerifier(), { redirect_uri: 'http://127.0.0.1:9/callback' })
    const { page } = await open()
    await signInByKey(page, world.organizationKey)
    await page.goto(`/console/connect?${asked}`)
    // Even a page that knows the value of the form.
    const csrf = (await page.locator('input[name=csrf]').getAttribute('value')) as string
    const fields = parametersOf({ csrf, agent: 'sales', toolset: 'mail', mail_approval: 'agent', decision: 'allow' })
    const inputs = [...fields].map(([name, value]) => `<input type="hidden" name="${name}" value="${value}">`).join('')
    const action = `${world.publicUrl}/console/connect?${asked}`.replaceAll('&', '&amp;')
    const evil = await serve(host, () => `<head>${head}</head><form method="post" action="${action}">${inputs}<button>Win</button></form>`)
    await page.goto(evil.origin)
    const answered = page.waitForResponse((response) => response.request().method() === 'POST')
    await page.getByRole('button', { name: 'Win' }).click()
    expect((await answered).status()).toBe(403)
    expect((await world.db.query({ text: 'SELECT 1 FROM oauth_grants WHERE client_id = $1', values: [body.client_id] })).rowCount).toBe(0)
  })
})

describe('the page of an approval link', () => {
  const linkOf = async () => {
    const key = await world.agentKey('careful')
    const body = { to: ['ada@example.com'], subject: 'Offer', text: 'Buy now' }
    const { id } = await world.expectApi(201, 'POST', '/mailboxes/careful/drafts', { key, body })
    const { url } = await world.expectApi(200, 'POST', `/mailboxes/careful/drafts/${id}/approval-link`)
    return { id, url: url as string }
  }

  test.each([
    ['Approve and send', 'Approved', 'draft.approved'],
    ['Reject', 'Rejected', 'draft.rejected'],
  ])('%s decides', async (button, heading, event) => {
    const { id, url } = await linkOf()
    const { page, blocked } = await open()
    await page.goto(url)
    await page.getByRole('button', { name: button }).click()
    await page.getByRole('heading', { name: heading, exact: true }).waitFor()
    expect((await world.eventsOf(id)).map(({ type }) => type)).toContain(event)
    expect(blocked).toEqual([])
  })
})

test('the sign-in form of the console ends at the console', async () => {
  const { page, blocked } = await open()
  await page.goto('/console/')
  await signIn(page)
  await waitForShell(page)
  expect(blocked).toEqual([])
})
