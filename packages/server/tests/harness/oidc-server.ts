// An OpenID Connect provider by oidc-provider, whose accounts sign in without a page. Its answers can be changed for attacks.
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import Provider from 'oidc-provider'
import { request } from 'undici'

export type OidcAccount = { sub: string; email?: string; email_verified?: boolean }

export async function startOidcServer(clientId: string, clientSecret: string, redirectUris: () => string[]) {
  let account: OidcAccount = { sub: 'nobody' }
  let forge: ((idToken: string) => Promise<string> | string) | null = null
  // The issuer needs the port before the provider exists.
  const http = createServer((incoming, outgoing) => {
    if (forge !== null && incoming.url === '/token') void forgeTokens(outgoing)
    void handler(incoming, outgoing)
  })
  /** Replaces the ID token in the answer that the provider is about to write. */
  async function forgeTokens(outgoing: ServerResponse): Promise<void> {
    const end = outgoing.end.bind(outgoing) as (text: string) => ServerResponse
    outgoing.end = ((text: string) => {
      const body = JSON.parse(String(text))
      void Promise.resolve(forge?.(body.id_token)).then((id_token) => {
        const changed = JSON.stringify({ ...body, id_token })
        outgoing.setHeader('content-length', Buffer.byteLength(changed))
        end(changed)
      })
      return outgoing
    }) as typeof outgoing.end
  }
  await new Promise<void>((resolve) => http.listen(0, '127.0.0.1', resolve))
  const issuer = `http://127.0.0.1:${(http.address() as AddressInfo).port}`
  const provider = new Provider(issuer, {
    clients: [],
    claims: { openid: ['sub'], email: ['email', 'email_verified'] },
    cookies: { keys: ['test'] },
    features: { devInteractions: { enabled: false } },
    pkce: { required: () => true },
    findAccount: async (_context, sub) => ({ accountId: sub, claims: async () => ({ ...account, sub }) }),
    interactions: { url: (_context, interaction) => `/interaction/${interaction.uid}` },
  })
  const handler = async (
    incoming: Parameters<ReturnType<Provider['callback']>>[0],
    outgoing: Parameters<ReturnType<Provider['callback']>>[1],
  ) => {
    if (!incoming.url?.startsWith('/interaction/')) return provider.callback()(incoming, outgoing)
    const { prompt, params, session } = await provider.interactionDetails(incoming, outgoing)
    if (prompt.name === 'login') {
      return provider.interactionFinished(incoming, outgoing, { login: { accountId: account.sub } }, { mergeWithLastSubmission: false })
    }
    const grant = new provider.Grant({ accountId: session?.accountId as string, clientId: params.client_id as string })
    grant.addOIDCScope('openid email profile')
    const consent = { consent: { grantId: await grant.save() } }
    return provider.interactionFinished(incoming, outgoing, consent, { mergeWithLastSubmission: true })
  }
  // The redirect URI is known only after the server under test has its port.
  const clients = provider.Client as unknown as { find(id: string): Promise<unknown>; new (metadata: object): unknown }
  clients.find = async (id) =>
    id === clientId
      ? new clients({
          client_id: clientId,
          client_secret: clientSecret,
          redirect_uris: redirectUris(),
          token_endpoint_auth_method: 'client_secret_post',
        })
      : undefined

  return {
    issuer,
    setAccount(next: OidcAccount) {
      account = next
    },
    /** Replaces the ID tokens of the token endpoint, or not with null. */
    forgeIdTokens(next: typeof forge) {
      forge = next
    },
    /** Follows the redirects of a browser at the provider, until one leads elsewhere. Returns that address. */
    async authorize(start: string): Promise<string> {
      const cookies = new Map<string, string>()
      let url = start
      while (url.startsWith(issuer)) {
        const cookie = [...cookies].map(([name, value]) => `${name}=${value}`).join('; ')
        const answer = await request(url, { headers: { cookie } })
        const text = await answer.body.text()
        for (const line of [answer.headers['set-cookie'] ?? []].flat()) {
          const [pair = ''] = line.split(';')
          cookies.set(pair.slice(0, pair.indexOf('=')), pair.slice(pair.indexOf('=') + 1))
        }
        const { location } = answer.headers
        if (typeof location !== 'string') throw new Error(`the provider answered ${answer.statusCode}: ${text}`)
        url = new URL(location, issuer).href
      }
      return url
    },
    stop: () =>
      new Promise<void>((resolve) => {
        http.closeAllConnections()
        http.close(() => resolve())
      }),
  }
}
