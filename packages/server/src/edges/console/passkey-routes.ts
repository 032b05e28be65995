// The routes of passkeys.
import { strict } from '@callsign/contract/schema'
import Type from 'typebox'
import type { Holder, Passkeys } from '../../features/account/passkeys/operations.ts'
import type { Session, SessionMember } from '../../features/account/sessions/model.ts'
import { actorOfSession } from '../../features/account/sessions/operations.ts'
import type { SignedIn } from '../../features/account/sign-in/model.ts'
import type { SignIn } from '../../features/account/sign-in/operations.ts'
import { type ConsoleRoute, open, type Result, signedIn } from './routes.ts'

type Parts = { passkeys: Passkeys; signIn: SignIn; answer: (signedIn: SignedIn) => Promise<Result> }

/** The JSON form of a PublicKeyCredential (WebAuthn Level 3, section 5.1). The library checks its fields. */
const Credential = Type.Object({ id: Type.String({ maxLength: 1400 }), response: Type.Object({}) })
const NewPasskeyBody = strict({ name: Type.String({ minLength: 1, maxLength: 100 }), credential: Credential })

const holderOf = (session: Session): Holder => {
  const { id, email, name } = session.member as SessionMember
  return { organizationId: session.organizationId, userId: id, email, name }
}

/** The routes of passkeys. `answer` is the response of every sign-in. */
export function passkeyRoutes({ passkeys, signIn, answer }: Parts): ConsoleRoute[] {
  return [
    open('origin', 'POST', 'sign-in/passkey/options', null, async ({ client }) => ({ body: await signIn.passkeyOptions(client) })),
    open('origin', 'POST', 'sign-in/passkey', Credential, async ({ body, client, session }) =>
      answer(await signIn.byPasskey(body, { client, previous: session })),
    ),
    signedIn('member', 'GET', 'me/passkeys', null, async ({ session }) => ({
      body: { passkeys: await passkeys.list(holderOf(session).userId) },
    })),
    signedIn('member', 'POST', 'me/passkeys/options', null, async ({ session }) => ({
      body: await passkeys.addOptions(holderOf(session)),
    })),
    signedIn('member', 'POST', 'me/passkeys', NewPasskeyBody, async ({ session, client, body }) => ({
      status: 201,
      body: await passkeys.add(holderOf(session), actorOfSession(session, client.requestId), body.name, body.credential),
    })),
    signedIn('member', 'DELETE', 'me/passkeys/{id}', null, async ({ session, client, params }) => {
      await passkeys.remove(holderOf(session), actorOfSession(session, client.requestId), params.id as string)
      return {}
    }),
  ]
}
