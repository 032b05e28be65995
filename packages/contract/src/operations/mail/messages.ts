// Stored messages are read, listed, searched, flagged, labelled, trashed and deleted.
import Type from 'typebox'
import { operation } from '../../operation.ts'
import {
  Cursor,
  Deleted,
  described,
  HandleReference,
  id,
  Limit,
  MailboxParam,
  nullableString,
  nullableTimestamp,
  page,
  pageFields,
  strict,
} from '../../schema.ts'
import { Label, Labels, markChanges, markFilters, metadataField, tagsField } from '../metadata.ts'
import { WaitCursor } from '../waits.ts'
import { FlagType } from './flags.ts'
import { MessageStatus } from './message-delivery.ts'
import { listFilters, waitFilters } from './message-filters.ts'
import { Direction, itemFields, Message, MessageItem, viewField } from './message-views.ts'

const messageParams = strict({ email_address: MailboxParam, message_id: id('message') })
const mailboxParams = strict({ email_address: MailboxParam })

export const listMail = operation({
  id: 'listMail',
  method: 'GET',
  path: '/api/v1/mail/messages',
  summary: 'Lists messages of every mailbox that the key can access, newest first.',
  tag: 'Mail',
  scopes: ['mail:read'],
  query: strict({
    thread_id: Type.Optional(described(id('thread'), 'Only messages of this thread.')),
    agent: Type.Optional(HandleReference),
    direction: Type.Optional(described(Direction, 'inbound for received messages, outbound for sent ones.')),
    folder: listFilters.folder,
    ...markFilters,
    view: viewField,
    limit: Limit,
    cursor: Cursor,
  }),
  status: 200,
  reply: Type.Object(
    {
      messages: Type.Array(MessageItem, { description: 'The same items as `data`.' }),
      total: Type.Integer({ description: 'The number of messages on all pages.' }),
      ...pageFields(MessageItem),
    },
    { $id: 'MailList' },
  ),
  errors: ['not_found'],
})

const change = (description: string) => Type.Optional(Type.Boolean({ description }))
const labels = (description: string) => Type.Optional(described(Labels, description))
/** The changes of flags, labels, tags and metadata. */
export const flagChanges = {
  is_read: change('true marks as read, false as unread.'),
  is_starred: change('true sets the star, false removes it.'),
  labels: labels('Replaces all labels.'),
  add_labels: labels('Adds these labels.'),
  remove_labels: labels('Removes these labels.'),
  ...markChanges,
}

export const MessageFlags = Type.Object(
  {
    id: Type.String(),
    is_read: Type.Boolean(),
    is_starred: Type.Boolean(),
    labels: Type.Array(Type.String()),
    tags: tagsField,
    metadata: metadataField,
  },
  { $id: 'MessageFlags' },
)

export const listMessages = operation({
  id: 'listMessages',
  method: 'GET',
  path: '/api/v1/mailboxes/{email_address}/messages',
  summary: 'Lists the messages of one mailbox, newest first. Quarantined messages are listed only with status=quarantined.',
  tag: 'Messages',
  scopes: ['mail:read'],
  params: mailboxParams,
  query: strict({
    is_read: change('Only read messages, or only unread ones.'),
    is_starred: change('Only messages with a star, or only those without.'),
    is_trashed: Type.Optional(Type.Boolean({ description: 'true lists the trash, newest message first. It is left out otherwise.' })),
    direction: Type.Optional(described(Direction, 'inbound for received messages, outbound for sent ones.')),
    status: Type.Optional(described(MessageStatus, 'The state of receipt or delivery.')),
    label: Type.Optional(described(Label, 'Only messages with this label.')),
    flag: Type.Optional(described(FlagType, 'Only messages with a flag of this type.')),
    ...listFilters,
    ...markFilters,
    view: viewField,
    limit: Limit,
    cursor: Cursor,
  }),
  status: 200,
  reply: page(MessageItem),
})

export const waitForMessage = operation({
  id: 'waitForMessage',
  method: 'GET',
  path: '/api/v1/mailboxes/{email_address}/wait',
  summary: 'Waits for the next message that passes every filter. message is null if none arrives in time.',
  tag: 'Messages',
  scopes: ['mail:read'],
  params: mailboxParams,
  query: strict(waitFilters),
  status: 200,
  reply: Type.Object({ message: Type.Union([Message, Type.Null()]), cursor: WaitCursor }, { $id: 'MessageWait' }),
})

