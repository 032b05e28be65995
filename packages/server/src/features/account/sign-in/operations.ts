// Operations that sign a browser in to the console with a link, a key or a password, and that set passwords.
import { nowMs } from '../../../core/clock.ts'
import { ApiError } from '../../../core/errors.ts'
import { byAccount, byAddress, byMember, byPair, byStart } from '../attempts/model.ts'
import type { Keys } from '../keys/operations.ts'
import type { Links } from '../links/operations.ts'
import type { Credentials, Members } from '../members/operations.ts'
import type { Passkeys } from '../passkeys/operations.ts'
import type { Client, Session } from '../sessions/model.ts'
import { actorOfSession } from '../sessions/operations.ts'
import type { From, SignedIn } from './model.ts'
import type { OidcPerson } from './provider.ts'
import { createSessionStart, type SessionStartParts } from './session-start.ts'

export interface SignIn {
  /** The ways to sign in. `setup_needed` is true until a member has one that lasts. */
  describe(): Promise<SignInState>
  /** The organization and the member of a one-time link, to be shown before it signs in. 401 when it is unknown, expired or used. */
  describeLink(token: string, client: Client): Promise<LinkDescription>
  /** Signs in with a one-time link. 401 when it is unknown, expired or used. */
  byLink(token: string, from: From): Promise<SignedIn>
  /** Signs in with an API key. An agent key sees its own mailbox only. */
  byKey(apiKey: string, from: From): Promise<SignedIn>
  /** Signs in with e-mail address and password, to the organization used last where it fits several. The 401 does not say whether the account exists. */
  byPassword(email: string, password: string, from: From): Promise<SignedIn>
  /** The options of a sign-in with a passkey. Counts one attempt of the address. */
  passkeyOptions(client: Client): Promise<object>
  /** Counts a sign-in that starts at another site. */
  countStart(client: Client): Promise<void>
  /**
   * Signs in the member with the verified address of the person that `identify` finds at the provider. `memberId` is the member that the browser
   * was signed in as when it left for the provider.
   */
  byOidc(identify: () => Promise<OidcPerson>, from: From, memberId: string | null): Promise<SignedIn>
  /** Signs in with the response of a passkey. */
  byPasskey(response: object, from: From): Promise<SignedIn>
  /** Sets the password of the session's member, and ends the member's other sessions. */
  setPassword(session: Session, client: Client, password: string, current: string | undefined): Promise<void>
}

export type SignInState = { setup_needed: boolean; sign_in: { password: boolean; passkey: boolean; oidc: { name: string } | null } }

/** `member` is the name of the member, else the address. Null for an owner without either. */
export type LinkDescription = { organization_name: string; member: string | null }

export type SignInParts = SessionStartParts & { keys: Keys; passkeys: Passkeys; oidcName: string | null }

const wrongLink = 'This link is unknown, expired or used. Run `callsignd console-link` on the server for another, or ask an owner.'
const wrongKey = 'This API key is unknown, revoked or expired.'
const notMember = 'No member of this server has this verified e-mail address. Ask an owner for an invitation.'
const wrongPasskey = 'This passkey is not known here, or its answer was not valid. Try again, or sign in another way.'
const wrongPassword = 'The e-mail address or the password is wrong.'

const currentMessage = 'current_password is wrong or missing. A session that a one-time link started needs none for 15 minutes.'
/** Names the field, so that a form shows the error there under its own label. */
const wrongCurrent = () => new ApiError('forbidden', currentMessage, { details: [{ path: '/current_password', message: currentMessage }] })

/** A session that a link started may replace a forgotten password for this long. */
const linkSetsPasswordMs = 15 * 60_000

