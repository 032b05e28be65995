// Operations on the members of an organization.
import { now } from '../../../core/clock.ts'
import { ApiError, invalid, notFound } from '../../../core/errors.ts'
import { newId } from '../../../core/ids.ts'
import { type Database, isUniqueViolation, type Sql, type Tx } from '../../../core/sql.ts'
import type { Keys } from '../keys/operations.ts'
import type { Actor } from '../organizations/model.ts'
import type { Accounts } from '../organizations/operations.ts'
import type { MemberRole } from '../roles/model.ts'
import { type MemberView, readEmail, toMember } from './model.ts'
import { checkNewPassword, hashPassword, isPassword } from './password.ts'
import * as store from './store.ts'

export interface Members {
  /** True when a member of any organization can sign in with a password, which takes an e-mail address. */
  hasPasswords(): Promise<boolean>
  list(organizationId: string): Promise<MemberView[]>
  /** Throws 404 for a member of another organization. */
  get(organizationId: string, id: string): Promise<MemberView>
  /** Adds a member, and runs `also` in the same transaction. 409 when another member of the organization has the address. */
  create<T>(by: Acting, member: NewMember, also: (tx: Tx, id: string) => Promise<T>): Promise<{ member: MemberView; result: T }>
  /** Changes a member. 409 for the last owner's role. */
  update(by: Acting, id: string, change: store.MemberChange): Promise<MemberView>
  /** Removes a member with sessions and passkeys. API keys that the member made go to another owner. 409 for the last owner. */
  remove(by: Acting, id: string): Promise<void>
  /** The members with this address, at most one per organization. The latest sign-in comes first. */
  listByEmail(email: string): Promise<store.Credentials[]>
  findCredentials(id: string): Promise<store.Credentials | null>
  /** True when the password is that of the account. Takes as long for an account that does not exist. */
  isPassword(account: store.Credentials | null, password: string): Promise<boolean>
  /** Sets a password and runs `also` in the same transaction. 400 for a weak one, and for a member without an e-mail address. */
  setPassword(by: Acting, id: string, password: string, also: (tx: Tx) => Promise<void>): Promise<void>
  /** Binds the provider's subject to a member at the first sign-in. False when another subject is bound, or the member is gone. */
  bindOidc(sql: Sql, id: string, subject: string): Promise<boolean>
  /** Records a sign-in in the caller's transaction. */
  recordSignIn(sql: Sql, id: string): Promise<void>
}

export type { Credentials } from './store.ts'

/** The owner or the member acting, with the organization. */
export type Acting = { organizationId: string; actor: Actor }

type NewMember = { email: string; name: string; role: MemberRole }

const lastOwner = (): ApiError => new ApiError('conflict', 'The last owner stays. Make another member an owner first.')
const isTaken = (error: unknown): boolean => isUniqueViolation(error, 'users_email_key')
const taken = (): ApiError => new ApiError('conflict', 'A member of this organization has this e-mail address already.')

export function createMembers(db: Database, accounts: Accounts, keys: Keys): Members {
  async function get(organizationId: string, id: string): Promise<MemberView> {
    const row = await store.findMember(db, organizationId, id)
    if (!row) throw notFound('member')
    return toMember(row)
  }

  const changing = <T>(work: (tx: Tx) => Promise<T>): Promise<T> =>
    db.transact(work).catch((error: unknown) => {
      throw isTaken(error) ? taken() : error
    })

  return {
    hasPasswords: () => store.hasPasswords(db),

    list: async (organizationId) => (await store.listMembers(db, organizationId)).map(toMember),

    get,

    async create({ organizationId, actor }, { email, name, role }, also) {
      const id = newId('user')
      const address = readEmail(email)
      const result = await changing(async (tx) => {
        await store.insertMember(tx, { id, organizationId, email: address, name, role, at: now() })
        await accounts.audit(tx, organizationId, actor, 'member.created', id, { role })
        return also(tx, id)
      })
      return { member: await get(organizationId, id), result }
    },

    async update({ organizationId, actor }, id, change) {
      const { email, ...rest } = change
      const read: store.MemberChange = { ...rest, ...(email === undefined ? {} : { email: readEmail(email) }) }
      await changing(async (tx) => {
        const owners = await store.lockOwners(tx, organizationId)
        const before = await store.findMember(tx, organizationId, id)
        if (!before) throw notFound('member')
        if (read.role && read.role !== 'owner' && owners.length === 1 && owners[0] === id) throw lastOwner()
        await store.updateMember(tx, organizationId, id, read)
        const changed = Object.keys(read).filter((name) => before[name as keyof typeof read] !== read[name as keyof typeof read])
        const role = read.role && read.role !== before.role ? { role: read.role, role_before: before.role } : {}
        await accounts.audit(tx, organizationId, actor, 'member.updated', id, { fields: changed, ...role })
      })
      return get(organizationId, id)
    },

    async remove({ organizationId, actor }, id) {
      await db.transact(async (tx) => {
        const owners = await store.lockOwners(tx, organizationId)
        if (!(await store.findMember(tx, organizationId, id))) throw notFound('member')
        const heir = owners.find((owner) => owner !== id)
        if (heir === undefined) throw lastOwner()
        await keys.moveKeys(tx, organizationId, id, heir)
        await store.deleteMember(tx, organizationId, id)
        await accounts.audit(tx, organizationId, actor, 'member.deleted', id)
      })
    },

    listByEmail: (email) => store.listByEmail(db, email.trim().toLowerCase()),

    findCredentials: (id) => store.findCredentials(db, id),

    isPassword: (account, password) => isPassword(password, account?.password_hash ?? null),

    async setPassword({ organizationId, actor }, id, password, also) {
      const { email } = await get(organizationId, id)
      if (!email) throw invalid('/email', 'You sign in with an e-mail address: enter one first.')
      checkNewPassword(password, email)
      const passwordHash = await hashPassword(password)
      await db.transact(async (tx) => {
        await store.setPasswordHash(tx, id, passwordHash)
        await also(tx)
        await accounts.audit(tx, organizationId, actor, 'member.password_set', id)
      })
    },

    bindOidc: store.bindOidc,

    recordSignIn: (sql, id) => store.touchSignIn(sql, id, now()),
  }
}
