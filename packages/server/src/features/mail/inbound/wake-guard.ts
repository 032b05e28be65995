// The wake guard: limits the events about received mail per sender, so that a flood does not wake an agent for every message.
import { addressKey, untaggedKey } from '@callsign/mail/mail-address'
import type { Emit, NewEvent } from '../../../core/event.ts'
import { newId } from '../../../core/ids.ts'
import type { Enqueue, Finish, Job, JobHandler } from '../../../core/job.ts'
import type { Database, Tx } from '../../../core/sql.ts'
import type { MailboxOwner } from '../../account/identities/model.ts'
import * as wakeStore from './wake-store.ts'

/** The kind of the job that announces the held messages of a window. */
const announceJob = 'announce-held-mail'
const leaseMs = 30_000
const concurrency = 8

/** A filed message and its event. */
export type Announcement = { owner: MailboxOwner; sender: string; event: NewEvent }

export interface WakeGuard {
  /** Emits the events of messages, but those above the limit of their mailbox, which one event announces at the end of the window. */
  announce(tx: Tx, announcements: Announcement[]): Promise<void>
  handler: JobHandler
  /** Deletes ended windows. */
  sweep(): Promise<void>
}

export function createWakeGuard({ db, emit, enqueue }: { db: Database; emit: Emit; enqueue: Enqueue }): WakeGuard {
  /** True when the message waits for the event at the end of the window. */
  async function hold(tx: Tx, { owner, sender, event }: Announcement): Promise<boolean> {
    if (owner.wakeLimit === null || event.type !== 'email.received') return false
    const counted = await wakeStore.countMessage(
      tx,
      {
        windowId: newId('wakeWindow'),
        organizationId: owner.organizationId,
        identityId: owner.identityId,
        sender: senderOf(sender),
        messageId: event.subjectId,
      },
      owner.wakeLimit,
    )
    if (counted.held === 1)
      await enqueue(tx, [{ kind: announceJob, organizationId: owner.organizationId, subject: counted.id, delayMs: counted.waitMs }])
    return counted.held > 0
  }

  async function run(job: Job, finish: Finish): Promise<void> {
    await db.transact(async (tx) => {
      const window = await wakeStore.takeWindow(tx, job.subject)
      const last = window?.held_ids.at(-1)
      if (window && last !== undefined) {
        const coalesced = {
          count: window.held,
          message_ids: window.held_ids,
          sender: window.sender,
          since: window.started_at.toISOString(),
        }
        const { organization_id: organizationId, identity_id: identityId } = window
        await emit(tx, [{ type: 'email.received', organizationId, identityId, subjectId: last, data: { coalesced } }])
      }
      await finish(tx, { done: true })
    })
  }

  return {
    async announce(tx, announcements) {
      const limited = announcements
        .filter(({ owner }) => owner.wakeLimit !== null)
        // Sorted, so that concurrent transactions lock common windows in the same order.
        .toSorted((a, b) => (keyOf(a) < keyOf(b) ? -1 : 1))
      const held = new Set<NewEvent>()
      for (const one of limited) if (await hold(tx, one)) held.add(one.event)
      await emit(
        tx,
        announcements.flatMap(({ event }) => (held.has(event) ? [] : [event])),
      )
    },

    handler: { kind: announceJob, leaseMs, concurrency, run },

    sweep: () => wakeStore.sweepWindows(db),
  }
}

const keyOf = ({ owner, sender, event }: Announcement): string => `${owner.identityId} ${senderOf(sender)} ${event.subjectId}`

/** The sender that windows count for. A new tag for each message does not make new senders. */
function senderOf(address: string): string {
  const key = addressKey(address)
  return untaggedKey(key) ?? key
}
