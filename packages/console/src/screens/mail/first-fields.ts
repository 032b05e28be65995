// The fields that the composer shows before a draft is stored. The server computes its own when it stores the draft, and those win.
import { parseAddress } from './addresses.ts'
import type { Composing, Original } from './composer-state.ts'

export type DraftFields = { to: string; cc: string; bcc: string; subject: string; text: string }

export const emptyFields: DraftFields = { to: '', cc: '', bcc: '', subject: '', text: '' }

const replyPrefix = /^(re|aw|sv|antw)\s?:/i
const forwardPrefix = /^(fwd?|wg|tr)\s?:/i

const prefixed = (subject: string, prefix: string, known: RegExp): string => (known.test(subject) ? subject : `${prefix} ${subject}`.trim())

/** The address without a tag, in lower case. */
const keyOf = (entry: string): string =>
  parseAddress(entry)
    .address.toLowerCase()
    .replace(/\+[^@]*@/, '@')

function recipientsOf(message: Original, isToAll: boolean, ownAddress: string): Pick<DraftFields, 'to' | 'cc'> {
  const seen = new Set([keyOf(ownAddress)])
  const others = (entries: string[]) => entries.filter((entry) => !seen.has(keyOf(entry)) && seen.add(keyOf(entry)))
  const isOwn = message.direction === 'outbound'
  const to = isOwn ? others(message.to) : others(message.reply_to.length > 0 ? message.reply_to : [message.from])
  if (isToAll && !isOwn) to.push(...others(message.to))
  return { to: to.join(', '), cc: isToAll ? others(message.cc).join(', ') : '' }
}

export function firstFields(composing: Composing): DraftFields {
  if (composing.kind === 'reply') {
    const { message, isToAll, ownAddress } = composing
    return { ...emptyFields, ...recipientsOf(message, isToAll, ownAddress), subject: prefixed(message.subject, 'Re:', replyPrefix) }
  }
  if (composing.kind === 'forward') return { ...emptyFields, subject: prefixed(composing.message.subject, 'Fwd:', forwardPrefix) }
  return emptyFields
}
