// Whether a message is what a wait is for.
import { hasWantedCode } from '../../core/wait.ts'
import type { MessageRow } from './model.ts'

/** What a wait is decided by. */
export type MessageHead = Pick<
  MessageRow,
  | 'id'
  | 'mailbox_id'
  | 'thread_id'
  | 'from_address'
  | 'from_name'
  | 'to_addresses'
  | 'cc_addresses'
  | 'subject'
  | 'codes'
  | 'created_at'
  | 'released_at'
>

export type MessageWants = {
  from?: string
  to?: string
  subject?: string
  thread_id?: string
  has_code?: boolean
  code_kind?: 'one_time_code' | 'confirmation_link'
}

const holds = (text: string, part: string | undefined): boolean => part === undefined || text.toLowerCase().includes(part.toLowerCase())

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
    (holds(head.from_address, wants.from) || holds(head.from_name, wants.from)) &&
    holds(head.subject, wants.subject) &&
    hasWantedCode(head.codes, wants)
  )
}
