// The outbound guard: searches outgoing mail for secrets, by the settings of its identity.
import type { Flag } from '@callsign/contract/flags'
import { compilePattern } from '@callsign/mail/content/secrets/patterns'
import type { Secret, TextMatcher } from '@callsign/mail/content/secrets/secret'
import { findSecrets } from '@callsign/mail/content/secrets/secrets'
import { htmlToText } from '@callsign/mail/html/text'
import type { Static } from 'typebox'
import type { MailboxOwner } from '../../account/identities/model.ts'

type MailFlag = Static<typeof Flag>

/** Longer texts are flagged as not scanned, which bounds the time of a search. */
export const scannedCharactersMax = 1_000_000
const flagsMax = 20
const matchersMax = 500

/** The content of an outgoing message. `files` are the texts of attachments, by name. */
export type GuardedContent = { subject: string; text: string; html: string; files: { name: string; text: string | null }[] }

const matchers = new Map<string, TextMatcher>()

/** Compiled once, because most messages of an identity use the same patterns. */
function matcherOf(pattern: string): TextMatcher {
  const known = matchers.get(pattern)
  if (known) return known
  if (matchers.size >= matchersMax) matchers.clear()
  const made = compilePattern(pattern)
  matchers.set(pattern, made)
  return made
}

/** The secrets in a message as flags, with masked evidence. */
export function guardFlags(owner: Pick<MailboxOwner, 'outboundGuard'>, { subject, text, html, files }: GuardedContent): MailFlag[] {
  const { mode, patterns } = owner.outboundGuard
  if (mode === 'off') return []
  const own = patterns.map(matcherOf)
  const parts: { name: string; text: string | null }[] = [
    { name: 'the subject', text: subject },
    { name: 'the text', text },
    { name: 'the HTML', text: html && `${html}\n${htmlToText(html.slice(0, scannedCharactersMax))}` },
    ...files.map((file) => ({ name: `the file ${file.name}`, text: file.text })),
  ]
  const flags = new Map<string, MailFlag>()
  for (const part of parts) {
    for (const flag of part.text === null || part.text.length > 2 * scannedCharactersMax
      ? [notScanned(part.name)]
      : flagsIn(part.name, part.text, own)) {
      const key = `${flag.type} ${flag.evidence}`
      if (!flags.has(key)) flags.set(key, flag)
    }
  }
  return [...flags.values()].slice(0, flagsMax)
}

const flagsIn = (where: string, text: string, own: TextMatcher[]): MailFlag[] =>
  text === ''
    ? []
    : findSecrets(text, own).map((secret) => ({ type: secret.type, reason: reasonOf(secret, where), evidence: secret.evidence }))

const reasonOf = ({ type, name }: Secret, where: string): string =>
  type === 'custom_pattern' ? `In ${where}, a text matches the pattern ${name}.` : `In ${where}, there seems to be a secret: ${name}.`

const notScanned = (where: string): MailFlag => ({
  type: 'not_scanned',
  reason: `Too long for a search for secrets: ${where}.`,
  evidence: '',
})

/** The flags as sentences with their masked evidence, for the person that approves. */
export const reasonsOf = (flags: MailFlag[]): string[] =>
  flags.map(({ reason, evidence }) => (evidence === '' ? reason : `${reason.slice(0, -1)} (${evidence}).`))

const textTypes =
  /^(?:text\/|application\/(?:json|xml|yaml|x-yaml|toml|javascript|sql|x-sh|x-pem-file|pkcs8|x-ndjson|[a-z.-]+\+(?:json|xml))\b)/i
const textNames =
  /\.(?:txt|md|csv|tsv|json|ya?ml|toml|ini|conf|cfg|env|pem|key|crt|log|xml|html?|js|ts|py|rb|go|sh|sql|properties|tf|tfvars)$|(?:^|\/)\.env/i

/** True for an attachment that is a text by its type or its name. */
export const isTextFile = ({ content_type, filename }: { content_type: string; filename: string }): boolean =>
  textTypes.test(content_type) || textNames.test(filename)
