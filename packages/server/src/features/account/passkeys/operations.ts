// Operations on passkeys (WebAuthn Level 3). A passkey signs in alone, so the authenticator has to verify the person.
import type { AuthenticationResponseJSON, RegistrationResponseJSON } from '@simplewebauthn/server'
import ipaddr from 'ipaddr.js'
import { inMs, now } from '../../../core/clock.ts'
import { ApiError, invalid, notFound } from '../../../core/errors.ts'
import { newId } from '../../../core/ids.ts'
import { type Database, isUniqueViolation, type Sql } from '../../../core/sql.ts'
import type { Actor } from '../organizations/model.ts'
import type { Accounts } from '../organizations/operations.ts'
import { hashToken, newToken } from '../sessions/model.ts'
import * as store from './store.ts'

export interface Passkeys {
  /** False at an address that is an IP address, where browsers do not offer passkeys. */
  isPossible(): boolean
  /** True when a member of any organization has a passkey. */
  hasAny(): Promise<boolean>
  /** The options of a sign-in, for `navigator.credentials.get`. */
  signInOptions(): Promise<object>
  /** The member that a response signs in, or null when it is not valid. */
  verify(response: object): Promise<{ organizationId: string; userId: string } | null>
  /** The options for adding a passkey, for `navigator.credentials.create`. */
  addOptions(member: Holder): Promise<object>
  /** Adds the passkey of a response. 400 when it is not valid, 409 when the passkey is known. */
  add(member: Holder, actor: Actor, name: string, response: object): Promise<PasskeyView>
  list(userId: string): Promise<PasskeyView[]>
  /** Throws 404 for a passkey of another member. */
  remove(member: Holder, actor: Actor, id: string): Promise<void>
  /** Deletes expired challenges. */
  sweep(): Promise<void>
}

export type Holder = { organizationId: string; userId: string; email: string | null; name: string }

export type PasskeyView = { id: string; name: string; created_at: string; last_used_at: string | null }

/** The time to answer a challenge. */
const challengeMs = 5 * 60_000

/** Loaded on first use, because the library takes longer to load than the rest of the server. */
const webauthn = () => import('@simplewebauthn/server')

export function createPasskeys(
  db: Database,
  accounts: Accounts,
  forgetLinks: (sql: Sql, userId: string) => Promise<void>,
  publicUrl: () => string,
): Passkeys {
  const site = () => {
    const { hostname, origin } = new URL(publicUrl())
    return { id: hostname, origin }
  }

  async function newChallenge(userId: string | null): Promise<Uint8Array<ArrayBuffer>> {
    const challenge = newToken()
    await store.insertChallenge(db, hashToken(challenge) as Buffer, userId, inMs(challengeMs))
    return new Uint8Array(Buffer.from(challenge, 'base64url'))
  }

  /** Uses up the challenge that a response answers. */
  const takes = (userId: string | null) => async (challenge: string) => {
    const hash = hashToken(challenge)
    return hash !== null && store.takeChallenge(db, hash, userId)
  }

  return {
    isPossible: () => !ipaddr.isValid(site().id.replace(/^\[|\]$/g, '')),

    hasAny: () => store.hasPasskeys(db),

    async signInOptions() {
      const { generateAuthenticationOptions } = await webauthn()
      return generateAuthenticationOptions({
        rpID: site().id,
        challenge: await newChallenge(null),
        userVerification: 'required',
        allowCredentials: [],
      })
    },

    async verify(response) {
      const answer = response as AuthenticationResponseJSON
      const passkey = typeof answer.id === 'string' ? await store.findPasskey(db, answer.id) : null
      if (!passkey) return null
      const { verifyAuthenticationResponse } = await webauthn()
      const { id, origin } = site()
      try {
        const { verified, authenticationInfo } = await verifyAuthenticationResponse({
          response: answer,
          expectedChallenge: takes(null),
          expectedOrigin: origin,
          expectedRPID: id,
          requireUserVerification: true,
          credential: {
            id: passkey.credential_id,
            publicKey: new Uint8Array(passkey.public_key),
            counter: Number(passkey.counter),
          },
        })
        if (!verified || !(await store.recordUse(db, passkey.id, authenticationInfo.newCounter, now()))) return null
      } catch {
        // The library throws for every response that is malformed or does not match.
        return null
      }
      return { organizationId: passkey.organization_id, userId: passkey.user_id }
    },

    async addOptions({ userId, email, name }) {
      const { generateRegistrationOptions } = await webauthn()
      const known = await store.listPasskeys(db, userId)
      return generateRegistrationOptions({
        rpName: 'Callsign',
        rpID: site().id,
        userID: new Uint8Array(Buffer.from(userId)),
        userName: email ?? 'owner',
        userDisplayName: name,
        challenge: await newChallenge(userId),
        attestationType: 'none',
        excludeCredentials: known.map((one) => ({ id: one.credential_id })),
        authenticatorSelection: { residentKey: 'required', userVerification: 'required' },
      })
    },

    async add({ organizationId, userId }, actor, name, response) {
      const { verifyRegistrationResponse } = await webauthn()
      const { id, origin } = site()
      const found = await verifyRegistrationResponse({
        response: response as RegistrationResponseJSON,
        expectedChallenge: takes(userId),
        expectedOrigin: origin,
        expectedRPID: id,
        requireUserVerification: true,
      }).catch(() => null)
      if (!found?.verified) throw invalid('/credential', 'credential is not a valid answer to the last options. Try again.')
      const { credential } = found.registrationInfo
      const row = {
        id: newId('passkey'),
        organization_id: organizationId,
        user_id: userId,
        credential_id: credential.id,
        public_key: Buffer.from(credential.publicKey),
        counter: credential.counter,
        transports: credential.transports ?? [],
        name,
        created_at: now(),
      }
      await db
        .transact(async (tx) => {
          await store.insertPasskey(tx, row)
          // An unused link would let its maker sign in as the member later.
          await forgetLinks(tx, userId)
          await accounts.audit(tx, organizationId, actor, 'passkey.added', row.id, { name })
        })
        .catch((error: unknown) => {
          throw isUniqueViolation(error, 'console_passkeys_credential_id_key')
            ? new ApiError('conflict', 'This passkey is known already.')
            : error
        })
      return toView({ ...row, counter: String(row.counter), last_used_at: null })
    },

    list: async (userId) => (await store.listPasskeys(db, userId)).map(toView),

    async remove({ organizationId, userId }, actor, id) {
      await db.transact(async (tx) => {
        if (!(await store.deletePasskey(tx, userId, id))) throw notFound('passkey')
        await accounts.audit(tx, organizationId, actor, 'passkey.deleted', id)
      })
    },

    sweep: () => store.sweepChallenges(db),
  }
}

const toView = ({ id, name, created_at, last_used_at }: store.PasskeyRow): PasskeyView => ({
  id,
  name,
  created_at: created_at.toISOString(),
  last_used_at: last_used_at?.toISOString() ?? null,
})
