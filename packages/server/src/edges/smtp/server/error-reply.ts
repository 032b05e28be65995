// The replies to mail that is refused or deferred, and to failures of this server.
import type { Refusal, Refused } from '../../../features/mail/inbound/model.ts'
import type { SmtpReply } from './reply.ts'

const reply = (code: number, enhanced: string, text: string): SmtpReply => ({ code, enhanced, text })

const refusals: Record<Refusal, SmtpReply> = {
  'no-mailbox': reply(550, '5.1.1', 'No such mailbox here'),
  'no-postmaster': reply(451, '4.2.1', 'No mailbox receives mail for this role address yet, try again later'),
  'no-return-path': reply(550, '5.1.1', 'No such return path here'),
  full: reply(452, '4.2.2', 'The storage quota of this mailbox is used up, try again later'),
  loop: reply(554, '5.4.6', 'Mail loop: this message was already delivered to this mailbox'),
  gone: reply(451, '4.2.1', 'A recipient mailbox was deleted during this transaction, try again'),
  // RFC 7372 §3.2 has codes for SPF and DKIM only. 4.7.5 (temporary cryptographic failure) is customary for DMARC.
  unverified: reply(451, '4.7.5', 'Temporary DNS failure while authenticating the sender, try again later'),
  'no-report': reply(550, '5.6.0', 'This address takes reports about mail from here only'),
  'unsigned-report': reply(550, '5.7.1', 'A report needs a valid DKIM signature of the domain in From'),
  'foreign-report': reply(550, '5.7.1', 'This report is about another domain'),
  'unreadable-report': reply(550, '5.6.0', 'This address takes DMARC or TLS reports only, and this message has none that can be read'),
  'undecided-report': reply(451, '4.7.5', 'Temporary DNS failure while authenticating the sender, try again later'),
  'too-many-reports': reply(452, '4.2.2', 'Too many reports about this domain today, try again later'),
  busy: reply(451, '4.3.2', 'Too many reports are being read, try again later'),
}

/** The reply to mail that an intake refuses. Names the domain whose DNS failed, if it is known. */
export function replyToRefusal({ refused, domain }: Refused): SmtpReply {
  const fixed = refusals[refused]
  if (refused !== 'unverified' || !domain) return fixed
  const name = domain.replace(/[^\x21-\x7e]/g, '?').slice(0, 253)
  return { ...fixed, text: `Temporary DNS failure for the DMARC, SPF or DKIM records of ${name}, try again later` }
}

/** ENOSPC and EDQUOT are codes of the file system, 53100 is PostgreSQL's disk_full. */
const diskFullCodes = new Set(['ENOSPC', 'EDQUOT', '53100'])
const causesMax = 5

/** 452 4.3.1 when a disk is full, and 451 4.3.0 for everything else. The reference identifies the log line. */
export function replyToFailure(error: unknown, reference: string): SmtpReply {
  return isDiskFull(error)
    ? { code: 452, enhanced: '4.3.1', text: `Insufficient storage, try again later (${reference})` }
    : { code: 451, enhanced: '4.3.0', text: `Temporary failure, try again later (${reference})` }
}

function isDiskFull(error: unknown): boolean {
  let at = error
  for (let depth = 0; depth < causesMax && at instanceof Error; depth++) {
    if ('code' in at && typeof at.code === 'string' && diskFullCodes.has(at.code)) return true
    at = at.cause
  }
  return false
}
