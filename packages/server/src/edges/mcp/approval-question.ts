// The question to the person at a connected app: the message as it would be sent.
import type { DraftReview } from '@callsign/contract/approvals'
import { visible } from '@callsign/contract/tools/foreign-text'
import type { Static } from 'typebox'

type Review = Static<typeof DraftReview>

const charactersMax = 4000
const lineCharactersMax = 300
const valuesMax = 20

/** A value on one line, without characters that people cannot see. Every line it could begin would be one that it forges. */
const flat = (value: string): string =>
  visible(value)
    .replace(/[\s\p{Zl}\p{Zp}\p{Cc}]+/gu, ' ')
    .trim()

const oneLine = (value: string): string => {
  const text = flat(value)
  return text.length > lineCharactersMax ? `${text.slice(0, lineCharactersMax)}…` : text
}

/** An address before its name, so that a name cannot pass for the address. Only the name is cut, because a cut address hides its domain. */
function addressFirst(value: string): string {
  const [, name, address] = /^(.*\S)\s*<([^<>]+)>$/s.exec(value) ?? []
  return name === undefined || address === undefined ? flat(value) : `${flat(address)} (${oneLine(name)})`
}

const lines = (name: string, values: string[]): string[] => [
  ...values.slice(0, valuesMax).map((value) => `${name}: ${value}`),
  ...(values.length > valuesMax ? [`${name}: ${values.length - valuesMax} more, which the console shows`] : []),
]

const addressFields = new Set(['From', 'Reply-To', 'To', 'Cc', 'Bcc'])

const beginningOf = (text: string): string[] => [
  text.slice(0, charactersMax),
  ...(text.length > charactersMax ? ['… The console shows the rest.'] : []),
]

/** A form of the message under its label. The mark before each line keeps a line of the message from passing for a label. */
const labelled = (label: string, text: string): string[] => [
  '',
  `${label}:`,
  ...beginningOf(text).join('\n').replace(/^/gm, '> ').split('\n'),
]

const collapsed = (text: string): string => text.replace(/\s+/g, ' ').trim()

/** The text, or both forms when they differ, with the HTML first, because recipients see it. */
function bodyOf(review: Review): string[] {
  const text = visible(review.text)
  const htmlText = visible(review.html_text ?? '')
  const isSame = review.html_text === null || collapsed(htmlText) === collapsed(text)
  if (isSame) return ['', ...beginningOf(text || htmlText)]
  return [
    ...labelled('Text of the HTML part, which most recipients see', htmlText || '(no text)'),
    ...(text ? labelled('Text part', text) : []),
  ]
}

/** The message for a person: each value on one line, and the body last. Warnings are whole, because they name addresses. */
export function approvalQuestion(agent: string, review: Review): string {
  return [
    `Send this message as ${oneLine(agent)}?`,
    ...lines(
      'Warning',
      review.warnings.map(({ text }) => flat(text)),
    ),
    ...review.fields.flatMap(({ name, values }) =>
      lines(
        oneLine(name),
        values.map((value) => (addressFields.has(name) ? addressFirst(value) : oneLine(value))),
      ),
    ),
    ...lines(
      'Attachment',
      review.attachments.map(({ filename, content_type, size_bytes }) => oneLine(`${filename} (${content_type}, ${size_bytes} bytes)`)),
    ),
    ...lines('Image in the HTML', review.images.map(oneLine)),
    ...(review.html === null ? [] : ['The message has an HTML form, which the console shows.']),
    ...bodyOf(review),
  ].join('\n')
}
