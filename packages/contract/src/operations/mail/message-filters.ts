// Filters by which messages are listed and waited for.
import Type from 'typebox'
import { addressCharactersMax, described, id, Timestamp } from '../../schema.ts'
import { waitFields } from '../waits.ts'

/** Folders that a list of messages can be limited to. */
export const messageFolders = ['inbox', 'archive', 'spam', 'trash', 'sent'] as const

export const listFilters = {
  folder: Type.Optional(
    Type.Unsafe<(typeof messageFolders)[number]>({
      type: 'string',
      enum: [...messageFolders],
      description:
        'inbox, archive and spam list the messages of threads in that folder, received and sent. sent lists every sent message, and trash every trashed message. Without it, only the trash is left out.',
    }),
  ),
  from: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: addressCharactersMax,
      description: 'The address of the sender, or words of its address or name. The last one may be the start of a word.',
    }),
  ),
  to: Type.Optional(Type.String({ minLength: 1, maxLength: addressCharactersMax, description: 'A recipient address.' })),
  subject: Type.Optional(
    Type.String({ minLength: 1, maxLength: 200, description: 'Words of the subject. The last one may be the start of a word.' }),
  ),
  after: Type.Optional(described(Timestamp, 'Only messages after this time.')),
  before: Type.Optional(described(Timestamp, 'Only messages before this time.')),
  thread_id: Type.Optional(described(id('thread'), 'Only messages of this thread.')),
}

export const waitFilters = {
  ...waitFields,
  from: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: addressCharactersMax,
      description:
        'The author in From, as an address, a domain with its subdomains, or a part of the address or name. A message without exactly one author never matches.',
    }),
  ),
  to: Type.Optional(
    Type.String({ minLength: 1, maxLength: addressCharactersMax, description: 'A recipient address, such as one of yours with a +tag.' }),
  ),
  subject: Type.Optional(Type.String({ minLength: 1, maxLength: 200, description: 'Part of the subject.' })),
  thread_id: Type.Optional(described(id('thread'), 'Only messages of this thread.')),
}
