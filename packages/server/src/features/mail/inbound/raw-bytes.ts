// Stores the bytes of a received message, once per organization.
import type { Blobs } from '../../../core/blobs.ts'
import { now } from '../../../core/clock.ts'
import { newId } from '../../../core/ids.ts'

/** Raw messages up to this size stay in their row. Larger ones go to the blob store. */
const inlineBytesMax = 64 * 1024

/** The row of a raw message. Large bytes are durable before this resolves. */
export async function keepRaw(blobs: Blobs, organizationId: string, bytes: Buffer, sha256: Buffer) {
  const id = newId('raw')
  const blobKey = bytes.length <= inlineBytesMax ? null : `raw/${organizationId}/${id}`
  if (blobKey) await blobs.put(blobKey, bytes)
  return { id, organizationId, sizeBytes: bytes.length, sha256, bytes: blobKey ? null : bytes, blobKey, at: now() }
}
