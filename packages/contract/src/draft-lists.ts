// Drafts of every mailbox that a key can access.
import Type from 'typebox'
import { Draft } from './drafts.ts'
import { operation } from './operation.ts'
import { Cursor, HandleReference, id, Limit, page, strict } from './schema.ts'

export const listAllDrafts = operation({
  id: 'listAllDrafts',
  method: 'GET',
  path: '/api/v1/drafts',
  summary: 'Lists the drafts of every mailbox that the key can access, newest first.',
  tag: 'Drafts',
  scopes: ['drafts:read'],
  query: strict({ agent: Type.Optional(HandleReference), limit: Limit, cursor: Cursor }),
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
