// The question to the person at a connected app: the message as it would be sent.
import type { DraftReview } from '@callsign/contract/approvals'
import { visible } from '@callsign/contract/tools/foreign-text'
import type { Static } from 'typebox'
import { isTooLongToApprove } from '../../features/mail/drafts/model.ts'

type Review = Static<typeof DraftReview>

/** Limits of the question: characters of each form of the body and of a value, and values of a field. */
const charactersMax = 4000
const lineCharactersMax = 1000
const valuesMax = 20

/** A value on one line, without characters that people cannot see. Every line it could begin would be one that it forges. */
const flat = (value: string): string =>
  visible(value)
    .replace(/[\s\p{Zl}\p{Zp}\p{Cc}]+/gu, ' ')
    .trim()

/** An address before its name, so that a name cannot pass for the address. */
function addressFirst(value: string): string {
  const [, name, address] = /^(.*\S)\s*<([^<>]+)>$/s.exec(value) ?? []
  return name === undefined || address === undefined ? flat(value) : `${flat(address)} (${flat(name)})`
}

type Group = { name: string; values: string[] }

const lines = ({ name, values }: Group): string[] => values.map((value) => `${name}: ${value}`)

const addressFields = new Set(['From', 'Reply-To', 'To', 'Cc', 'Bcc'])

/** A form of the message under its label. The mark before each line keeps a line of the message from passing for a label. */
const labelled = (label: string, text: string): string[] => ['', `${label}:`, ...text.replace(/^/gm, '> ').split('\n')]

const collapsed = (text: string): string => text.replace(/\s+/g, ' ').trim()

/** The text, or both forms when they differ, with the HTML first, because recipients see it. Null when a form is too long. */
function bodyOf(review: Review): string[] | null {
  const text = visible(review.text)
  const htmlText = visible(review.html_text ?? '')
  if (Math.max(text.length, htmlText.length) > charactersMax) return null
  const isSame = review.html_text === null || collapsed(htmlText) === collapsed(text)
  if (isSame) return ['', text || htmlText]
  return [
    ...labelled('Text of the HTML part, which most recipients see', htmlText || '(no text)'),
    ...(text ? labelled('Text part', text) : []),
  ]
}

/** The values of the message, as the question lists them. */
const groupsOf = ({ fields, attachments, images }: Review): Group[] => [
  ...fields.map(({ name, values }) => ({ name: flat(name), values: values.map(addressFields.has(name) ? addressFirst : flat) })),
  {
    name: 'Attachment',
    values: attachments.map(({ filename, content_type, size_bytes }) => flat(`${filename} (${content_type}, ${size_bytes} bytes)`)),
  },
  { name: 'Image in the HTML', values: images.map(flat) },
]

const isTooLong = ({ name, values }: Group): boolean =>
  values.length > valuesMax || values.some((value) => name.length + value.length > lineCharactersMax)

/**
 * The message for a person: each value on one line, and the body last. Null for a message that the question could not show whole, because the
 * person would approve what was not shown.
 */
export function approvalQuestion(agent: string, review: Review): string | null {
  const groups = groupsOf(review)
  const body = bodyOf(review)
  if (body === null || isTooLongToApprove(review) || groups.some(isTooLong)) return null
  return [
    `Send this message as ${flat(agent)}?`,
    ...lines({ name: 'Warning', values: review.warnings.map(({ text }) => flat(text)) }),
    ...groups.flatMap(lines),
    ...(review.html === null ? [] : ['The message has an HTML form, which the console shows.']),
    ...body,
  ].join('\n')
}
