// The bytes of a message, in the forms in which callers hold them.

/** A raw message (RFC 5322): bytes, or a string that is encoded as UTF-8. */
export type RawMessage = Uint8Array | string

/** The bytes of a raw message, without a copy where the caller passes bytes. */
export function toBuffer(raw: RawMessage): Buffer {
  if (typeof raw === 'string') return Buffer.from(raw)
  return Buffer.isBuffer(raw) ? raw : Buffer.from(raw.buffer, raw.byteOffset, raw.byteLength)
}
