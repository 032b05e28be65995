// Signatures of callbacks by the Standard Webhooks specification, checked before anything in them is read.
import { createHmac, timingSafeEqual } from 'node:crypto'
import type { RawRequest } from '../../core/route.ts'

/** Maximum difference between the signed time and this clock, in either direction (Standard Webhooks, "Verifying webhook authenticity"). */
const toleranceMs = 300_000

/** The headers of a callback of this id and time. */
export function signCallback(secret: Buffer, id: string, seconds: number, body: Buffer): Record<string, string> {
  return {
    'webhook-id': id,
    'webhook-timestamp': String(seconds),
    'webhook-signature': `v1,${digest(secret, id, seconds, body).toString('base64')}`,
  }
}

/** True when one of the signatures is valid for this secret and these bytes, and not too old. Compares in constant time. */
export function isSignedBy(secret: Buffer, { headers, body }: Pick<RawRequest, 'headers' | 'body'>, nowMs: number): boolean {
  const [id, timestamp, signatures] = [headers['webhook-id'], headers['webhook-timestamp'], headers['webhook-signature']]
  if (typeof id !== 'string' || typeof timestamp !== 'string' || typeof signatures !== 'string') return false
  if (!/^\d{1,12}$/.test(timestamp) || Math.abs(nowMs - Number(timestamp) * 1000) > toleranceMs) return false
  const expected = digest(secret, id, Number(timestamp), body)
  let isGood = false
  for (const part of signatures.split(' ').slice(0, 20)) {
    if (!part.startsWith('v1,')) continue
    const given = Buffer.from(part.slice(3), 'base64')
    isGood = (given.length === expected.length && timingSafeEqual(given, expected)) || isGood
  }
  return isGood
}

const digest = (secret: Buffer, id: string, seconds: number, body: Buffer): Buffer =>
  createHmac('sha256', secret).update(`${id}.${seconds}.`).update(body).digest()
