// Signs deliveries by the Standard Webhooks specification.
import { createHmac, type KeyObject } from 'node:crypto'
import { signatureHeader, signatureHeaders, signedPrefix } from '@callsign/contract/webhook-signature'

/** The three headers, signed with every secret in force: several during a rotation. `eventId` is the `webhook-id` of every attempt. */
export function sign(secrets: (Buffer | KeyObject)[], eventId: string, body: Buffer, nowMs: number): Record<string, string> {
  const seconds = Math.floor(nowMs / 1000)
  const prefix = signedPrefix(eventId, seconds)
  return {
    [signatureHeaders.id]: eventId,
    [signatureHeaders.timestamp]: String(seconds),
    [signatureHeaders.signature]: signatureHeader(
      secrets.map((secret) => createHmac('sha256', secret).update(prefix).update(body).digest('base64')),
    ),
  }
}
