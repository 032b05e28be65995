// Searches everything in a composed message for secrets. Its cost is bounded by the product of texts and patterns.
import type { Flag } from '@callsign/contract/flags'
import type { Static } from 'typebox'
import { isDetachedSignature } from '../../containers/signed-data.ts'
import { decodeEntities } from '../../html/entities.ts'
import { reviewHtml } from '../../html/review.ts'
import { htmlToText } from '../../html/text.ts'
import { sniffCharset, withoutLastLineEnds } from '../../mime/bodies.ts'
import { decodeText } from '../../mime/charsets.ts'
import { decodeEncodedWords } from '../../mime/encoded-words.ts'
import { readHeaderBlock } from '../../mime/headers.ts'
import { parseMessage } from '../../mime/parse.ts'
import { charsetOf, splitParts } from '../../mime/parts.ts'
import { unifyLineEnds } from '../../mime/storable-text.ts'
import { decodeAttachment } from '../../mime/transfer-encoding.ts'
import { type CompiledPattern, compilePattern } from './patterns.ts'
import { readSearchedFile } from './searched-file.ts'
import type { Secret } from './secret.ts'
import { findSecrets } from './secrets.ts'

export type MailFlag = Static<typeof Flag>

/** Longer texts are flagged as not scanned. */
export const scannedCharactersMax = 1_000_000
/** Bytes read of a file: a text of UTF-16 has two per character. */
export const scannedFileBytesMax = 2 * scannedCharactersMax
/**
 * Steps of all patterns over all texts of a message: instructions times characters. Above it, the patterns are not searched. 10 ns per step at
 * worst.
 */
const patternStepsMax = 1_000_000_000
const messageDepthMax = 3
const flagsMax = 20
const compiledMax = 500

/** A text of a message. `where` names it for people. Lines are also searched as decoded. */
export type SearchedField = { where: string; text: string; form: 'line' | 'ids' | 'text' | 'html' }

/** The declaration of a file of a message, and the kind of the multipart that it stands in. */
export type DeclaredPart = { contentType: string; charset: string | null; parentKind: string }

/** A file of a message. `isCut` when `bytes` are only its first ones. `part` for a file of a message that is read from its bytes. */
export type SearchedBytes = { name: string; bytes: Buffer; isCut: boolean; part?: DeclaredPart }

/** The search of one message: its texts and files, and the patterns of its identity. */
export type SecretSearch = { patterns: string[]; fields: SearchedField[]; files: SearchedBytes[] }

/** One text with the place that it stands in. Null for one that cannot be searched. */
type Part = { where: string; text: string | null; hasCards: boolean }

const compiled = new Map<string, CompiledPattern>()

/** Compiled once, because most messages of an identity use the same patterns. */
function compiledOf(pattern: string): CompiledPattern {
  const known = compiled.get(pattern)
  if (known) return known
  if (compiled.size >= compiledMax) compiled.clear()
  const made = compilePattern(pattern)
  compiled.set(pattern, made)
  return made
}

/** The secrets in a message as flags, with masked evidence. A part that was not searched has the flag `not_scanned`. */
export function searchForSecrets({ patterns, fields, files }: SecretSearch): MailFlag[] {
  const own = patterns.map(compiledOf)
  const stepsPerCharacter = own.reduce((sum, { size }) => sum + size, 0)
  let steps = patternStepsMax
  const flags = new Map<string, MailFlag>()
  const add = (flag: MailFlag): void => {
    const key = `${flag.type} ${flag.evidence || flag.reason}`
    if (!flags.has(key)) flags.set(key, flag)
  }
  for (const part of [...fields.map(fieldPart), ...files.flatMap((file) => fileParts(file, 0))]) {
    const { where, text, hasCards } = part
    if (text === null) add(notScanned(`Not searched for secrets: ${where}.`))
    if (!text) continue
    const partSteps = text.length * stepsPerCharacter
    const isAffordable = partSteps <= steps
    if (isAffordable) steps -= partSteps
    else add(notScanned(`The patterns are too large for the length of ${where}, so it was not searched for them.`))
    for (const secret of findSecrets(text, isAffordable ? own : [], { hasCards }))
      add({ type: secret.type, reason: reasonOf(secret, where), evidence: secret.evidence })
  }
  return [...flags.values()].slice(0, flagsMax)
}

function fieldPart({ where, text, form }: SearchedField): Part {
  if (text.length > scannedCharactersMax) return { where, text: null, hasCards: true }
  if (form === 'html') return { where, text: text && htmlForms(text), hasCards: true }
  return { where, text: form === 'text' ? text : lineForms(text), hasCards: form !== 'ids' }
}

/** HTML as it stands, with its character references decoded, and as readers see it, by our own reader and by that of browsers. */
const htmlForms = (html: string): string => [...new Set([html, decodeEntities(html), htmlToText(html), reviewHtml(html).text])].join('\n')