export function createSignIn(parts: SignInParts): SignIn {
  const { keys, members, sessions, links, attempts, passkeys, oidcName } = parts
  const sessionStart = createSessionStart(parts)

  /** True when the session may set a password without the current one. */
  const isFreshLink = ({ method, createdAt }: Session): boolean => method === 'link' && nowMs() - createdAt.getTime() < linkSetsPasswordMs

  return {
    async describe() {
      const [password, passkey] = await Promise.all([members.hasPasswords(), passkeys.hasAny()])
      return {
        setup_needed: !password && !passkey && oidcName === null,
        sign_in: { password, passkey: passkey && passkeys.isPossible(), oidc: oidcName === null ? null : { name: oidcName } },
      }
    },

    async describeLink(token, client) {
      await sessionStart.count('link', client)
      const target = await links.describe(token)
      if (!target) return sessionStart.refuse('link', client, wrongLink)
      await attempts.giveBack(byAddress(client.address))
      return { organization_name: target.organization_name, member: target.name || target.email }
    },

    async byLink(token, from) {
      await sessionStart.count('link', from.client)
      const find = async (tx: Parameters<Links['take']>[0]) => {
        const user = await links.take(tx, token)
        return user && { ...user, keyId: null }
      }
      return sessionStart.start('link', from, find, wrongLink)
    },

    async byKey(apiKey, from) {
      await sessionStart.count('key', from.client)
      const caller = await keys.authenticate(apiKey, { address: from.client.exactAddress, userAgent: from.client.userAgent })
      const principal = caller && { organizationId: caller.organizationId, userId: null, keyId: caller.keyId }
      return sessionStart.start('key', from, async () => principal, wrongKey)
    },

    async byPassword(email, password, from) {
      const { address } = from.client
      const name = email.trim().toLowerCase()
      const pair = byPair(name, address)
      await sessionStart.count('password', from.client, pair)
      const found = await members.listByEmail(name)
      // Strangers at other addresses can use up the account's attempts. They do not keep out a member at an address that is in use.
      const isKnown = (await Promise.all(found.map(({ id }) => sessions.isKnownAddress(id, address)))).includes(true)
      const subjects = isKnown ? [] : [byAccount(name)]
      if (subjects.length > 0) await attempts.take(...subjects)
      // All at once, so that the time says little about the number of organizations with this address.
      const tried: (Credentials | null)[] = found.length > 0 ? found : [null]
      const fits = await Promise.all(tried.map((one) => members.isPassword(one, password)))
      const account = found.find((_, index) => fits[index])
      if (!account) return sessionStart.refuse('password', from.client, wrongPassword, found)
      await attempts.giveBack(...subjects)
      await attempts.forget(pair)
      const principal = { organizationId: account.organization_id, userId: account.id, keyId: null }
      return sessionStart.start('password', from, async () => principal, wrongPassword)
    },

    countStart: (client) => attempts.take(byStart(client.address)),

    async byOidc(identify, from, memberId) {
      await sessionStart.count('oidc', from.client)
      const { subject, email, isEmailVerified } = await identify()
      if (email === null || !isEmailVerified) return sessionStart.refuse('oidc', from.client, notMember)
      const account = chooseAccount(await members.listByEmail(email), subject, memberId)
      const find = async (tx: Parameters<Members['bindOidc']>[0]) => {
        const isBound = account !== null && (await members.bindOidc(tx, account.id, subject))
        return isBound ? { organizationId: account.organization_id, userId: account.id, keyId: null } : null
      }
      return sessionStart.start('oidc', from, find, notMember)
    },

    async passkeyOptions(client) {
      await attempts.take(byStart(client.address))
      return passkeys.signInOptions()
    },

    async byPasskey(response, from) {
      await sessionStart.count('passkey', from.client)
      const user = await passkeys.verify(response)
      return sessionStart.start('passkey', from, async () => user && { ...user, keyId: null }, wrongPasskey)
    },

    async setPassword(session, client, password, current) {
      const id = session.member?.id as string
      const account = await members.findCredentials(id)
      if (account?.password_hash && !isFreshLink(session)) {
        await attempts.take(byMember(id))
        if (current === undefined || !(await members.isPassword(account, current))) throw wrongCurrent()
        await attempts.forget(byMember(id))
      }
      const { organizationId } = session
      const acting = { organizationId, actor: actorOfSession(session, client.requestId) }
      await members.setPassword(acting, id, password, async (tx) => {
        await sessions.endOf(tx, organizationId, id, session.id)
        // An unused link would let its maker sign in as the member later.
        await links.forget(tx, id)
      })
    },
  }
}

/**
 * The member of a verified address: the one that the person was signed in as, else the one with this subject that signed in last, else the only
 * one. Null where several organizations have members with this address, because any of them could have claimed it.
 */
function chooseAccount(found: Credentials[], subject: string, memberId: string | null): Credentials | null {
  const only = found.length === 1 ? found[0] : undefined
  return found.find(({ id }) => id === memberId) ?? found.find((one) => one.oidc_subject === subject) ?? only ?? null
}
