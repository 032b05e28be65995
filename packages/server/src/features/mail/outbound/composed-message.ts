// The message that would be sent: its fields as recipients get them. People approve these fields, and the outbound guard searches them.

import { autoSubmittedField } from '@callsign/mail/compose/custom-headers'
import type { SearchedField } from '@callsign/mail/content/secrets/message-search'
import { formatAddress } from '@callsign/mail/mail-address'
import type { ParsedAddress } from '@callsign/mail/mime/addresses'
import type { ComposedMessage, DeclaredFile } from './model.ts'

/** A header field of a message, with one value per address. */
type ComposedField = { name: string; values: string[] }

const formatted = (list: ParsedAddress[]): string[] => list.map(({ name, address }) => formatAddress(name, address))

/** Every header field that a caller has chosen, in the order in which people read them. Empty fields are left out. */
export function composedFields(message: ComposedMessage): ComposedField[] {
  const { from, recipients, replyTo, subject, references, headers, autoSubmitted } = message
  return [
    { name: 'From', values: formatted([from]) },
    { name: 'Reply-To', values: formatted(replyTo) },
    { name: 'To', values: formatted(recipients.to) },
    { name: 'Cc', values: formatted(recipients.cc) },
    { name: 'Bcc', values: formatted(recipients.bcc) },
    { name: 'Subject', values: [subject] },
    { name: 'References', values: references ?? [] },
    ...Object.entries(headers).map(([name, value]) => ({ name, values: [value] })),
    { name: autoSubmittedField, values: autoSubmitted === null ? [] : [autoSubmitted] },
  ].filter(({ values }) => values.length > 0)
}

/** The texts of a message in which the outbound guard searches, besides its files. */
export const searchedFields = (message: ComposedMessage, files: DeclaredFile[]): SearchedField[] => [
  ...composedFields(message).map(
    ({ name, values }): SearchedField => ({
      where: name === 'Subject' ? 'the subject' : `the header ${name}`,
      text: values.join('\n'),
      // Ids of messages are numbers too often to be searched for cards.
      form: name === 'References' ? 'ids' : 'line',
    }),
  ),
  { where: 'the names of the headers', text: Object.keys(message.headers).join('\n'), form: 'line' },
  { where: 'the text', text: message.text, form: 'text' },
  { where: 'the HTML', text: message.html, form: 'html' },
  { where: 'the names of the files', text: files.map(({ filename }) => filename).join('\n'), form: 'line' },
  {
    where: 'the types and content ids of the files',
    text: files.flatMap(({ content_type, content_id }) => [content_type, content_id ?? '']).join('\n'),
    form: 'line',
  },
]
