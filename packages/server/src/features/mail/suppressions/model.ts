// The suppressed address: its row, its view, and how a sender is told.
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

/** A hard bounce or a complaint: the address that asks for no more mail. `reason` is what the other side said. */
export type NewSuppression = {
  organizationId: string
  address: string
  source: 'bounce' | 'complaint'
  reason: string
  messageId: string | null
}

/** One recipient of a message that is about to be sent, and the field that names it. */
export type Addressee = { kind: 'to' | 'cc' | 'bcc'; address: string }

export const reasonCharactersMax = 500

/** The entries that would suppress an address: itself, and without its tag. Who wants no mail at ann@ wants none at ann+news@ either. */
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
  const more = details.length > 1 ? ` So ${details.length === 2 ? 'is' : 'are'} ${details.length - 1} more; details name each.` : ''
  const message = `${details[0]?.message}. Take it off the list to send to it again.${more}`
  return new ApiError('recipient_suppressed', message, { details })
}
