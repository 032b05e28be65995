// Filters by which messages are listed and waited for.
import Type from 'typebox'
import { id, Timestamp } from './schema.ts'
import { waitFields } from './waits.ts'

export const listFilters = {
  from: Type.Optional(Type.String({ minLength: 1, maxLength: 320, description: 'Part of the sender address or name.' })),
  to: Type.Optional(Type.String({ minLength: 1, maxLength: 320, description: 'A recipient address.' })),
  subject: Type.Optional(Type.String({ minLength: 1, maxLength: 200, description: 'Part of the subject.' })),
  after: Type.Optional(Timestamp),
  before: Type.Optional(Timestamp),
  thread_id: Type.Optional(id('thread')),
}

export const waitFilters = {
  ...waitFields,
  from: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 320,
      description:
        'The author in From, as an address, a domain with its subdomains, or a part of the address or name. A message without exactly one author never matches.',
    }),
  ),
  to: Type.Optional(Type.String({ minLength: 1, maxLength: 320, description: 'A recipient address, such as one of yours with a +tag.' })),
  subject: Type.Optional(Type.String({ minLength: 1, maxLength: 200, description: 'Part of the subject.' })),
  thread_id: Type.Optional(id('thread')),
}
