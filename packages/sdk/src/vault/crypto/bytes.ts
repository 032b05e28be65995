// Strict conversion between bytes and text. Base64 and hexadecimal have one text per value, and UTF-8 has no replacement characters.
import { VaultError } from '../../errors.ts'

export type Bytes = Uint8Array<ArrayBuffer>

/** Node's own modules, or undefined in browsers. It does not import them, so bundlers have nothing to resolve. */
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
 * Strict base64 by RFC 4648 §4 with padding, no other characters, and unused bits zero. Decoders differ in leniency, so the decoded bytes
 * are encoded again and compared to the text. Throws `blob_malformed`. `what` names the value in the message.
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
