// An app that is a web page: connects to the server of its address by OAuth with the official client, and shows the number of tools as its title.
import { auth, Client, type OAuthClientProvider, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'

type Browser = {
  location: { href: string; origin: string; pathname: string; search: string }
  sessionStorage: { getItem(name: string): string | null; setItem(name: string, value: string): void }
  document: { title: string }
}
const { location, sessionStorage, document } = globalThis as unknown as Browser

// biome-ignore lint/suspicious/noExplicitAny: values of the client have types of its own.
const read = (name: string): any => JSON.parse(sessionStorage.getItem(name) ?? 'null') ?? undefined
const write = (name: string) => (value: unknown) => sessionStorage.setItem(name, JSON.stringify(value))

const provider: OAuthClientProvider = {
  redirectUrl: `${location.origin}/callback`,
  clientMetadata: { client_name: 'Desk app', redirect_uris: [`${location.origin}/callback`], token_endpoint_auth_method: 'none' },
  state: () => 'state-of-the-page',
  clientInformation: () => read('client'),
  saveClientInformation: write('client'),
  tokens: () => read('tokens'),
  saveTokens: write('tokens'),
  redirectToAuthorization: (url) => {
    location.href = url.href
  },
  saveCodeVerifier: write('verifier'),
  codeVerifier: () => read('verifier'),
}

async function run(): Promise<void> {
  const given = new URLSearchParams(location.search)
  if (location.pathname !== '/callback') {
    write('server')(given.get('server'))
    await auth(provider, { serverUrl: read('server') })
    return
  }
  const serverUrl = new URL(read('server'))
  await auth(provider, { serverUrl, authorizationCode: given.get('code') as string, iss: given.get('iss') as string })
  const client = new Client({ name: 'page', version: '1' })
  await client.connect(new StreamableHTTPClientTransport(serverUrl, { authProvider: provider }))
  document.title = `${(await client.listTools()).tools.length} tools`
}

run().catch((error: unknown) => {
  document.title = `failed: ${error}`
})
