// Operations on one-time links, which sign one member in to the console once.
import { inMs, now } from '../../../core/clock.ts'
import { ApiError, notFound } from '../../../core/errors.ts'
import type { Database, Sql } from '../../../core/sql.ts'
import type { Actor } from '../organizations/model.ts'
import type { Accounts } from '../organizations/operations.ts'
import { hashToken, newToken } from '../sessions/model.ts'
import * as store from './store.ts'

export interface Links {
  /** Makes a link in the caller's transaction and returns its token. Earlier links of the user stop working. */
  create(sql: Sql, link: NewLink): Promise<string>
  /** Makes a link for an owner of the organization, from the host. Null without such an organization. */
  createForOwner(organizationId: string): Promise<string | null>
  /** Makes a link for a member. Throws 404 when the organization has no such member, and 409 for one that signs in by itself. */
  createForMember(link: NewLink): Promise<string>
  /** The organization and the member that a link signs in, without using it up. Null when it is unknown, expired or used. */
  describe(token: string): Promise<store.LinkTarget | null>
  /** Deletes the links of a member that has signed in or set a way to sign in, in the caller's transaction. */
  forget(sql: Sql, userId: string): Promise<void>
  /** Uses up a link in the caller's transaction. Null when it is unknown, expired or used. */
  take(sql: Sql, token: string): Promise<{ organizationId: string; userId: string } | null>
  /** Deletes expired links. */
  sweep(): Promise<void>
}

export type NewLink = { organizationId: string; userId: string; actor: Actor; lifetimeMs: number }

const hasOwnSignIn =
  'This member has a password, a passkey or a sign-in at your provider. A link would let you sign in as this member. Remove the member and invite again.'

/** Links printed on the server's terminal. */
export const hostLinkMs = 15 * 60_000

/** The address of a link. The token stands in the fragment, which browsers neither send nor log. */
export const linkUrl = (publicUrl: string, token: string): string => `${publicUrl}/console/#link=${token}`

export function createLinks(db: Database, accounts: Accounts): Links {
  const links: Links = {
    async create(sql, { organizationId, userId, actor, lifetimeMs }) {
      const token = newToken()
      await store.deleteLinks(sql, userId)
      const tokenHash = hashToken(token) as Buffer
      await store.insertLink(sql, { tokenHash, organizationId, userId, at: now(), expiresAt: inMs(lifetimeMs) })
      await accounts.audit(sql, organizationId, actor, 'console_link.created', userId)
      return token
    },

    async createForOwner(organizationId) {
      const owner = await accounts.findOwner(organizationId)
      if (!owner) return null
      const link: NewLink = { organizationId, userId: owner.userId, actor: { type: 'host' }, lifetimeMs: hostLinkMs }
      return db.transact((tx) => links.create(tx, link))
    },

    createForMember: (link) =>
      db.transact(async (tx) => {
        const member = await store.lockWaysToSignIn(tx, link.organizationId, link.userId)
        if (!member) throw notFound('member')
        if (member.has_own) throw new ApiError('conflict', hasOwnSignIn)
        return links.create(tx, link)
      }),

    async describe(token) {
      const hash = hashToken(token)
      return hash && store.findLink(db, hash)
    },

    forget: store.deleteLinks,

    async take(sql, token) {
      const hash = hashToken(token)
      return hash && store.takeLink(sql, hash)
    },

    sweep: () => store.sweepLinks(db),
  }
  return links
}
