// Answers, counted by identity and correspondent on all threads, because a remote program may start a thread with each message.
import { addressKey, untaggedKey } from '@callsign/mail/mail-address'
import type { LoopRule } from './agent-loop.ts'
import type { Addressed } from './filing.ts'
import { toRecipientRows } from './model.ts'
import type { Addition } from './sending-limits.ts'

/** The counter of the answers of an identity. Its names are correspondents. */
export const answerSubject = (identityId: string): string => `answers ${identityId}`

/** A correspondent, the same with any `+tag`. */
export function correspondentOf(address: string): string {
  const key = addressKey(address)
  return untaggedKey(key) ?? key
}

export const correspondentsOf = (addresses: string[]): string[] => [...new Set(addresses.map(correspondentOf))]

/** An addition for each correspondent of an identity. Answers that a person writes or approves do not count. */
export function answersIn(messages: Addressed[], { windowMs }: LoopRule): Addition[] {
  const additions = new Map<string, Addition>()
  if (windowMs === 0) return []
  for (const { owner, outgoing } of messages) {
    if (outgoing.parent === null || outgoing.keyId === null || outgoing.isApproved) continue
    for (const name of correspondentsOf(toRecipientRows(outgoing.recipients).map(({ address }) => address))) {
      const subject = answerSubject(owner.identityId)
      const addition = additions.get(`${subject} ${name}`) ?? {
        organizationId: owner.organizationId,
        subject,
        name,
        seconds: windowMs / 1000,
        amount: 0,
      }
      additions.set(`${subject} ${name}`, { ...addition, amount: addition.amount + 1 })
    }
  }
  return [...additions.values()]
}