export const getMessage = operation({
  id: 'getMessage',
  method: 'GET',
  path: '/api/v1/mailboxes/{email_address}/messages/{message_id}',
  summary: 'Gets one message.',
  tag: 'Messages',
  scopes: ['mail:read'],
  params: messageParams,
  status: 200,
  reply: Message,
})

export const updateMessage = operation({
  id: 'updateMessage',
  method: 'PATCH',
  path: '/api/v1/mailboxes/{email_address}/messages/{message_id}',
  summary: 'Sets flags, labels, tags and metadata. At least one field is required.',
  tag: 'Messages',
  scopes: ['mail:write'],
  params: messageParams,
  body: strict(flagChanges, { minProperties: 1 }),
  status: 200,
  reply: MessageFlags,
})

export const deleteMessage = operation({
  id: 'deleteMessage',
  method: 'DELETE',
  path: '/api/v1/mailboxes/{email_address}/messages/{message_id}',
  summary: 'Deletes a message and its attachments permanently. Idempotent.',
  tag: 'Messages',
  scopes: ['mail:write'],
  params: messageParams,
  status: 200,
  reply: Deleted,
})

const TrashedMessage = Type.Object(
  { id: Type.String(), thread_id: Type.String(), trashed_at: nullableTimestamp },
  { $id: 'TrashedMessage' },
)

export const trashMessage = operation({
  id: 'trashMessage',
  method: 'POST',
  path: '/api/v1/mailboxes/{email_address}/messages/{message_id}/trash',
  summary: 'Moves a message to the trash, where it stays for 30 days. Idempotent.',
  tag: 'Messages',
  scopes: ['mail:write'],
  params: messageParams,
  status: 200,
  reply: TrashedMessage,
  errors: ['conflict'],
  idempotent: true,
})

export const restoreMessage = operation({
  id: 'restoreMessage',
  method: 'POST',
  path: '/api/v1/mailboxes/{email_address}/messages/{message_id}/restore',
  summary: 'Takes a message out of the trash. A message that is not in the trash does not change.',
  tag: 'Messages',
  scopes: ['mail:write'],
  params: messageParams,
  status: 200,
  reply: TrashedMessage,
  errors: ['conflict'],
  idempotent: true,
})

export const getRawMessage = operation({
  id: 'getRawMessage',
  method: 'GET',
  path: '/api/v1/mailboxes/{email_address}/messages/{message_id}/raw',
  summary: 'Gets the raw message (RFC 5322).',
  tag: 'Messages',
  scopes: ['mail:read'],
  params: messageParams,
  status: 200,
  media: 'message/rfc822',
})

export const releaseMessage = operation({
  id: 'releaseMessage',
  method: 'POST',
  path: '/api/v1/mailboxes/{email_address}/messages/{message_id}/release',
  summary:
    'Releases a message from quarantine. It is listed from then on, and email.received is emitted. A message that is not quarantined does not change. Organization keys only.',
  tag: 'Messages',
  scopes: ['quarantine:release'],
  params: messageParams,
  status: 200,
  reply: Type.Object(
    { id: Type.String(), thread_id: Type.String(), status: MessageStatus, released_at: nullableTimestamp },
    { $id: 'ReleasedMessage' },
  ),
  idempotent: true,
})

export const searchMessages = operation({
  id: 'searchMessages',
  method: 'GET',
  path: '/api/v1/mailboxes/{email_address}/search',
  summary: 'Searches subject, addresses and text, newest first. Quote phrases, exclude words with -, and combine alternatives with OR.',
  tag: 'Messages',
  scopes: ['mail:read'],
  params: mailboxParams,
  query: strict({
    q: Type.String({ minLength: 1, maxLength: 500, description: 'Words, with "phrases", -exclusions and OR.' }),
    ...markFilters,
    view: viewField,
    limit: Limit,
    cursor: Cursor,
  }),
  status: 200,
  reply: page(
    Type.Object(
      {
        ...itemFields,
        highlights: Type.Object({
          subject: nullableString({ description: 'The subject, HTML-escaped, with <mark> around each match.' }),
          text: nullableString({ description: 'Fragments of the text, HTML-escaped, with <mark> around each match.' }),
        }),
      },
      { $id: 'SearchHit' },
    ),
  ),
})
