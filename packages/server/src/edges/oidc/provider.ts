// OpenID Connect: discovery, authorization code flow with PKCE, and the checks of the ID token, by openid-client.
import type { Configuration } from 'openid-client'
import { nowMs } from '../../core/clock.ts'
import type { OidcProvider } from '../../features/account/sign-in/provider.ts'

export type OidcOptions = { issuer: string; clientId: string; clientSecret: string | null; name: string }

/** The provider's metadata and keys are read again after this time. */
const metadataMs = 3_600_000
/** The time that a person has at the provider. */
const pendingMs = 10 * 60_000

/** Loaded at the first sign-in, because few servers have a provider. */
const load = () => import('openid-client')

export function createOidcProvider({ issuer, clientId, clientSecret, name }: OidcOptions): OidcProvider {
  let known: { configuration: Promise<Configuration>; untilMs: number } | null = null

  const readMetadata = async (): Promise<Configuration> => {
    const { allowInsecureRequests, ClientSecretPost, discovery, enableNonRepudiationChecks, None } = await load()
    // The setting allows http for this machine alone.
    const insecure = issuer.startsWith('http:') ? [allowInsecureRequests] : []
    // The library leaves the signature of the ID token to TLS otherwise.
    const execute = [...insecure, enableNonRepudiationChecks]
    const authentication = clientSecret === null ? None() : ClientSecretPost(clientSecret)
    return discovery(new URL(issuer), clientId, undefined, authentication, { execute, timeout: 10 })
  }

  const discover = (): Promise<Configuration> => {
    if (known === null || nowMs() > known.untilMs) {
      const configuration = readMetadata()
      known = { configuration, untilMs: nowMs() + metadataMs }
      configuration.catch(() => {
        known = null
      })
    }
    return known.configuration
  }

  return {
    name,

    async begin(redirectUri) {
      const client = await load()
      const configuration = await discover()
      const verifier = client.randomPKCECodeVerifier()
      const state = client.randomState()
      const nonce = client.randomNonce()
      const url = client.buildAuthorizationUrl(configuration, {
        redirect_uri: redirectUri,
        scope: 'openid email profile',
        code_challenge: await client.calculatePKCECodeChallenge(verifier),
        code_challenge_method: 'S256',
        state,
        nonce,
      })
      return { url: url.href, pending: { state, nonce, verifier, redirectUri, expiresMs: nowMs() + pendingMs } }
    },

    async finish(query, { state, nonce, verifier, redirectUri }) {
      const client = await load()
      const configuration = await discover()
      const checks = { pkceCodeVerifier: verifier, expectedState: state, expectedNonce: nonce, idTokenExpected: true }
      const tokens = await client.authorizationCodeGrant(configuration, new URL(`${redirectUri}?${query}`), checks)
      const claims = tokens.claims()
      if (!claims) throw new Error('the provider sent no ID token')
      // Providers may leave the address out of the ID token (OpenID Connect Core, section 5.4).
      const person = claims.email === undefined ? await client.fetchUserInfo(configuration, tokens.access_token, claims.sub) : claims
      return {
        subject: `${claims.iss} ${claims.sub}`,
        email: typeof person.email === 'string' ? person.email : null,
        isEmailVerified: person.email_verified === true,
      }
    },
  }
}
