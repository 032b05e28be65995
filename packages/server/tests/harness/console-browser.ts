// A browser as the console's page uses it: keeps the session cookie, and sends the Origin and the CSRF value.
import { request } from 'undici'
import type { Harness, Json } from './start.ts'

export type BrowserAnswer = { status: number; headers: Record<string, string | string[] | undefined>; body: Json }
type More = { headers?: Record<string, string | undefined>; body?: unknown }

const cookieName = 'callsign_session'

/** The token of a one-time link. */
export const tokenOf = (link: string): string => link.slice(link.indexOf('#link=') + 6)

export function openBrowser(harness: Pick<Harness, 'baseUrl' | 'publicUrl'>, localAddress = '127.0.0.1') {
  const cookies = new Map<string, string>()
  let csrf = ''

  async function ask(method: string, path: string, { headers = {}, body }: More = {}): Promise<BrowserAnswer> {
    const all: Record<string, string | undefined> = {
      origin: harness.publicUrl,
      'user-agent': 'Test browser',
      'x-forwarded-for': localAddress,
      cookie: [...cookies].map(([name, value]) => `${name}=${value}`).join('; '),
      'x-callsign-csrf': csrf,
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      ...headers,
    }
    const answer = await request(`${harness.baseUrl}/console/api/${path}`, {
      method: method as 'GET',
      headers: Object.fromEntries(Object.entries(all).filter(([, value]) => value)) as Record<string, string>,
      body: body === undefined ? null : JSON.stringify(body),
    })
    for (const line of [answer.headers['set-cookie'] ?? []].flat()) {
      const [pair = ''] = line.split(';')
      const [name = '', value = ''] = [pair.slice(0, pair.indexOf('=')), pair.slice(pair.indexOf('=') + 1)]
      if (value === '') cookies.delete(name)
      else cookies.set(name, value)
    }
    const text = await answer.body.text()
    const json = text === '' ? null : (JSON.parse(text) as Json)
    if (json?.session?.csrf) csrf = json.session.csrf
    return { status: answer.statusCode, headers: answer.headers, body: json }
  }

  async function expect(status: number, method: string, path: string, more: More = {}): Promise<Json> {
    const answer = await ask(method, path, more)
    if (answer.status !== status) throw new Error(`${method} ${path} answered ${answer.status}: ${JSON.stringify(answer.body)}`)
    return answer.body
  }

  return {
    ask,
    /** The body of an answer that must have this status. */
    expect,
    signInByLink: (link: string): Promise<Json> => expect(200, 'POST', 'sign-in/link', { body: { token: tokenOf(link) } }),
    signInByKey: (key: string): Promise<Json> => expect(200, 'POST', 'sign-in/key', { body: { api_key: key } }),
    /** A fresh token for the API. */
    token: async (): Promise<string> => (await expect(200, 'POST', 'token')).token,
    get cookie() {
      return cookies.get(cookieName) ?? null
    },
    setCookie: (value: string) => void cookies.set(cookieName, value),
    get csrf() {
      return csrf
    },
  }
}
