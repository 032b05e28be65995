// Fields of drafts in requests, which null clears.
import Type from 'typebox'
import { AddressText, described, nullableString } from '../../schema.ts'
import { CustomHeaders, Html, recipientsMax, subjectCharactersMax, Text } from '../mail/outbound-mail.ts'

export const nullableAddresses = (description: string) =>
  Type.Unsafe<string | string[] | null>({
    anyOf: [AddressText, { type: 'array', items: AddressText, maxItems: recipientsMax }, { type: 'null' }],
    description,
  })
export const NullableSubject = nullableString({ maxLength: subjectCharactersMax, description: 'The subject, in one line. null clears it.' })
export const nullableText = (description: string) => nullableString({ maxLength: 10_000_000, description })
export const NullableHeaders = Type.Union([CustomHeaders, Type.Null()], {
  description: 'Further header fields of the message by name. They replace the earlier ones, and null removes all.',
})
/** The version of a draft that a request is about. */
export const DraftVersionNumber = Type.Integer({
  minimum: 1,
  description: 'The version that you have read. If the draft has changed since, the request is refused with 409.',
})
export const SendAt = nullableString({
  format: 'date-time',
  description: 'Sends the draft at this time, at most 366 days ahead. null ends the schedule.',
})

export const contentAliases = {
  text: Type.Optional(Text),
  body_text: Type.Optional(described(Text, 'Another name of text.')),
  html: Type.Optional(Html),
  body_html: Type.Optional(described(Html, 'Another name of html.')),
}
