// Answers, counted by identity and correspondent on all threads, because a remote program may start a thread with each message.
import { addressKey, untaggedKey } from '@callsign/mail/mail-address'
import type { LoopRule } from './agent-loop.ts'
import type { Addressed } from './filing.ts'
import type { Addition } from './sending-limits.ts'

/** The counter of the answers of an identity. Its names are correspondents. */
export const answerSubject = (identityId: string): string => `answers ${identityId}`

/** A correspondent, the same with any `+tag`. */
export function correspondentOf(address: string): string {
  const key = addressKey(address)
  return untaggedKey(key) ?? key
}

export const correspondentsOf = (addresses: string[]): string[] => [...new Set(addresses.map(correspondentOf))]

/** An addition for each correspondent of an identity. */
export function answersIn(messages: Addressed[], rule: LoopRule): Addition[] {
  const additions = new Map<string, Addition>()
  for (const message of messages) {
    const { organizationId, identityId } = message.owner
    for (const name of message.inspection.answered) {
      const subject = answerSubject(identityId)
      const addition = additions.get(`${subject} ${name}`) ?? { organizationId, subject, name, seconds: rule.windowMs / 1000, amount: 0 }
      additions.set(`${subject} ${name}`, { ...addition, amount: addition.amount + 1 })
    }
  }
  return [...additions.values()]
}
