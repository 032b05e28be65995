// Agent identities and their mailboxes.
import Type from 'typebox'
import { operation } from '../../operation.ts'
import { Cursor, Handle, Limit, MailboxParam, nullableString, page, strict, Timestamp } from '../../schema.ts'
import { LocalUrl, PublicUrl } from '../../tunnel/tunnels.ts'
import { ClientId, clientIdField } from '../client-id.ts'
import { MailMode } from '../mail-settings/mail-rules.ts'
import { Metadata, MetadataChange, metadataField, metadataFilter } from '../metadata.ts'
import { LocalPart } from './addresses.ts'
import { SendingLimits, SendingLimitsChange } from './sending-limits.ts'
import { Retention, RetentionChange, StorageQuota } from './storage.ts'

const TunnelStatus = Type.Unsafe<'active' | 'suspended' | 'disabled'>({ type: 'string', enum: ['active', 'suspended', 'disabled'] })

/** With `required`, this agent's own key writes drafts, and only an organization key sends them. */
const DraftApproval = Type.Unsafe<'none' | 'required'>({
  type: 'string',
  enum: ['none', 'required'],
  description: "If required, this agent's key can write drafts, and only an organization key can send them.",
})

/** Maximum characters of the instructions of an identity. */
export const instructionsCharactersMax = 10_000

/** Maximum patterns of the outbound guard per identity. */
export const guardPatternsMax = 20

const OutboundGuard = Type.Unsafe<'off' | 'flag' | 'hold'>({
  type: 'string',
  enum: ['off', 'flag', 'hold'],
  description: 'Searches outgoing mail for secrets. flag marks the message, hold also requires approval.',
})
const GuardPatterns = Type.Array(Type.String({ minLength: 1, maxLength: 200 }), {
  maxItems: guardPatternsMax,
  description: 'Further texts that the outbound guard searches for, as regular expressions in the syntax of RE2.',
})

/** Settings of the wake guard. null turns it off. */
const WakeLimit = Type.Union(
  [
    strict({
      events: Type.Integer({ minimum: 1, maximum: 1000, description: 'Events per sender and window.' }),
      window_seconds: Type.Integer({ minimum: 1, maximum: 86_400, description: 'The length of a window in seconds.' }),
    }),
    Type.Null(),
  ],
  {
    description:
      'Limits email.received per sender. Further messages of a window are announced together by one event at its end, with `coalesced`.',
  },
)

export const Identity = Type.Object(
  {
    id: Type.String(),
    agent_handle: Type.String(),
    display_name: Type.String(),
    description: nullableString(),
    instructions: nullableString({
      description: 'Instructions of yours for the program that acts as the agent. The server does not follow them.',
    }),
    mailbox_address: Type.String({ description: 'The primary address.' }),
    addresses: Type.Array(Type.String(), { description: 'Every address, the primary one first.' }),
    status: Type.Literal('active'),
    mailbox: Type.Object({ id: Type.String(), email_address: Type.String() }),
    tunnel: Type.Object({ id: Type.String(), public_url: PublicUrl, local_url: LocalUrl, status: TunnelStatus }),
    custom_domain_id: nullableString(),
    client_id: clientIdField,
    metadata: metadataField,
    draft_approval: DraftApproval,
    inbound_mode: MailMode,
    outbound_mode: MailMode,
    sending_limits: SendingLimits,
    outbound_guard: OutboundGuard,
    outbound_guard_patterns: GuardPatterns,
    wake_limit: WakeLimit,
    storage_quota_bytes: StorageQuota,
    retention: Retention,
    created_at: Timestamp,
    updated_at: Timestamp,
  },
  { $id: 'Identity' },
)

const DisplayName = Type.String({
  maxLength: 200,
  pattern: '^[^\\u0000-\\u001f\\u007f]*$',
  description: 'Shown in email headers. Must not contain control characters.',
})
const Description = Type.Unsafe<string | null>({
  type: ['string', 'null'],
  maxLength: 2000,
  description: 'A note for people.',
})
const handleParams = strict({ handle: Type.String({ minLength: 1, description: 'The agent handle, or the identity id.' }) })

