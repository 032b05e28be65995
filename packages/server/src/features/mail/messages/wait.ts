// Matches messages against the filters of a wait.
import { addressKey, domainKey, readAddressKey } from '@callsign/mail/mail-address'
import { hasWantedCode } from '../../../core/wait.ts'
import type { MessageHead } from '../stored/model.ts'

export type MessageWants = {
  from?: string
  to?: string
  subject?: string
  thread_id?: string
  has_code?: boolean
  code_kind?: 'one_time_code' | 'confirmation_link'
}

const holds = (text: string, part: string | undefined): boolean => part === undefined || text.toLowerCase().includes(part.toLowerCase())

/**
 * Matches the author by address, or by a domain at or above the author's. Any other text may be a part of the address or the name.
 * A display name that shows an address or a domain is not matched, because the sender chooses it freely.
 */
function isFrom({ from_address, from_name }: MessageHead, wanted: string | undefined): boolean {
  if (wanted === undefined) return true
  const author = readAddressKey(from_address)
  if (author === null) return false
  const at = wanted.lastIndexOf('@')
  if (at > 0) return author === addressKey(wanted)
  const name = wanted.trim().replace(/^\.|\.$/g, '')
  if (at === 0 || /^[^\s.]+(?:\.[^\s.]+)+$/.test(name)) {
    const domain = domainKey(at === 0 ? wanted.slice(1) : name)
    return author.endsWith(`@${domain}`) || (at < 0 && author.endsWith(`.${domain}`))
  }
  return holds(from_address, wanted) || holds(from_name, wanted)
}

/** True when the message came, or was let out of quarantine, after that time, and every filter holds that is given, as in the list. */
export function isWanted(head: MessageHead, wants: MessageWants, after: Date | null): boolean {
  const { to } = wants
  const isTo =
    to === undefined || [...head.to_addresses, ...head.cc_addresses].some((address) => address.toLowerCase() === to.toLowerCase())
  const isLater = after === null || (head.released_at ?? head.created_at) > after
  return (
    isLater &&
    isTo &&
    (wants.thread_id === undefined || head.thread_id === wants.thread_id) &&
    isFrom(head, wants.from) &&
    holds(head.subject, wants.subject) &&
    hasWantedCode(head.codes, wants)
  )
}
