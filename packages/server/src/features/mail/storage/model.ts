// Storage quotas: the subjects that have one, the levels that are announced, and the error of mail that does not fit.
import type { StorageUse } from '@callsign/contract/storage'
import { ApiError } from '../../../core/errors.ts'
import type { MailboxOwner } from '../../account/identities/model.ts'

/** The owner of a mailbox, as far as its storage is concerned. */
export type StorageOwner = Pick<MailboxOwner, 'organizationId' | 'identityId' | 'mailboxId' | 'hasQuota'>

/** Bytes to add to a mailbox. */
export type Addition = { owner: StorageOwner; bytes: number }

/** The shares of a quota, in percent, that have an event. */
export type Level = 0 | 80 | 100

/** An identity or organization with its quota in force and its stored bytes. */
export type Subject = {
  kind: 'identity' | 'organization'
  id: string
  organization_id: string
  /** Null for an organization. */
  agent_handle: string | null
  quota_bytes: number
  announced: Level
  used_bytes: number
}

/** Mail that does not fit. SMTP answers it with 452. */
export class StorageFull extends ApiError {
  readonly subject: Subject
  constructor(subject: Subject, bytes: number) {
    const whose = subject.kind === 'identity' ? `of ${subject.agent_handle}` : 'of the organization'
    super(
      'storage_quota_exceeded',
      `The mail needs ${bytes} bytes, and the storage quota ${whose} has ${Math.max(0, subject.quota_bytes - subject.used_bytes)} of ${subject.quota_bytes} left. Delete mail, or raise storage_quota_bytes.`,
    )
    this.subject = subject
  }
}

/**
 * The level that is announced next. After an event it is not repeated until usage has been below 80 %, so that mail at the edge of a quota
 * does not make an event each.
 */
export function levelAfter({ quota_bytes, announced }: Subject, usedBytes: number): Level {
  const reached = usedBytes >= quota_bytes ? 100 : usedBytes >= 0.8 * quota_bytes ? 80 : 0
  return reached === 0 || reached > announced ? reached : announced
}

/** An item of the list. */
export const toStorageUse = (row: { agent_handle: string | null; used_bytes: number; quota_bytes: number | null }): StorageUse => ({
  agent_handle: row.agent_handle,
  used_bytes: row.used_bytes,
  quota_bytes: row.quota_bytes,
})
