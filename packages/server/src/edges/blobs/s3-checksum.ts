// Checksums of S3 objects, which the store verifies and keeps, and which are verified again when an object is read.
import { crc32 } from 'node:zlib'

/** The header of a PUT. AWS SDKs send a CRC by default since 2025. Stores that do not know it ignore it. */
export const checksumHeader = (bytes: Buffer): Record<string, string> => ({ 'x-amz-checksum-crc32': checksumOf(bytes) })

/** Asks for the checksum of an object with its bytes. */
export const askChecksum = { 'x-amz-checksum-mode': 'ENABLED' }

/** Throws when the answer has a checksum of the whole object that differs. A multipart upload has one per part, marked by a `-`. */
export function verifyChecksum(key: string, bytes: Buffer, headers: Record<string, string | string[] | undefined>): void {
  const expected = headers['x-amz-checksum-crc32']
  if (typeof expected !== 'string' || expected.includes('-') || expected === checksumOf(bytes)) return
  throw new Error(`blob ${key} is damaged: its bytes differ from the checksum of the S3 store`)
}

function checksumOf(bytes: Buffer): string {
  const sum = Buffer.alloc(4)
  sum.writeUInt32BE(crc32(bytes))
  return sum.toString('base64')
}
