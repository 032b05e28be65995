// The content of a message that a program has composed: its Content fields and body, which are sent as they are.
import { readHeaderBlock } from '../mime/headers.ts'
import type { FinishedContent } from './message-draft.ts'
import { fold } from './plain-message.ts'

const lineBytesMax = 998

/** The content of a raw message. The first field of each name counts, as for its parts when they are read. */
export function readFinishedContent(raw: Buffer): FinishedContent {
  const { fields, bodyStart } = readHeaderBlock(raw, 0, null, (key) => key.startsWith('content-'))
  const first = new Map(fields.toReversed().map((field) => [field.key, field]))
  const written = [...first.values()].toReversed().map(({ name, value }) => {
    const ascii = value.replace(/[^\x20-\x7e]/g, '?')
    return `${name}: ${fold(ascii, name.length + 2)}`
  })
  return { fields: written, body: raw.subarray(bodyStart) }
}

/** True when no line is longer than mail servers accept (RFC 5322 §2.1.1). */
export function hasShortLines({ fields, body }: FinishedContent): boolean {
  if (fields.some((field) => field.split('\r\n').some((line) => line.length > lineBytesMax))) return false
  for (let start = 0; start < body.length; ) {
    const end = body.indexOf('\r\n', start)
    if ((end < 0 ? body.length : end) - start > lineBytesMax) return false
    start = end < 0 ? body.length : end + 2
  }
  return true
}

/** Puts the content behind the header of a composed message, in place of its own. */
export function withFinishedContent(composed: Buffer, { fields, body }: FinishedContent): Buffer {
  const header = composed
    .toString('latin1', 0, composed.indexOf('\r\n\r\n') + 2)
    .replace(/^(?:content-[^:\r\n]*|mime-version):.*\r\n(?:[ \t].*\r\n)*/gim, '')
  return Buffer.concat([Buffer.from(`${[`${header}MIME-Version: 1.0`, ...fields].join('\r\n')}\r\n\r\n`, 'latin1'), body])
}

/** `signed` or `encrypted` for S/MIME (RFC 8551) and PGP/MIME (RFC 3156), whose bytes must stay, by a Content-Type. Null for other content. */
export function sealOf(contentType: string, smimeType: string | undefined): 'signed' | 'encrypted' | null {
  if (contentType === 'multipart/signed') return 'signed'
  if (contentType === 'multipart/encrypted') return 'encrypted'
  if (!/^application\/(?:x-)?pkcs7-mime$/.test(contentType)) return null
  return smimeType?.toLowerCase() === 'signed-data' ? 'signed' : 'encrypted'
}
