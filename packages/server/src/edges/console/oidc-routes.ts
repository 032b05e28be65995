// The routes of OpenID Connect. The browser keeps the values of its sign-in in a sealed cookie until it comes back.
import { nowMs } from '../../core/clock.ts'
import { ApiError } from '../../core/errors.ts'
import type { Log } from '../../core/log.ts'
import type { Sealing } from '../../core/replay.ts'
import type { SignIn } from '../../features/account/sign-in/operations.ts'
import type { OidcPending, OidcProvider } from '../../features/account/sign-in/provider.ts'
import { type Ask, type ConsoleRoute, fullPath, open, type Result } from './routes.ts'

type Parts = { provider: OidcProvider; signIn: SignIn; sealing: Sealing; publicUrl: () => string; log: Log }

/** The values of a sign-in, and the member that the browser was signed in as when it left. */
type Pending = OidcPending & { memberId: string | null }

const cookieName = 'callsign_oidc'
const callbackPath = 'sign-in/oidc/callback'
const sealScope = 'console oidc'

/** Lax, because the browser comes back from the provider's site. */
function cookieText(value: string, publicUrl: string): string {
  const secure = publicUrl.startsWith('https:') ? '; Secure' : ''
  return `${cookieName}=${value}; Path=${fullPath(callbackPath)}; HttpOnly; SameSite=Lax; Max-Age=${value === '' ? 0 : 600}${secure}`
}

/** Routes for the configured provider, or none. */
export function oidcRoutes({ provider, signIn, sealing, publicUrl, log }: Parts): ConsoleRoute[] {
  const back = (error: string): Result => ({ redirect: `/console/?sign_in_error=${error}` })

  /** The values of this browser's sign-in, or null without a cookie that this server sealed. */
  function readPending({ readCookie }: Ask): Pending | null {
    const sealed = readCookie(cookieName)
    if (sealed === null) return null
    try {
      const pending = JSON.parse(sealing.open(sealScope, sealed)) as Pending
      return pending.expiresMs > nowMs() ? pending : null
    } catch {
      return null
    }
  }

  async function finish(ask: Ask): Promise<Result> {
    const pending = readPending(ask)
    if (!pending) return back('oidc_failed')
    try {
      const from = { client: ask.client, previous: ask.session }
      const { cookie } = await signIn.byOidc(() => provider.finish(new URLSearchParams(ask.query), pending), from, pending.memberId)
      return { cookie, redirect: '/console/' }
    } catch (error) {
      if (error instanceof ApiError && error.code === 'rate_limited') return back('rate_limited')
      if (error instanceof ApiError && error.code === 'unauthorized') return back('oidc_not_a_member')
      log.warn({ err: error }, 'a sign-in with OpenID Connect failed')
      return back('oidc_failed')
    }
  }

  return [
    open('nothing', 'GET', 'sign-in/oidc', null, async ({ client, session }) => {
      await signIn.countStart(client)
      const { url, pending } = await provider.begin(`${publicUrl()}${fullPath(callbackPath)}`)
      // The session is read here, because its cookie is Strict: the browser does not send it when it comes back from the provider.
      const kept: Pending = { ...pending, memberId: session?.member?.id ?? null }
      const sealed = sealing.seal(sealScope, JSON.stringify(kept))
      return { redirect: url, headers: { 'set-cookie': cookieText(sealed, publicUrl()) } }
    }),
    open('nothing', 'GET', callbackPath, null, async (ask) => ({
      ...(await finish(ask)),
      headers: { 'set-cookie': cookieText('', publicUrl()) },
    })),
  ]
}
