// Signs messages with DKIM (RFC 6376, RFC 8463). The same message, keys and time give the same bytes.
import { createHash, type KeyObject, sign } from 'node:crypto'
import { promisify } from 'node:util'
import { type RawField, relaxedBody, relaxedField, splitMessage } from './canonical-form.ts'
import type { DkimAlgorithm } from './key-publication.ts'

export type SigningKey = { domain: string; selector: string; algorithm: DkimAlgorithm; privateKey: KeyObject }

/** Signs in the thread pool, because an RSA signature takes 0.25 ms of one core. */
const signApart = promisify(sign)

// Oversigned: listed once more than they occur, so that an added field breaks the signature (RFC 6376 §8.15).
const oversigned = [
  'from',
  'reply-to',
  'to',
  'cc',
  'subject',
  'date',
  'message-id',
  'in-reply-to',
  'references',
  'mime-version',
  'content-type',
  'content-transfer-encoding',
]
// Signed where they occur. Mailing lists may add their own without breaking the signature.
const signedWhenPresent = [
  'sender',
  'content-disposition',
  'content-id',
  'auto-submitted',
  'list-id',
  'list-help',
  'list-unsubscribe',
  'list-unsubscribe-post',
  'list-subscribe',
  'list-post',
  'list-owner',
  'list-archive',
]

const fieldNames: Record<string, string> = { 'message-id': 'Message-ID', 'mime-version': 'MIME-Version', 'content-id': 'Content-ID' }
const nameOf = new Map(
  [...oversigned, ...signedWhenPresent].map((key) => [
    key,
    fieldNames[key] ?? key.replace(/(^|-)[a-z]/g, (letter) => letter.toUpperCase()),
  ]),
)

const lineLength = 76

/**
 * Prepends one signature per key, over the complete body. `raw` must have CRLF line ends. The result must be sent unchanged, because a change of line
 * ends would break the signatures. Without keys, the message is unchanged.
 */
export async function signMessage(raw: Buffer, keys: readonly SigningKey[], at: Date): Promise<Buffer> {
  if (keys.length === 0) return raw
  const { fields, body } = splitMessage(raw)
  const names = namesToSign(fields)
  const signedFields = selectFields(fields, names)
    .map((field) => `${relaxedField(field)}\r\n`)
    .join('')
  const bodyHash = createHash('sha256').update(relaxedBody(body)).digest('base64')
  const listed = `h=${names.map((key) => nameOf.get(key)).join(':')};`.split(/(?<=:)/)
  const signatures = await Promise.all(keys.map((key) => signatureField(key, listed, signedFields, bodyHash, at)))
  return Buffer.concat([Buffer.from(signatures.join(''), 'latin1'), raw])
}

/** The names of the h= tag: each signed field as often as it occurs, and oversigned fields once more. */
function namesToSign(fields: readonly RawField[]): string[] {
  const counts = new Map<string, number>()
  for (const { key } of fields) counts.set(key, (counts.get(key) ?? 0) + 1)
  return [
    ...oversigned.flatMap((key) => Array<string>((counts.get(key) ?? 0) + 1).fill(key)),
    ...signedWhenPresent.flatMap((key) => Array<string>(counts.get(key) ?? 0).fill(key)),
  ]
}

/** The fields that the names select. Repeated fields are taken from the last (RFC 6376 §5.4.2). A surplus name selects none. */
function selectFields(fields: readonly RawField[], names: readonly string[]): RawField[] {
  const left = new Map<string, RawField[]>()
  for (const field of fields) left.set(field.key, [...(left.get(field.key) ?? []), field])
  return names.flatMap((name) => left.get(name)?.pop() ?? [])
}

async function signatureField(key: SigningKey, listed: string[], signedFields: string, bodyHash: string, at: Date): Promise<string> {
  const tags = [
    'v=1;',
    `a=${key.algorithm};`,
    'c=relaxed/relaxed;',
    `d=${key.domain};`,
    `s=${key.selector};`,
    `t=${Math.floor(at.getTime() / 1000)};`,
    ...listed,
    `bh=${bodyHash};`,
  ]
  const head = `${foldTags('DKIM-Signature:', tags)}\r\n b=`
  const text = signedFields + relaxedField({ key: 'dkim-signature', text: head })
  const bytes = Buffer.from(text, 'latin1')
  // Ed25519 signs the hash in place of the message (RFC 8463 §3).
  const signature =
    key.algorithm === 'rsa-sha256'
      ? await signApart('sha256', bytes, key.privateKey)
      : sign(null, createHash('sha256').update(bytes).digest(), key.privateKey)
  const folded = (signature.toString('base64').match(/.{1,70}/g) ?? []).join('\r\n ')
  return `${head}${folded}\r\n`
}

/** Tags on lines of at most 76 characters. White space between the names of h= is allowed (RFC 6376 §3.5). */
function foldTags(start: string, tags: string[]): string {
  let text = start
  let length = start.length
  let isInList = false
  for (const tag of tags) {
    const gap = isInList ? '' : ' '
    if (length + gap.length + tag.length > lineLength) {
      text += `\r\n ${tag}`
      length = 1 + tag.length
    } else {
      text += gap + tag
      length += gap.length + tag.length
    }
    isInList = tag.endsWith(':')
  }
  return text
}
