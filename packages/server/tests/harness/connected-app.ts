// An app that connects over OAuth, and the browser of the person that gives it access.
import { createHash, randomBytes } from 'node:crypto'
import { request } from 'undici'
import type { openBrowser } from './console-browser.ts'
import type { Harness, Json } from './start.ts'

export type Fields = Record<string, string | string[] | undefined>
export type PageAnswer = { status: number; headers: Record<string, string | string[] | undefined>; text: string }
type Browser = Pick<ReturnType<typeof openBrowser>, 'cookie' | 'csrf'>

/** Parameters as a query or form. undefined leaves one out, and a list repeats it. */
export function parametersOf(fields: Fields): URLSearchParams {
  const parameters = new URLSearchParams()
  for (const [name, value] of Object.entries(fields)) for (const one of [value ?? []].flat()) parameters.append(name, one)
  return parameters
}

export const createVerifier = (): string => randomBytes(32).toString('base64url')
export const challengeOf = (verifier: string): string => createHash('sha256').update(verifier).digest('base64url')

export const redirectUri = 'http://127.0.0.1:33418/callback'

export const allowed: Fields = { agent: 'sales', toolset: ['mail', 'events'], mail_approval: 'agent', decision: 'allow' }

export function createAppTools(harness: Harness) {
  const { baseUrl, publicUrl } = harness

  async function page(method: 'GET' | 'POST', path: string, headers: Record<string, string> = {}, body?: string): Promise<PageAnswer> {
    const answer = await request(`${baseUrl}${path}`, { method, headers, body: body ?? null })
    return { status: answer.statusCode, headers: answer.headers, text: await answer.body.text() }
  }

  const cookieHeader = (browser: Browser): Record<string, string> => ({ cookie: `callsign_session=${browser.cookie}` })

  const post = async (path: string, fields: Fields): Promise<{ status: number; body: Json; headers: PageAnswer['headers'] }> => {
    const answer = await page('POST', path, { 'content-type': 'application/x-www-form-urlencoded' }, parametersOf(fields).toString())
    return { status: answer.status, headers: answer.headers, body: answer.text === '' ? null : JSON.parse(answer.text) }
  }

  async function register(metadata: Json = {}): Promise<{ status: number; body: Json }> {
    const body = JSON.stringify({ client_name: 'Test app', redirect_uris: [redirectUri], ...metadata })
    const answer = await page('POST', '/oauth/register', { 'content-type': 'application/json' }, body)
    return { status: answer.status, body: JSON.parse(answer.text) }
  }

  const requestOf = (clientId: string, verifier: string, more: Fields = {}): URLSearchParams =>
    parametersOf({
      response_type: 'code',
      client_id: clientId,
      redirect_uri: redirectUri,
      state: 'state-1',
      code_challenge: challengeOf(verifier),
      code_challenge_method: 'S256',
      resource: `${publicUrl}/mcp`,
      ...more,
    })

  const consent = (browser: Browser, asked: URLSearchParams): Promise<PageAnswer> =>
    page('GET', `/console/connect?${asked}`, cookieHeader(browser))

  const answer = (browser: Browser, asked: URLSearchParams, choice: Fields, headers: Record<string, string> = {}): Promise<PageAnswer> =>
    page(
      'POST',
      `/console/connect?${asked}`,
      { ...cookieHeader(browser), origin: publicUrl, 'content-type': 'application/x-www-form-urlencoded', ...headers },
      parametersOf({ csrf: browser.csrf, ...choice }).toString(),
    )

  /** The address at which the page returns to the app. */
  const returnIn = ({ status, text }: PageAnswer): URL => {
    const address = /http-equiv="refresh" content="0; url=([^"]*)"/.exec(text)?.[1]
    if (status !== 200 || address === undefined) throw new Error(`the answer was ${status}: ${text}`)
    return new URL(address.replaceAll('&amp;', '&'))
  }

  /** The parameters with which the person is sent back to the app. */
  const responseIn = (answered: PageAnswer): URLSearchParams => returnIn(answered).searchParams

  /** A code for a client, from the request to the answer of the person. */
  async function codeFor(browser: Browser, clientId: string, choice: Fields = {}, more: Fields = {}) {
    const verifier = createVerifier()
    const response = responseIn(await answer(browser, requestOf(clientId, verifier, more), { ...allowed, ...choice }))
    return { code: response.get('code') as string, verifier, response }
  }

  const redeem = (clientId: string, code: string, verifier: string, more: Fields = {}) =>
    post('/oauth/token', {
      grant_type: 'authorization_code',
      client_id: clientId,
      code,
      code_verifier: verifier,
      redirect_uri: redirectUri,
      ...more,
    })

  const refresh = (clientId: string, token: string, more: Fields = {}) =>
    post('/oauth/token', { grant_type: 'refresh_token', client_id: clientId, refresh_token: token, ...more })

  /** A registered app with tokens for this choice. */
  async function connectApp(browser: Browser, choice: Fields = {}, metadata: Json = {}) {
    const clientId = (await register(metadata)).body.client_id as string
    const { code, verifier } = await codeFor(browser, clientId, choice)
    const { status, body } = await redeem(clientId, code, verifier)
    if (status !== 200) throw new Error(`the token endpoint answered ${status}: ${JSON.stringify(body)}`)
    return {
      clientId,
      code,
      verifier,
      access: body.access_token as string,
      refresh: body.refresh_token as string,
      scope: body.scope as string,
    }
  }

  /** The status of a ping to /mcp with this token. */
  const mcpStatus = async (token: string): Promise<number> =>
    (
      await page(
        'POST',
        '/mcp',
        { authorization: `Bearer ${token}`, 'content-type': 'application/json', accept: 'application/json, text/event-stream' },
        '{"jsonrpc":"2.0","id":1,"method":"ping"}',
      )
    ).status

  return { page, post, register, requestOf, consent, answer, returnIn, responseIn, codeFor, redeem, refresh, connectApp, mcpStatus }
}
