// The suppressed address: its row, its view, and the error for a sender.
import type { Suppression, SuppressionSource } from '@callsign/contract/suppressions'
import { addressKey, untaggedKey } from '@callsign/mail/mail-address'
import type { Static } from 'typebox'
import { ApiError } from '../../../core/errors.ts'

export type SuppressionRow = {
  id: string
  organization_id: string
  email_address: string
  source: SuppressionSource
  reason: string | null
  message_id: string | null
  created_at: Date
}

/** A new entry after a hard bounce or a complaint. `reason` is the remote side's text. */
export type NewSuppression = {
  organizationId: string
  address: string
  source: 'bounce' | 'complaint'
  reason: string
  messageId: string | null
}

/** One recipient of an outgoing message, and the field that names it. */
export type Addressee = { kind: 'to' | 'cc' | 'bcc'; address: string }

export const reasonCharactersMax = 500

/** The entries that suppress an address: the address itself, and without its tag. An entry for ann@ also covers ann+news@. */
export function entriesFor(address: string): string[] {
  const key = addressKey(address)
  const untagged = untaggedKey(key)
  return untagged === null ? [key] : [key, untagged]
}

export const toSuppression = (row: SuppressionRow): Static<typeof Suppression> => ({
  id: row.id,
  email_address: row.email_address,
  source: row.source,
  reason: row.reason,
  message_id: row.message_id,
  created_at: row.created_at.toISOString(),
})

const causes: Record<SuppressionSource, string> = {
  manual: 'it was put there',
  bounce: 'mail to it bounced',
  complaint: 'its owner complained about mail',
}

/** 403 that names every suppressed recipient. */
export function recipientSuppressed(refused: { addressee: Addressee; row: SuppressionRow }[]): ApiError {
  const details = refused.map(({ addressee, row }) => ({
    path: `/${addressee.kind}`,
    message: `${addressee.address} is on the suppression list: ${causes[row.source]}${row.reason ? ` (${row.reason})` : ''}`,
  }))
  const more = details.length > 1 ? ` So ${details.length === 2 ? 'is' : 'are'} ${details.length - 1} more, listed in details.` : ''
  const message = `${details[0]?.message}. Take it off the list to send to it again.${more}`
  return new ApiError('recipient_suppressed', message, { details })
}
