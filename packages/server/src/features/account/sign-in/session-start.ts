// The steps that every way to sign in shares: count the attempt, record a failure, and start the session.
import type { BusinessEvents } from '../../../core/business-events.ts'
import { ApiError } from '../../../core/errors.ts'
import type { Database, Tx } from '../../../core/sql.ts'
import { byAddress, type Subject } from '../attempts/model.ts'
import { type Attempts, TooManyAttempts } from '../attempts/operations.ts'
import type { Links } from '../links/operations.ts'
import type { Members } from '../members/operations.ts'
import type { Accounts } from '../organizations/operations.ts'
import type { Client, Principal, SignInMethod } from '../sessions/model.ts'
import type { Sessions } from '../sessions/operations.ts'
import type { From, SignedIn } from './model.ts'

/** An account that a failed attempt was for. */
export type Account = { id: string; organization_id: string }

export interface SessionStart {
  /** Counts the attempt on its address and these subjects. Throws 429 when one is used up. */
  count(method: SignInMethod, client: Client, ...subjects: Subject[]): Promise<void>
  /** Records a failed attempt and throws 401. */
  refuse(method: SignInMethod, client: Client, message: string, tried?: Account[]): Promise<never>
  /** Starts a session inside a transaction that found the principal. Null from `find` is a failed attempt: 401 with `message`. */
  start(method: SignInMethod, from: From, find: (tx: Tx) => Promise<Principal | null>, message: string): Promise<SignedIn>
}

export type SessionStartParts = {
  db: Database
  accounts: Accounts
  members: Members
  sessions: Sessions
  links: Links
  attempts: Attempts
  businessEvents: BusinessEvents
}

export function createSessionStart({ db, accounts, members, sessions, links, attempts, businessEvents }: SessionStartParts): SessionStart {
  /**
   * Records an attempt at each organization that has the account, or at the server's first organization without one. With several, only the first
   * organization of the server learns the address, because anyone can add a member with a stranger's e-mail address.
   */
  async function record(
    method: SignInMethod,
    client: Client,
    action: 'session.failed' | 'session.throttled',
    tried: Account[],
  ): Promise<void> {
    businessEvents.signInTried({ method, outcome: action === 'session.failed' ? 'wrong' : 'throttled' })
    const first = tried.length === 1 ? null : await accounts.findInstallation()
    const isElsewhere = first !== null && tried.every(({ organization_id }) => organization_id !== first)
    const targets = isElsewhere ? [...tried, { id: first, organization_id: first }] : tried
    const actor = { type: 'anonymous' as const, requestId: client.requestId }
    for (const { id, organization_id } of targets) {
      const ip = tried.length > 1 && organization_id !== first ? null : client.address
      await accounts.audit(db, organization_id, actor, action, id, { method, ip })
    }
  }

  async function refuse(method: SignInMethod, client: Client, message: string, tried: Account[] = []): Promise<never> {
    await record(method, client, 'session.failed', tried)
    throw new ApiError('unauthorized', message)
  }

  return {
    async count(method, client, ...subjects) {
      await attempts.take(byAddress(client.address), ...subjects).catch(async (error: unknown) => {
        if (error instanceof TooManyAttempts && error.isFirst) await record(method, client, 'session.throttled', [])
        throw error
      })
    },

    refuse,

    async start(method, { client, previous }, find, message) {
      const cookie = await db.transact(async (tx) => {
        const principal = await find(tx)
        if (!principal) return null
        if (previous) await sessions.discard(tx, previous.id)
        if (principal.userId) {
          await members.recordSignIn(tx, principal.userId)
          // An unused link would let its maker sign in as the member later.
          await links.forget(tx, principal.userId)
        }
        return sessions.start(tx, principal, method, client)
      })
      if (cookie === null) return refuse(method, client, message)
      await attempts.giveBack(byAddress(client.address))
      businessEvents.signInTried({ method, outcome: 'ok' })
      const session = await sessions.find(cookie, client)
      return session ? { cookie, session } : refuse(method, client, message)
    },
  }
}
