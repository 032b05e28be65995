// Threads are listed, searched, sorted into folders, labelled and deleted.
import Type from 'typebox'
import { operation } from '../../operation.ts'
import {
  addressCharactersMax,
  Cursor,
  described,
  HandleReference,
  id,
  Limit,
  MailboxParam,
  nullableTimestamp,
  page,
  strict,
  Timestamp,
} from '../../schema.ts'
import { Label, MetadataChange, metadataField, metadataFilter } from '../metadata.ts'
import { MessageItem, viewField } from './message-views.ts'
import { flagChanges } from './messages.ts'

/** Folders that a thread can be moved to. */
export const movableFolders = ['inbox', 'archive', 'spam', 'trash'] as const
const folders = [...movableFolders, 'sent'] as const
/** Folders that a list can be limited to. */
export const listedFolders = [...folders, 'scheduled'] as const

const threadFields = {
  id: Type.String(),
  mailbox_id: Type.String(),
  subject: Type.String(),
  snippet: Type.String(),
  folder: Type.Unsafe<(typeof folders)[number]>({
    type: 'string',
    enum: [...folders],
    description: 'sent for a thread without a received message. trash if all of its messages are in the trash.',
  }),
  labels: Type.Array(Type.String()),
  metadata: metadataField,
  participants: Type.Array(Type.String(), { description: 'Authors and recipients in lower case, at most 100.' }),
  senders: Type.Array(Type.String(), { description: 'Authors in lower case, of the latest 100 messages.' }),
  recipients: Type.Array(Type.String(), { description: 'Recipients in lower case, of the latest 100 messages.' }),
  size_bytes: Type.Integer({ description: 'The size of the latest 100 messages.' }),
  last_message_id: Type.String(),
  last_received_at: nullableTimestamp,
  last_sent_at: nullableTimestamp,
  message_count: Type.Integer(),
  unread_count: Type.Integer(),
  last_message_at: Timestamp,
  created_at: Timestamp,
  /** The summary of the latest message, in lists that ask for it. */
  last_message: Type.Optional(MessageItem),
}

export const Thread = Type.Object(threadFields, { $id: 'Thread' })
const ThreadWithMessages = Type.Object({ ...threadFields, messages: Type.Array(MessageItem) }, { $id: 'ThreadWithMessages' })

const threadFilters = {
  folder: Type.Optional(
    Type.Unsafe<(typeof listedFolders)[number]>({
      type: 'string',
      enum: [...listedFolders],
      description:
        'Without it, spam and trash are left out. sent lists every thread with a sent message, and scheduled every thread with a scheduled draft.',
    }),
  ),
  label: Type.Optional(described(Label, 'Only threads with this label.')),
  ...metadataFilter,
  is_unread: Type.Optional(Type.Boolean({ description: 'true lists only threads with unread messages, false only the others.' })),
  participant: Type.Optional(
    Type.String({ minLength: 3, maxLength: addressCharactersMax, description: 'The address of an author or recipient.' }),
  ),
  subject: Type.Optional(Type.String({ minLength: 1, maxLength: 200, description: 'Part of the subject.' })),
  after: Type.Optional(Type.String({ format: 'date-time', description: 'Only threads with a later latest message.' })),
  before: Type.Optional(Type.String({ format: 'date-time', description: 'Only threads with an earlier latest message.' })),
  q: Type.Optional(
    Type.String({ minLength: 1, maxLength: 500, description: 'Words in a message of the thread, with the operators of message search.' }),
  ),
  with_last_message: Type.Optional(
    Type.Boolean({ description: 'true adds `last_message`, the summary of the latest message, to each thread.' }),
  ),
  limit: Limit,
  cursor: Cursor,
}

export const listThreads = operation({
  id: 'listThreads',
  method: 'GET',
  path: '/api/v1/mailboxes/{email_address}/threads',
  summary: 'Lists the threads of one mailbox, latest message first.',
  tag: 'Threads',
  scopes: ['mail:read'],
  params: strict({ email_address: MailboxParam }),
  query: strict(threadFilters),
  status: 200,
  reply: page(Thread),
})

export const listAllThreads = operation({
  id: 'listAllThreads',
  method: 'GET',
  path: '/api/v1/threads',
  summary: 'Lists the threads of every mailbox that the key can access, latest message first.',
  tag: 'Threads',
  scopes: ['mail:read'],
  query: strict({ agent: Type.Optional(HandleReference), ...threadFilters }),
  status: 200,
  reply: page(Thread),
  errors: ['not_found'],
})

export const getThread = operation({
  id: 'getThread',
  method: 'GET',
  path: '/api/v1/mailboxes/{email_address}/threads/{thread_id}',
  summary: 'Gets one thread with its messages, oldest first (the latest 100).',
  tag: 'Threads',
  scopes: ['mail:read'],
  params: strict({ email_address: MailboxParam, thread_id: id('thread') }),
  query: strict({ view: viewField }),
  status: 200,
  reply: ThreadWithMessages,
})

const threadParams = strict({ thread_id: id('thread') })

export const getThreadById = operation({
  id: 'getThreadById',
  method: 'GET',
  path: '/api/v1/threads/{thread_id}',
  summary: 'Gets one thread of any mailbox that the key can access, with its messages, oldest first (the latest 100).',
  tag: 'Threads',
  scopes: ['mail:read'],
  params: threadParams,
  query: strict({ view: viewField }),
  status: 200,
  reply: ThreadWithMessages,
})

const { is_read, labels, add_labels, remove_labels } = flagChanges

export const updateThread = operation({
  id: 'updateThread',
  method: 'PATCH',
  path: '/api/v1/threads/{thread_id}',
  summary:
    'Moves a thread to a folder, marks its messages as read or unread, and changes its labels and metadata. At least one field is required.',
  tag: 'Threads',
  scopes: ['mail:write'],
  params: threadParams,
  body: strict(
    {
      folder: Type.Optional(
        Type.Unsafe<(typeof movableFolders)[number]>({
          type: 'string',
          enum: [...movableFolders],
          description: 'Moves the thread to this folder.',
        }),
      ),
      is_read,
      labels,
      add_labels,
      remove_labels,
      metadata: Type.Optional(MetadataChange),
    },
    { minProperties: 1 },
  ),
  status: 200,
  reply: Thread,
})

export const deleteThread = operation({
  id: 'deleteThread',
  method: 'DELETE',
  path: '/api/v1/threads/{thread_id}',
  summary: 'Moves a thread to the trash, where it stays for 30 days, or deletes it permanently. Idempotent.',
  tag: 'Threads',
  scopes: ['mail:write'],
  params: threadParams,
  query: strict({ permanent: Type.Optional(Type.Boolean({ description: 'true deletes the messages at once. This cannot be undone.' })) }),
  status: 200,
  reply: Type.Object({ id: Type.String(), deleted: Type.Literal(true), permanent: Type.Boolean() }, { $id: 'DeletedThread' }),
})

export const restoreThread = operation({
  id: 'restoreThread',
  method: 'POST',
  path: '/api/v1/threads/{thread_id}/restore',
  summary: 'Takes the messages of a thread out of the trash. The thread returns to the folder where it was.',
  tag: 'Threads',
  scopes: ['mail:write'],
  params: threadParams,
  status: 200,
  reply: Thread,
  idempotent: true,
})
