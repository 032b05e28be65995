// Drafts of one mailbox, and of every mailbox that a key can access.
import Type from 'typebox'
import { operation } from '../../operation.ts'
import { Cursor, HandleReference, id, Limit, MailboxParam, page, pageFields, strict } from '../../schema.ts'
import { Draft } from './drafts.ts'

export const listDrafts = operation({
  id: 'listDrafts',
  method: 'GET',
  path: '/api/v1/mailboxes/{email_address}/drafts',
  summary: 'Lists the drafts of one mailbox, newest update first. count is the total number.',
  tag: 'Drafts',
  scopes: ['drafts:read'],
  params: strict({ email_address: MailboxParam }),
  query: strict({
    limit: Limit,
    offset: Type.Optional(
      Type.Integer({ minimum: 0, maximum: 2_147_483_647, default: 0, description: 'Number of drafts to skip, counted from the cursor.' }),
    ),
    cursor: Cursor,
  }),
  status: 200,
  reply: Type.Object(
    {
      drafts: Type.Array(Draft, { description: 'The same items as `data`.' }),
      count: Type.Integer({ description: 'The number of drafts on all pages.' }),
      limit: Type.Integer(),
      offset: Type.Integer(),
      ...pageFields(Draft),
    },
    { $id: 'DraftList' },
  ),
})

export const listAllDrafts = operation({
  id: 'listAllDrafts',
  method: 'GET',
  path: '/api/v1/drafts',
  summary: 'Lists the drafts of every mailbox that the key can access, newest first.',
  tag: 'Drafts',
  scopes: ['drafts:read'],
  query: strict({
    agent: Type.Optional(HandleReference),
    thread_id: Type.Optional(Type.Unsafe<string>({ ...id('thread'), description: 'Only drafts that answer a message of this thread.' })),
    limit: Limit,
    cursor: Cursor,
  }),
  status: 200,
  reply: page(Draft),
  errors: ['not_found'],
})

export const getDraftById = operation({
  id: 'getDraftById',
  method: 'GET',
  path: '/api/v1/drafts/{draft_id}',
  summary: 'Gets one draft of any mailbox that the key can access, with its attachments.',
  tag: 'Drafts',
  scopes: ['drafts:read'],
  params: strict({ draft_id: id('draft') }),
  status: 200,
  reply: Draft,
})
