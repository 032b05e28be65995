// The routes of sign-in and sessions.
import { strict } from '@callsign/contract/schema'
import Type from 'typebox'
import { csrfOf, type Session } from '../../features/account/sessions/model.ts'
import type { Sessions } from '../../features/account/sessions/operations.ts'
import type { From, SignedIn } from '../../features/account/sign-in/model.ts'
import type { SignIn } from '../../features/account/sign-in/operations.ts'
import { type Ask, type ConsoleRoute, open, type Result, signedIn } from './routes.ts'

/** The state of the console for a session, and the response that starts one. */
export type ConsoleState = {
  state(session: Session | null, cookie: string | null): Promise<object>
  answer(signedIn: SignedIn): Promise<Result>
}

type Parts = { sessions: Sessions; signIn: SignIn; state: ConsoleState }

const LinkBody = strict({ token: Type.String({ minLength: 1, maxLength: 200 }) })
const KeyBody = strict({ api_key: Type.String({ minLength: 1, maxLength: 200 }) })
const PasswordBody = strict({
  email: Type.String({ minLength: 1, maxLength: 254 }),
  password: Type.String({ minLength: 1, maxLength: 256 }),
})

const from = ({ client, session }: Ask): From => ({ client, previous: session })

/** Makes the state of the console, which is also the response of every sign-in. */
export function createState({ signIn, version }: { signIn: SignIn; version: string }): ConsoleState {
  const describe = (session: Session, cookie: string) => ({
    id: session.id,
    csrf: csrfOf(cookie),
    expires_at: session.expiresAt.toISOString(),
    member: session.member,
    agent: session.agentHandle === null ? null : { handle: session.agentHandle },
    role: session.role,
  })

  async function state(session: Session | null, cookie: string | null) {
    return {
      signed_in: session !== null,
      ...(await signIn.describe()),
      version,
      session: session && describe(session, cookie as string),
    }
  }

  return {
    state,
    answer: async ({ cookie, session }: SignedIn): Promise<Result> => ({ cookie, body: await state(session, cookie) }),
  }
}

export function sessionRoutes({ sessions, signIn, state: { state, answer } }: Parts): ConsoleRoute[] {
  return [
    open('nothing', 'GET', 'state', null, async ({ session, cookie }) => ({ body: await state(session, cookie) })),
    open('origin', 'POST', 'sign-in/link/describe', LinkBody, async (ask) => ({
      body: await signIn.describeLink(ask.body.token, ask.client),
    })),
    open('origin', 'POST', 'sign-in/link', LinkBody, async (ask) => answer(await signIn.byLink(ask.body.token, from(ask)))),
    open('origin', 'POST', 'sign-in/key', KeyBody, async (ask) => answer(await signIn.byKey(ask.body.api_key, from(ask)))),
    open('origin', 'POST', 'sign-in/password', PasswordBody, async (ask) =>
      answer(await signIn.byPassword(ask.body.email, ask.body.password, from(ask))),
    ),
    signedIn('session', 'POST', 'token', null, async ({ session }) => ({ body: await sessions.issueToken(session) })),
    signedIn('session', 'POST', 'sign-out', null, async ({ session, client }) => {
      await sessions.end(session, session.id, client.requestId)
      return { cookie: null }
    }),
    signedIn('session', 'GET', 'sessions', null, async ({ session }) => ({ body: { sessions: await sessions.list(session) } })),
    signedIn('session', 'DELETE', 'sessions/{id}', null, async ({ session, params, client }) => {
      await sessions.end(session, params.id as string, client.requestId)
      return params.id === session.id ? { cookie: null } : {}
    }),
    signedIn('session', 'DELETE', 'sessions', null, async ({ session, client }) => {
      await sessions.endAll(session, client.requestId)
      return { cookie: null }
    }),
  ]
}
