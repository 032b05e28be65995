// Searches everything in a composed message for secrets. Its cost is bounded by the product of texts and patterns.
import type { Flag } from '@callsign/contract/flags'
import type { Static } from 'typebox'
import { htmlToText } from '../../html/text.ts'
import { decodeEncodedWords } from '../../mime/encoded-words.ts'
import { type ParsedMessage, parseMessage } from '../../mime/parse.ts'
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
export type SearchedField = { where: string; text: string; form: 'line' | 'text' | 'html' }

/** A file of a message. `isCut` when `bytes` are only its first ones. */
export type SearchedBytes = { name: string; bytes: Buffer; isCut: boolean }

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
  if (form === 'html') return { where, text: text && `${text}\n${htmlToText(text)}`, hasCards: true }
  return { where, text: form === 'line' ? lineForms(text) : text, hasCards: true }
}

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
function fileParts({ name, bytes, isCut }: SearchedBytes, depth: number): Part[] {
  const where = `the file ${name.slice(0, 100)}`
  const { kind, text } = readSearchedFile(bytes)
  if (kind === 'text' && (isCut || text.length > scannedCharactersMax)) return [{ where, text: null, hasCards: true }]
  const unsearched = kind === 'unknown' ? [{ where, text: null, hasCards: true }] : []
  const parts: Part[] = [{ where, text: text.slice(0, scannedFileBytesMax), hasCards: kind !== 'container' }, ...unsearched]
  if (kind !== 'text' || !isMessage(text)) return parts
  if (depth === messageDepthMax) return [...parts, { where: `a message within ${where}`, text: null, hasCards: true }]
  return [...parts, ...messageParts(where, parseMessage(bytes), bytes, depth)]
}

function messageParts(where: string, message: ParsedMessage, raw: Buffer, depth: number): Part[] {
  const header = message.headers.map(({ name, value }) => `${name}: ${value}`).join('\n')
  const texts = [header, message.text ?? '', message.html === null ? '' : `${message.html}\n${htmlToText(message.html)}`]
  const files = message.attachments.map(({ filename, start, end, encoding }) => ({
    name: filename,
    bytes: decodeAttachment(raw.subarray(start, end), encoding),
    isCut: false,
  }))
  return [...texts.map((text) => ({ where, text, hasCards: true })), ...files.flatMap((file) => fileParts(file, depth + 1))]
}

/** True for a text that begins with header fields, of which one is a MIME field: its parts can be encoded. */
const isMessage = (text: string): boolean =>
  /^[!-9;-~]{1,76}:/.test(text) && /^(?:mime-version|content-(?:type|transfer-encoding)):/im.test(text.slice(0, 64 * 1024))

const reasonOf = ({ type, name }: Secret, where: string): string =>
  type === 'custom_pattern' ? `In ${where}, a text matches the pattern ${name}.` : `In ${where}, there seems to be a secret: ${name}.`

/** The flag of a message, or a part of one, that was not searched. `hold` holds it. */
export const notScanned = (reason: string): MailFlag => ({ type: 'not_scanned', reason, evidence: '' })

/** The flags as sentences with their masked evidence, for the person that approves. */
export const reasonsOf = (flags: MailFlag[]): string[] =>
  flags.map(({ reason, evidence }) => (evidence === '' ? reason : `${reason.slice(0, -1)} (${evidence}).`))
