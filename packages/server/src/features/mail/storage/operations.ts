// Operations on storage quotas: the check of mail before it is stored, and the list of stored bytes.
import type { QueryOf, ReplyOf } from '@callsign/contract/operation'
import type { listStorage } from '@callsign/contract/storage'
import type { Caller } from '../../../core/caller.ts'
import { invalid } from '../../../core/errors.ts'
import type { Emit } from '../../../core/event.ts'
import { readPage, toPage } from '../../../core/page.ts'
import type { Database, Sql, Tx } from '../../../core/sql.ts'
import { normalizeHandle } from '../../account/identities/model.ts'
import { effectiveQuota } from '../../account/organizations/model.ts'
import { addToCounts } from '../stored/mail-store.ts'
import { type Addition, type Level, levelAfter, StorageFull, type StorageOwner, type Subject, toStorageUse } from './model.ts'
import * as store from './store.ts'

export interface Storage {
  /** `GET /usage/storage`. */
  listStorage(caller: Caller, query: QueryOf<typeof listStorage>): Promise<ReplyOf<typeof listStorage>>
  /**
   * Checks additions in the transaction that makes them, before it counts them. Other additions to the same quotas wait until it ends, so
   * the quotas are exact. Throws `StorageFull` when one of them does not fit.
   */
  reserve(tx: Tx, additions: Addition[]): Promise<void>
  /** True if these bytes fit at this moment. Announces a quota that they do not fit into. With 0 bytes, a quota that is used up is full. */
  hasRoom(owners: StorageOwner[], bytes: number): Promise<boolean>
  /** Reserves and counts bytes that are not those of a message. Negative ones are released. */
  change(tx: Tx, owner: StorageOwner, bytes: number): Promise<void>
  /** Throws the error of a transaction again, after it has announced that mail was refused. */
  orAnnounce(error: unknown): Promise<never>
}

type Parts = { db: Database; emit: Emit; serverMax: number | null }

export function createStorage({ db, emit, serverMax }: Parts): Storage {
  const isLimited = (owner: StorageOwner): boolean => owner.hasQuota || serverMax !== null

  const subjectsOf = (owners: StorageOwner[]): store.Subjects => ({
    organizationIds: [...new Set(owners.map((owner) => owner.organizationId))],
    identityIds: [...new Set(owners.map((owner) => owner.identityId))],
    serverMax,
  })

  async function announce(tx: Tx, subject: Subject, level: Level, usedBytes: number): Promise<void> {
    if (level === subject.announced || !(await store.setAnnounced(tx, subject, level)) || level === 0) return
    const { kind, id, organization_id: organizationId, quota_bytes } = subject
    await emit(tx, [
      {
        type: level === 100 ? 'storage.full' : 'storage.nearly_full',
        organizationId,
        identityId: kind === 'identity' ? id : null,
        subjectId: id,
        data: { id, scope: kind, used_bytes: usedBytes, quota_bytes },
      },
    ])
  }

  const announceFull = async (subject: Subject): Promise<void> => {
    if (subject.announced < 100) await db.transact((tx) => announce(tx, subject, 100, subject.used_bytes))
  }

  const findSubjects = (sql: Sql, owners: StorageOwner[]) => store.findSubjects(sql, subjectsOf(owners))

  async function reserve(tx: Tx, additions: Addition[]): Promise<void> {
    const limited = additions.filter(({ owner, bytes }) => bytes > 0 && isLimited(owner))
    if (limited.length === 0) return
    const owners = limited.map(({ owner }) => owner)
    await store.lockSubjects(tx, subjectsOf(owners))
    // A statement of its own, so that it sees what was committed while the locks were waited for.
    for (const subject of await findSubjects(tx, owners)) {
      const bytes = limited.reduce((sum, one) => sum + (isOf(subject, one.owner) ? one.bytes : 0), 0)
      const usedBytes = subject.used_bytes + bytes
      if (usedBytes > subject.quota_bytes) throw new StorageFull(subject, bytes)
      await announce(tx, subject, levelAfter(subject, usedBytes), usedBytes)
    }
  }

  return {
    reserve,

    async change(tx, owner, bytes) {
      if (bytes === 0) return
      await reserve(tx, [{ owner, bytes }])
      const { organizationId, mailboxId } = owner
      await addToCounts(tx, [{ organizationId, mailboxId, delta: 0, bytes }])
    },

    async hasRoom(owners, bytes) {
      const limited = owners.filter(isLimited)
      if (limited.length === 0) return true
      const subjects = await findSubjects(db, limited)
      const full = subjects.filter((subject) => {
        const mailboxes = new Set(limited.flatMap((owner) => (isOf(subject, owner) ? owner.mailboxId : []))).size
        return subject.used_bytes + mailboxes * Math.max(bytes, 1) > subject.quota_bytes
      })
      for (const subject of full) await announceFull(subject)
      return full.length === 0
    },

    async orAnnounce(error) {
      if (error instanceof StorageFull) await announceFull(error.subject)
      throw error
    },

    async listStorage(caller, query) {
      if (query.by === 'organization' && query.agent_handle !== undefined)
        throw invalid('/by', 'by must be agent with agent_handle, or omitted')
      const page = readPage(query, 'identity')
      if (query.by !== 'agent' && query.agent_handle === undefined) {
        const row = await store.findOrganizationUse(db, caller.organizationId)
        const item = { ...row, agent_handle: null, quota_bytes: effectiveQuota(row.quota_bytes, serverMax) }
        return toPage([item], 1, () => '', toStorageUse)
      }
      const handle = query.agent_handle === undefined ? null : normalizeHandle(query.agent_handle)
      return toPage(await store.listAgentUse(db.reads, caller.organizationId, handle, page), page.limit, (row) => row.id, toStorageUse)
    },
  }
}

const isOf = (subject: Subject, owner: StorageOwner): boolean =>
  subject.id === (subject.kind === 'identity' ? owner.identityId : owner.organizationId)
