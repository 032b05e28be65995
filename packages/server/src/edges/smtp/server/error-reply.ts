// Converts an unexpected error of the receiver to a temporary failure reply.
import type { SmtpReply } from './reply.ts'

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
