// The caller's organization: its limits for sending, and the pause of all sending.
import Type from 'typebox'
import { operation } from '../../operation.ts'
import { nullableString, strict, Timestamp } from '../../schema.ts'
import { MailMode } from '../mail-settings/mail-rules.ts'
import { SendingLimits, SendingLimitsChange } from './sending-limits.ts'
import { OrganizationRetention, OrganizationRetentionChange, StorageQuota } from './storage.ts'

export const Organization = Type.Object(
  {
    id: Type.String(),
    name: Type.String(),
    paused_at: nullableString({ format: 'date-time', description: 'The time since when all sending is paused. null while it is not.' }),
    pause_reason: nullableString(),
    sending_limits: SendingLimits,
    key_sending_limits: SendingLimits,
    storage_quota_bytes: StorageQuota,
    retention: OrganizationRetention,
    inbound_mode: MailMode,
    outbound_mode: MailMode,
    created_at: Timestamp,
  },
  { $id: 'Organization' },
)

export const getOrganization = operation({
  id: 'getOrganization',
  method: 'GET',
  path: '/api/v1/organization',
  summary: 'Gets the organization of the key, with its limits, its retention and its pause.',
  tag: 'Identity and caller',
  scopes: ['organization:read'],
  status: 200,
  reply: Organization,
})

export const updateOrganization = operation({
  id: 'updateOrganization',
  method: 'PATCH',
  path: '/api/v1/organization',
  summary: 'Changes the limits of the organization, of each of its keys, its retention, or the mail modes of every agent.',
  tag: 'Identity and caller',
  scopes: ['organization:write'],
  body: strict(
    {
      sending_limits: Type.Optional(SendingLimitsChange),
      key_sending_limits: Type.Optional(SendingLimitsChange),
      storage_quota_bytes: Type.Optional(StorageQuota),
      retention: Type.Optional(OrganizationRetentionChange),
      inbound_mode: Type.Optional(MailMode),
      outbound_mode: Type.Optional(MailMode),
    },
    { minProperties: 1 },
  ),
  status: 200,
  reply: Organization,
})

export const pauseOrganization = operation({
  id: 'pauseOrganization',
  method: 'POST',
  path: '/api/v1/organization/pause',
  summary: 'Stops all sending of mail and iMessages at once. Further messages are accepted and held.',
  tag: 'Identity and caller',
  scopes: ['organization:write'],
  body: strict({
    reason: Type.Optional(Type.String({ maxLength: 500, description: 'The reason, which people and refused programs read.' })),
  }),
  bodyOptional: true,
  status: 200,
  reply: Organization,
})

export const resumeOrganization = operation({
  id: 'resumeOrganization',
  method: 'POST',
  path: '/api/v1/organization/resume',
  summary: 'Ends the pause. Held messages are sent.',
  tag: 'Identity and caller',
  scopes: ['organization:write'],
  status: 200,
  reply: Organization,
})
