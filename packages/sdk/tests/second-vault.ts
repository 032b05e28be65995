// A second implementation of the vault's format, on other libraries and without shared code. Each reads the other's output.
import { gcm } from '@noble/ciphers/aes.js'
import { argon2id } from '@noble/hashes/argon2.js'
import { hkdf } from '@noble/hashes/hkdf.js'
import { sha256 } from '@noble/hashes/sha2.js'

type Kdf = { algorithm: string; m: number; t: number; p: number }
type Context = { v: number; org: string; vault: string; id: string; type: string; name: string; kv: number; rev: number }

const hex = (bytes: Uint8Array) => Buffer.from(bytes).toString('hex')

function fromBase64(text: string): Uint8Array {
  if (!/^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/][AQgw]==|[A-Za-z0-9+/]{2}[AEIMQUYcgkosw048]=)?$/.test(text)) throw new Error('base64')
  return new Uint8Array(Buffer.from(text, 'base64'))
}

export function derive(vaultKey: string, salt: string, { algorithm, m, t, p }: Kdf) {
  const saltBytes = fromBase64(salt)
  if (algorithm !== 'argon2id' || ![m, t, p].every(Number.isInteger)) throw new Error('kdf')
  if (m < 19456 || t < 2 || p < 1 || m > 1048576 || t > 16 || p > 16) throw new Error('kdf')
  if (saltBytes.length < 16 || saltBytes.length > 64) throw new Error('salt')
  const master = argon2id(new TextEncoder().encode(vaultKey), saltBytes, { m, t, p, dkLen: 32, version: 0x13 })
  return { master, authHash: hex(sha256(master)) }
}

export function seal(key: Uint8Array, iv: Uint8Array, plaintext: Uint8Array): string {
  return Buffer.concat([Uint8Array.of(1, 1), iv, gcm(key, iv).encrypt(plaintext)]).toString('base64')
}

export function open(key: Uint8Array, text: string): Uint8Array {
  const blob = fromBase64(text)
  if (blob.length < 30 || blob.length > 65536 || blob[0] !== 1 || blob[1] !== 1) throw new Error('blob')
  return gcm(key, blob.subarray(2, 14)).decrypt(blob.subarray(14))
}

export const fingerprint = (oek: Uint8Array) =>
  hex(hkdf(sha256, oek, new Uint8Array(32), new TextEncoder().encode('callsign/vault/v1/fingerprint'), 8))

export function sealSecret(oek: Uint8Array, iv: Uint8Array, payload: object, context: Context): string {
  const bare = JSON.stringify({ ...payload, $ctx: context, $pad: '' })
  const pad = ' '.repeat((64 - (Buffer.byteLength(bare) % 64)) % 64)
  return seal(oek, iv, new TextEncoder().encode(JSON.stringify({ ...payload, $ctx: context, $pad: pad })))
}

export function openSecret(oek: Uint8Array, text: string, expected: Partial<Context>): Record<string, unknown> {
  const { $ctx, $pad: _, ...payload } = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(open(oek, text)))
  for (const [name, value] of Object.entries(expected)) if ($ctx?.[name] !== value) throw new Error(`context ${name}`)
  return payload
}
