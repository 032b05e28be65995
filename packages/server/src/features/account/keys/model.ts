// The API key: its text form, checksum and hash and its scopes.
import { createHash, randomBytes, timingSafeEqual } from 'node:crypto'
import { crc32 } from 'node:zlib'
import { addedScopes, effectiveScopes, type Scope, type ScopePreset, scopePresets } from '@callsign/contract/scopes'

const prefix = 'svc_live_'
const alphabet = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'
const keyPattern = /^svc_live_([0-9A-Za-z]{16})([0-9A-Za-z_-]{43})([0-9A-Za-z]{6})$/

export type KeyParts = { lookupId: string; secret: string }

/** CRC-32 as 6 characters, left-padded with 0. It detects a mistyped key without a database query. */
export function checksum(text: string): string {
  let value = crc32(text)
  let characters = ''
  for (let i = 0; i < 6; i++) {
    characters = alphabet[value % 62] + characters
    value = Math.floor(value / 62)
  }
  return characters
}

/** The parts of a well-formed key, or null. Says nothing about whether the key exists. */
export function parseKey(text: string): KeyParts | null {
  const match = keyPattern.exec(text)
  if (!match || checksum(text.slice(0, -6)) !== match[3]) return null
  return { lookupId: match[1] as string, secret: match[2] as string }
}

/** A new key: 95 bits of id and 256 bits of secret, both from the system's random source. */
export function generateKey(): string {
  const body = prefix + randomText(16) + randomText(43)
  return body + checksum(body)
}

function randomText(length: number): string {
  let text = ''
  while (text.length < length) {
    // 248 is the largest multiple of 62 in a byte: taking only bytes below it keeps every character equally likely.
    for (const byte of randomBytes(length * 2)) if (byte < 248 && text.length < length) text += alphabet[byte % 62]
  }
  return text
}

export const newSalt = (): Buffer => randomBytes(16)

/** SHA-256(salt ‖ secret). The secret has 256 bits of its own, so no slow hash is needed. */
export const hashSecret = (salt: Buffer, secret: string): Buffer => createHash('sha256').update(salt).update(secret).digest()

/** Compares in constant time. */
export const isSecret = (secret: string, salt: Buffer, hash: Buffer): boolean => timingSafeEqual(hashSecret(salt, secret), hash)

const everyScope: ReadonlySet<Scope> = new Set(effectiveScopes('organization', []))
const agentDefault: ReadonlySet<Scope> = new Set(effectiveScopes('agent', []))

/** The list to store for a request that lists these scopes, and names a preset or none. */
export function scopesToStore(type: 'organization' | 'agent', listed: readonly Scope[], preset?: ScopePreset): Scope[] {
  const isAddition = type === 'agent' && listed.length > 0 && listed.every((scope) => addedScopes.includes(scope))
  return [...new Set([...scopePresets[preset ?? (isAddition ? 'agent' : 'none')], ...listed])]
}

/** The scopes of a key with this stored list. Keys without a list share one set. */
export function scopeSet(type: 'organization' | 'agent', listed: readonly string[]): ReadonlySet<Scope> {
  if (listed.length > 0) return new Set(effectiveScopes(type, listed))
  return type === 'agent' ? agentDefault : everyScope
}
