// Bytes as text and back, strictly: base64 and hexadecimal with one text for each value, UTF-8 without replacement characters.
import { VaultError } from '../errors.ts'

export type Bytes = Uint8Array<ArrayBuffer>

/** Node's own modules where there are any; undefined in browsers. No import, so a bundler has nothing to resolve. */
export const nodeModule = <T>(name: string): T | undefined => {
  const { process } = globalThis as { process?: { getBuiltinModule?: (name: string) => unknown } }
  return process?.getBuiltinModule?.(name) as T | undefined
}

const nodeBuffer = nodeModule<typeof import('node:buffer')>('node:buffer')?.Buffer

export function encodeBase64(bytes: Uint8Array): string {
  if (nodeBuffer) return nodeBuffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('base64')
  let text = ''
  // Spreading a whole payload into one call can overflow the stack.
  for (let i = 0; i < bytes.length; i += 8192) text += String.fromCharCode(...bytes.subarray(i, i + 8192))
  return btoa(text)
}

function decodeLeniently(text: string): Bytes {
  if (nodeBuffer) {
    const bytes = nodeBuffer.from(text, 'base64')
    return new Uint8Array(bytes.buffer as ArrayBuffer, bytes.byteOffset, bytes.byteLength)
  }
  const characters = atob(text)
  const bytes = new Uint8Array(characters.length)
  for (let i = 0; i < characters.length; i++) bytes[i] = characters.charCodeAt(i)
  return bytes
}

/**
 * RFC 4648 §4 and nothing else: padded, no other characters, unused bits zero. Decoders differ in what they overlook, so what they decoded
 * is encoded again and has to be the same text. Throws `blob_malformed`; `what` names the value in the message.
 */
export function decodeBase64(text: unknown, what: string, bytesMax: number): Bytes {
  if (typeof text !== 'string' || text.length > 4 * Math.ceil(bytesMax / 3)) throw malformed(what)
  let bytes: Bytes
  try {
    bytes = decodeLeniently(text)
  } catch {
    throw malformed(what)
  }
  if (bytes.length > bytesMax || encodeBase64(bytes) !== text) throw malformed(what)
  return bytes
}

const malformed = (what: string) => new VaultError('blob_malformed', `${what} is not strict base64 of an allowed length.`)

export const encodeHex = (bytes: Uint8Array): string => Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('')

const encoder = new TextEncoder()
const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

export const encodeUtf8 = (text: string): Bytes => encoder.encode(text)

/** Throws a TypeError on bytes that are not UTF-8. */
export const decodeUtf8 = (bytes: Uint8Array): string => decoder.decode(bytes)

export const randomBytes = (size: number): Bytes => crypto.getRandomValues(new Uint8Array(size))
