// The addresses of an identity. One of them is the primary address, from which its mail is sent by default.
import Type from 'typebox'
import { operation } from '../../operation.ts'
import { Cursor, Deleted, Limit, nullableString, page, strict, Timestamp } from '../../schema.ts'
import { ClientId, clientIdField } from '../client-id.ts'

/** Addresses per identity. */
export const addressesMax = 100

export const Address = Type.Object(
  {
    id: Type.String(),
    email_address: Type.String(),
    local_part: Type.String(),
    domain: Type.String(),
    custom_domain_id: nullableString({ description: 'null for the mail domain.' }),
    agent_handle: Type.String(),
    is_primary: Type.Boolean({ description: 'Mail of the agent is from the primary address, unless it names another one.' }),
    is_catch_all: Type.Boolean({ description: 'Mail to addresses that do not exist on the domain goes to this agent.' }),
    client_id: clientIdField,
    created_at: Timestamp,
  },
  { $id: 'Address' },
)

/** The part of an address before the @. The server checks its form and answers 400 with the name of the field. */
export const LocalPart = Type.String({
  minLength: 1,
  maxLength: 64,
  description: 'The part before the @, in lower case: letters, digits, and dots, hyphens or underscores between them. Must not contain +.',
})

const addressesPath = '/api/v1/identities/{handle}/addresses'
const handleParams = { handle: Type.String({ minLength: 1, description: 'The agent handle, or the identity id.' }) }
const addressParams = strict({ ...handleParams, email_address: Type.String({ minLength: 3, description: 'A full address of the agent.' }) })

export const createAddress = operation({
  id: 'createAddress',
  method: 'POST',
  path: addressesPath,
  summary: 'Adds an address to an identity. local_part is * for the catch-all address of a custom domain, and generated if you omit it.',
  tag: 'Addresses',
  scopes: ['identities:write'],
  params: strict(handleParams),
  body: strict({
    local_part: Type.Optional(LocalPart),
    custom_domain_id: Type.Optional(nullableString({ description: 'A verified custom domain, by its id.' })),
    domain: Type.Optional(
      nullableString({
        maxLength: 253,
        description: 'A verified custom domain or the mail domain, by its name. Defaults to the default domain.',
      }),
    ),
    is_primary: Type.Optional(Type.Boolean({ description: 'true makes it the primary address.' })),
    client_id: Type.Optional(ClientId),
  }),
  status: 201,
  reply: Address,
  errors: ['address_already_taken', 'conflict'],
  idempotent: true,
})

export const listAddresses = operation({
  id: 'listAddresses',
  method: 'GET',
  path: addressesPath,
  summary: 'Lists the addresses of an identity, newest first. An agent can read its own addresses.',
  tag: 'Addresses',
  scopes: ['identities:read'],
  params: strict(handleParams),
  query: strict({ limit: Limit, cursor: Cursor }),
  status: 200,
  reply: page(Address),
})

export const setPrimaryAddress = operation({
  id: 'setPrimaryAddress',
  method: 'POST',
  path: `${addressesPath}/{email_address}/set-primary`,
  summary: 'Makes an address the primary one. The agent keeps the address before it.',
  tag: 'Addresses',
  scopes: ['identities:write'],
  params: addressParams,
  status: 200,
  reply: Address,
  errors: ['conflict'],
})

export const deleteAddress = operation({
  id: 'deleteAddress',
  method: 'DELETE',
  path: `${addressesPath}/{email_address}`,
  summary: 'Deletes an address, except the primary one. Only this organization can create it again. Idempotent.',
  tag: 'Addresses',
  scopes: ['identities:write'],
  params: addressParams,
  status: 200,
  reply: Deleted,
  errors: ['conflict'],
})
