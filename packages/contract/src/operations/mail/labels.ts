// Labels of a mailbox with their colors. Messages and threads may have labels that are not defined here.
import Type from 'typebox'
import { operation } from '../../operation.ts'
import { Cursor, Deleted, described, id, Limit, MailboxParam, page, strict, Timestamp } from '../../schema.ts'
import { ClientId, clientIdField } from '../client-id.ts'
import { Label } from '../metadata.ts'

/** The most labels of a mailbox. */
export const mailboxLabelsMax = 500

/** The color of a label without a color of its own. */
export const labelColorDefault = '#808080'

const Color = Type.String({ pattern: '^#[0-9a-fA-F]{6}$', description: 'A color as #RRGGBB.' })

export const MailboxLabel = Type.Object(
  {
    id: Type.String(),
    mailbox_id: Type.String(),
    name: Type.String({ description: 'The label as messages and threads have it.' }),
    color: Type.String(),
    client_id: clientIdField,
    created_at: Timestamp,
    updated_at: Timestamp,
  },
  { $id: 'MailboxLabel' },
)

const LabelName = described(Label, 'The label, as messages and threads have it.')

const labelsPath = '/api/v1/mailboxes/{email_address}/labels'
const mailboxParams = strict({ email_address: MailboxParam })
const labelParams = strict({ email_address: MailboxParam, label_id: id('label') })

export const createLabel = operation({
  id: 'createLabel',
  method: 'POST',
  path: labelsPath,
  summary: 'Defines a label with a color. A second label of the same name is rejected with 409.',
  tag: 'Labels',
  scopes: ['mail:write'],
  params: mailboxParams,
  body: strict({ name: LabelName, color: Type.Optional(Color), client_id: Type.Optional(ClientId) }),
  status: 201,
  reply: MailboxLabel,
  errors: ['conflict'],
  idempotent: true,
})

export const listLabels = operation({
  id: 'listLabels',
  method: 'GET',
  path: labelsPath,
  summary: 'Lists the labels of one mailbox, newest first.',
  tag: 'Labels',
  scopes: ['mail:read'],
  params: mailboxParams,
  query: strict({ limit: Limit, cursor: Cursor }),
  status: 200,
  reply: page(MailboxLabel),
})

export const updateLabel = operation({
  id: 'updateLabel',
  method: 'PATCH',
  path: `${labelsPath}/{label_id}`,
  summary: 'Changes the name or the color of a label. Messages and threads with the label get its new name.',
  tag: 'Labels',
  scopes: ['mail:write'],
  params: labelParams,
  body: strict({ name: Type.Optional(LabelName), color: Type.Optional(Color) }, { minProperties: 1 }),
  status: 200,
  reply: MailboxLabel,
  errors: ['conflict'],
})

export const deleteLabel = operation({
  id: 'deleteLabel',
  method: 'DELETE',
  path: `${labelsPath}/{label_id}`,
  summary: 'Deletes a label, and removes it from the messages and threads of the mailbox.',
  tag: 'Labels',
  scopes: ['mail:write'],
  params: labelParams,
  status: 200,
  reply: Deleted,
})