/** A line as it stands, with its encoded words (RFC 2047) decoded, and with its percent-encoding (RFC 3986) decoded. */
const lineForms = (line: string): string =>
  [
    ...new Set([
      line,
      decodeEncodedWords(line),
      line.replace(/%([2-7][0-9a-f])/gi, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16))),
    ]),
  ].join('\n')

/** The texts of a file, of a message in a file, and of the files of that message. */
const fileParts = ({ name, ...content }: SearchedBytes, depth: number): Part[] =>
  contentParts(`the file ${name.slice(0, 100)}`, content, depth)

function contentParts(where: string, { bytes, isCut, part }: Omit<SearchedBytes, 'name'>, depth: number): Part[] {
  const { kind, text } = readSearchedFile(bytes)
  const unread = { where, text: null, hasCards: true }
  if (kind === 'text' && (isCut || text.length > scannedCharactersMax)) return [unread]
  const isUnread = kind === 'unknown' && !(part !== undefined && isSignature(part, bytes))
  const parts: Part[] = [
    { where, text: text.slice(0, scannedFileBytesMax), hasCards: kind === 'text' || isUnread },
    ...(isUnread ? [unread] : []),
    ...(part === undefined ? [] : declaredTexts(part, bytes).map((one) => ({ where, text: one, hasCards: true }))),
  ]
  if (kind !== 'text' || !isMessage(bytes)) return parts
  if (depth === messageDepthMax) return [...parts, { ...unread, where: `a message within ${where}` }]
  return [...parts, ...messageParts(where, bytes, depth)]
}

/** The text of a part in its declared charset, and as readers see it when it is HTML. Null when it is too long. */
function declaredTexts({ contentType, charset }: DeclaredPart, bytes: Buffer): (string | null)[] {
  if (!contentType.startsWith('text/')) return []
  const isHtml = contentType === 'text/html'
  const text = unifyLineEnds(decodeText(bytes, charset ?? (isHtml ? sniffCharset(bytes) : null)).text)
  if (text.length > scannedCharactersMax) return [null]
  return isHtml ? [withoutLastLineEnds(text), htmlToText(text)] : [withoutLastLineEnds(text)]
}

/** A signature beside the part that it signs is a container, because only its certificates have texts. */
const isSignature = ({ contentType, parentKind }: DeclaredPart, bytes: Buffer): boolean =>
  parentKind === 'signed' && /^application\/(?:x-)?pkcs7-signature$/.test(contentType) && isDetachedSignature(bytes)

/** Defects of a message of which a part is left out, or stays encoded. */
const unreadDefects = ['truncated-parts', 'too-deep', 'unknown-encoding'] as const

/** The texts of a message: its header and bodies as readers see them, and each part, which some readers show in place of others. */
function messageParts(where: string, raw: Buffer, depth: number): Part[] {
  const message = parseMessage(raw)
  const { leaves, defects } = splitParts(raw)
  const header = message.headers.map(({ name, value }) => `${name}: ${value}`).join('\n')
  const html = message.html ?? ''
  const names = new Map(message.attachments.map(({ start, filename }) => [start, filename]))
  const parts = [
    ...[header, message.text, html, htmlToText(html)].map((text) => ({ where, text: text ?? '', hasCards: true })),
    ...leaves.flatMap((leaf) => {
      const bytes = decodeAttachment(raw.subarray(leaf.start, leaf.end), leaf.encoding)
      const part = { contentType: leaf.contentType, charset: charsetOf(leaf), parentKind: leaf.parentKind }
      const name = names.get(leaf.start)
      return contentParts(name === undefined ? where : `the file ${name.slice(0, 100)}`, { bytes, isCut: false, part }, depth + 1)
    }),
    ...(unreadDefects.some((defect) => defects.has(defect)) ? [{ where: `a part of ${where}`, text: null, hasCards: true }] : []),
  ]
  return [...new Map(parts.map((part) => [part.text === null ? part : `${part.hasCards} ${part.text}`, part])).values()]
}

/** True for a text that begins with header fields, of which one is a MIME field: its parts can be encoded. */
const isMessage = (bytes: Buffer): boolean =>
  readHeaderBlock(bytes, 0, null, (key) => /^(?:mime-version|content-(?:type|transfer-encoding))$/.test(key)).fields.length > 0

const reasonOf = ({ type, name }: Secret, where: string): string =>
  type === 'custom_pattern' ? `In ${where}, a text matches the pattern ${name}.` : `In ${where}, there seems to be a secret: ${name}.`

/** The flag of a message, or a part of one, that was not searched. `hold` holds it. */
export const notScanned = (reason: string): MailFlag => ({ type: 'not_scanned', reason, evidence: '' })

/** The flags as sentences with their masked evidence, for the person that approves. */
export const reasonsOf = (flags: MailFlag[]): string[] =>
  flags.map(({ reason, evidence }) => (evidence === '' ? reason : `${reason.slice(0, -1)} (${evidence}).`))