export const createIdentity = operation({
  id: 'createIdentity',
  method: 'POST',
  path: '/api/v1/identities',
  summary: 'Creates an agent identity with its mailbox and tunnel.',
  tag: 'Identity and caller',
  scopes: ['identities:write'],
  body: strict({
    agent_handle: Handle,
    display_name: Type.Optional(DisplayName),
    description: Type.Optional(Description),
    custom_domain_id: Type.Optional(nullableString({ description: 'The verified domain of the mailbox, by its id.' })),
    domain: Type.Optional(
      nullableString({ maxLength: 253, description: 'The verified domain of the mailbox, by its name. By default the default domain.' }),
    ),
    local_part: Type.Optional(LocalPart),
    client_id: Type.Optional(ClientId),
    metadata: Type.Optional(Metadata),
    draft_approval: Type.Optional(DraftApproval),
    inbound_mode: Type.Optional(MailMode),
    outbound_mode: Type.Optional(MailMode),
  }),
  status: 201,
  reply: Identity,
  errors: ['handle_already_taken', 'address_already_taken', 'not_found'],
  idempotent: true,
})

export const listIdentities = operation({
  id: 'listIdentities',
  method: 'GET',
  path: '/api/v1/identities',
  summary: 'Lists identities, newest first.',
  tag: 'Identity and caller',
  scopes: ['identities:read'],
  query: strict({ ...metadataFilter, limit: Limit, cursor: Cursor }),
  status: 200,
  reply: page(Identity),
})

export const getIdentity = operation({
  id: 'getIdentity',
  method: 'GET',
  path: '/api/v1/identities/{handle}',
  summary: 'Gets one identity.',
  tag: 'Identity and caller',
  scopes: ['identities:read'],
  params: handleParams,
  status: 200,
  reply: Identity,
})

export const updateIdentity = operation({
  id: 'updateIdentity',
  method: 'PATCH',
  path: '/api/v1/identities/{handle}',
  summary: 'Changes display name, domain, description, instructions, draft approval or mail modes. The handle is permanent.',
  tag: 'Identity and caller',
  scopes: ['identities:write'],
  params: handleParams,
  body: strict(
    {
      display_name: Type.Optional(DisplayName),
      description: Type.Optional(Description),
      custom_domain_id: Type.Optional(
        nullableString({ description: 'Moves the mailbox to this verified domain. null moves it to the mail domain.' }),
      ),
      instructions: Type.Optional(
        nullableString({
          maxLength: instructionsCharactersMax,
          description: 'Instructions for the program that acts as the agent. The server does not follow them.',
        }),
      ),
      draft_approval: Type.Optional(DraftApproval),
      inbound_mode: Type.Optional(MailMode),
      outbound_mode: Type.Optional(MailMode),
      sending_limits: Type.Optional(SendingLimitsChange),
      outbound_guard: Type.Optional(OutboundGuard),
      outbound_guard_patterns: Type.Optional(GuardPatterns),
      wake_limit: Type.Optional(WakeLimit),
      storage_quota_bytes: Type.Optional(StorageQuota),
      retention: Type.Optional(RetentionChange),
      metadata: Type.Optional(MetadataChange),
    },
    { minProperties: 1 },
  ),
  status: 200,
  reply: Identity,
  errors: ['address_already_taken'],
})

export const deleteIdentity = operation({
  id: 'deleteIdentity',
  method: 'DELETE',
  path: '/api/v1/identities/{handle}',
  summary: 'Deletes an identity with its mailbox, messages, tunnel and keys. Its handle stays reserved.',
  tag: 'Identity and caller',
  scopes: ['identities:write'],
  params: handleParams,
  status: 204,
})

export const Mailbox = Type.Object(
  {
    id: Type.String(),
    email_address: Type.String(),
    agent_handle: Type.String(),
    agent_identity_id: Type.String(),
    display_name: Type.String(),
    created_at: Timestamp,
    updated_at: Timestamp,
  },
  { $id: 'Mailbox' },
)

export const listMailboxes = operation({
  id: 'listMailboxes',
  method: 'GET',
  path: '/api/v1/mailboxes',
  summary: 'Lists mailboxes, newest first.',
  tag: 'Mailboxes',
  scopes: ['identities:read'],
  query: strict({ limit: Limit, cursor: Cursor }),
  status: 200,
  reply: page(Mailbox),
})

export const getMailbox = operation({
  id: 'getMailbox',
  method: 'GET',
  path: '/api/v1/mailboxes/{email_address}',
  summary: 'Gets one mailbox.',
  tag: 'Mailboxes',
  scopes: ['identities:read'],
  params: strict({ email_address: MailboxParam }),
  status: 200,
  reply: Mailbox,
})
