// Sample values of the API reference. A sample of a schema is a reply that the server could give.
import type { TSchema } from 'typebox'
import { type IdKind, idPrefixes } from '../ids.ts'
import type { JsonSchema } from '../openapi-types.ts'

/** An id of this kind that no server has made. */
export const sampleId = (kind: IdKind): string => `${idPrefixes[kind]}_01kq2x9c7hfm4t8e5v3n6w1rzb`

/** Base64 of a blob as docs/vault.md describes it, of the size of a wrapped key. Its bytes are no ciphertext of anything. */
export const sampleBlob = `AQE${'q7Zk3vQ1xw8uJ5dR0hT7yBnE2aLp'.repeat(3)}`.slice(0, 83).concat('=')
export const sampleSalt = 'c2FtcGxlIHNhbHQgb2YgMTYh'
export const sampleHash = '9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08'

const address = 'sales@agents.example.com'
const time = '2026-03-02T09:30:00.000Z'

/** The values of path parameters, for operations that give none of their own. */
export const pathSamples: Record<string, string> = {
  handle: 'sales',
  email_address: 'sales',
  message_id: sampleId('message'),
  link_id: sampleId('messageShare'),
  thread_id: sampleId('thread'),
  draft_id: sampleId('draft'),
  domain_id: sampleId('domain'),
  rule_id: sampleId('mailRule'),
  delivery_id: sampleId('delivery'),
  conversation_id: sampleId('conversation'),
  tunnel_request_id: sampleId('tunnelRequest'),
  id: '+12125550123',
}

/** Fields with the same meaning in every schema. */
const fieldSamples: Record<string, unknown> = {
  agent_handle: 'sales',
  agent_id: sampleId('identity'),
  agent_identity_id: sampleId('identity'),
  answer: '250 2.0.0 Ok: queued as 4fXk2q',
  content_type: 'application/pdf',
  count: 1,
  created_by: sampleId('key'),
  display_name: 'Sales Agent',
  domain: 'mail.example.com',
  duration_ms: 38,
  email_address: address,
  encrypted_payload: sampleBlob,
  enhanced_status: '2.0.0',
  event_id: sampleId('event'),
  event_type: 'email.received',
  filename: 'invoice.pdf',
  identity_id: sampleId('identity'),
  kdf_salt: sampleSalt,
  key_id: sampleId('vaultKey'),
  key_version: 1,
  last4: 'x7Qd',
  mailbox_id: sampleId('mailbox'),
  message_id: sampleId('message'),
  organization_id: sampleId('organization'),
  organization_name: 'Example',
  phone_number: '+12125550123',
  phone_number_id: sampleId('phoneNumber'),
  provider_message_id: 'sim-7f3a',
  public_url: 'https://sales.tunnel.example.com',
  local_url: null,
  request_id: sampleId('request'),
  revision: 3,
  size_bytes: 18_204,
  snippet: 'Do you ship to Norway?',
  subject: 'A question',
  text: 'Do you ship to Norway?',
  thread_id: sampleId('thread'),
  total: 1,
  tunnel_id: sampleId('tunnel'),
  user_id: sampleId('user'),
  vault_id: sampleId('vault'),
  webhook_id: sampleId('webhook'),
  wrapped_org_key: sampleBlob,
}

const record = (type: 'MX' | 'TXT', name: string, value: string, purpose: string, more: Record<string, unknown> = {}) => ({
  type,
  name,
  value,
  ...more,
  status: 'valid',
  purpose,
  required: true,
})
const domainSample = {
  id: sampleId('domain'),
  status: 'verified',
  provider: 'builtin',
  provider_domain_id: null,
  dns_records: [
    record('MX', 'mail.example.com', 'agents.example.com', 'mx', { priority: 10 }),
    record('TXT', 'mail.example.com', 'v=spf1 mx -all', 'spf'),
  ],
  verified_at: time,
}
const messageSample = {
  id: sampleId('message'),
  direction: 'inbound',
  status: 'received',
  from: 'Ada <ada@example.com>',
  to: [address],
  extracted_text: 'Do you ship to Norway?',
  html: '',
  message_id: '<1@example.com>',
  size_bytes: 1_204,
}
const templateSample = {
  id: sampleId('template'),
  name: 'Order shipped',
  alias: 'order-shipped',
  status: 'published',
  has_unpublished_changes: false,
}
const webhookSample = { id: sampleId('webhook'), url: 'https://agent.example.com/hooks', events: ['email.received', 'sms.received'] }
const deliverySample = { id: sampleId('delivery'), status: 'delivered', attempt_count: 1, last_status_code: 204, delivered_at: time }
const keySample = { id: sampleId('key'), name: 'Sales in production', type: 'agent', agent_handle: 'sales' }
const draftSample = { id: sampleId('draft'), to: ['ada@example.com'], subject: 'Your order 1042', text: 'It ships tomorrow.', version: 1 }
const vaultSample = { id: sampleId('vault'), secrets_count: 4, recovery_keys_remaining: 3 }
const secretSample = { id: sampleId('vaultSecret'), type: 'login', name: 'bank' }
const threadSample = {
  id: sampleId('thread'),
  senders: ['ada@example.com'],
  recipients: [address],
  last_message_id: sampleId('message'),
  message_count: 3,
  last_message_at: time,
}

/** Fields that one schema has samples of its own for, by the `$id` of the schema. */
const schemaSamples: Record<string, Record<string, unknown>> = {
  AuditEntry: {
    id: sampleId('audit'),
    action: 'domain.created',
    actor_type: 'key',
    actor_id: sampleId('key'),
    target_id: sampleId('domain'),
    details: { domain: 'mail.example.com' },
  },
  ApiRequest: {
    id: sampleId('request'),
    method: 'POST',
    path: '/api/v1/mailboxes/{email_address}/messages',
    operation: 'sendMessage',
    status: 201,
    key: { id: sampleId('key'), name: 'Sales in production' },
    fields: ['to', 'subject', 'text'],
  },
  Attachment: {
    id: sampleId('attachment'),
    url: `https://callsign.example.com/media/${sampleId('attachment')}?expires=1772447400&signature=Zk3v`,
  },
  CreatedKey: { ...keySample, key: 'svc_live_7Kd2…' },
  Delivery: deliverySample,
  DeliveryDetail: deliverySample,
  Domain: domainSample,
  DomainWithCount: { ...domainSample, mailboxes_count: 3 },
  Approval: { id: sampleId('approval'), agent_handle: 'sales', email_address: address },
  ApprovalLink: {
    draft_id: sampleId('draft'),
    version: 2,
    url: `https://callsign.example.com/approve/${sampleId('approvalLink')}.Zk3v`,
  },
  Draft: draftSample,
  Event: { id: sampleId('event'), type: 'email.received', data: { id: sampleId('message'), subject: 'A question' } },
  Identity: {
    id: sampleId('identity'),
    description: 'Answers questions about orders.',
    mailbox_address: address,
    mailbox: { id: sampleId('mailbox'), email_address: address },
    tunnel: { id: sampleId('tunnel'), public_url: 'https://sales.tunnel.example.com', local_url: null, status: 'active' },
  },
  ImessageConversation: { id: sampleId('conversation'), recipient: '+14155550123', provider: 'simulator', last_message_at: time },
  ImessageItem: {
    id: sampleId('imessage'),
    conversation_id: sampleId('conversation'),
    sender: '+14155550123',
    status: 'received',
    sent_at: time,
  },
  ImessageRouter: {
    phone_number: '+15555550199',
    display_name: 'Callsign',
    connect_prompt: 'connect @sales',
    url: 'imessage:+15555550199?body=connect%20%40sales',
    sms_url: 'sms:+15555550199?body=connect%20%40sales',
    qr_code: 'data:image/png;base64,iVBORw0KGgo…',
    provider: 'simulator',
  },
  ImessageSent: { id: sampleId('imessage'), conversation_id: sampleId('conversation'), text: 'Your order ships today.' },
  Key: keySample,
  Mailbox: { id: sampleId('mailbox') },
  MailRule: {
    id: sampleId('mailRule'),
    direction: 'inbound',
    action: 'block',
    entry: 'newsletter.example',
    entry_type: 'domain',
    reason: 'Only advertising.',
  },
  Message: {
    ...messageSample,
    raw_url: `https://callsign.example.com/media/${sampleId('message')}?expires=1772447400&signature=Zk3v`,
  },
  MessageItem: messageSample,
  MessageFlags: { id: sampleId('message') },
  MessageWait: { cursor: sampleId('event') },
  OutboxItem: { id: sampleId('simulated'), from: '+15555550199', to: '+14155550123', text: 'Your order ships today.' },
  PhoneNumber: {
    id: sampleId('phoneNumber'),
    region: 'NY',
    sms_status: 'ready',
    provider: 'simulator',
    capabilities: { sms: true, mms: true, voice: false },
  },
  QueuedMessage: { id: sampleId('message') },
  ReleasedMessage: { id: sampleId('message') },
  RevokedKey: { id: sampleId('key') },
  SentDraft: { id: sampleId('message') },
  SentReply: { id: sampleId('message') },
  SimulatedFault: { provider: 'phone', op: 'order', fail: 'timeout', times: 1 },
  SimulatedImessage: { provider_message_id: 'sim-7f3a', conversation_id: sampleId('conversation') },
  SimulatedSms: { message_id: sampleId('sms') },
  SmsMessage: {
    id: sampleId('sms'),
    from_number: '+16502530000',
    to_numbers: ['+12125550123'],
    text: 'Your code is 492816',
    codes: [{ kind: 'one_time_code', value: '492816', purpose: null, near: 'Your code is 492816', domain: null }],
  },
  SmsWait: { cursor: sampleId('event') },
  Suppression: { id: sampleId('suppression'), email_address: 'ada@example.com', source: 'bounce', reason: '550 5.1.1 No such user' },
  Template: { ...templateSample, variables: [{ key: 'NAME', type: 'string', fallback_value: 'customer' }] },
  TemplateItem: templateSample,
  Thread: threadSample,
  ThreadWithMessages: threadSample,
  Tunnel: { id: sampleId('tunnel'), is_connected: true, connected_clients: 1, last_request_at: time },
  TunnelRequest: {
    id: sampleId('tunnelRequest'),
    method: 'GET',
    path: '/health',
    status: 200,
    remote_address: '203.0.113.7',
    request_headers: [['accept', '*/*']],
    response_headers: [['content-type', 'application/json']],

    response_bytes: 15,
  },
  UnlockedVaultSecret: secretSample,
  UsageDay: {
    date: '2026-03-02',
    agent_handle: null,
    domain: null,
    messages: { received: 41, quarantined: 2, queued: 18, sent: 0, delivered: 17, bounced: 1, failed: 0, complained: 0 },
  },
  Vault: vaultSample,
  VaultAccess: { id: sampleId('vaultAccess') },
  VaultKey: { id: sampleId('vaultKey') },
  VaultSecret: secretSample,
  VaultWithKeys: vaultSample,
  Webhook: webhookSample,
  WebhookTest: { url: 'https://agent.example.com/hooks' },
  WebhookWithSecret: { ...webhookSample, secret: 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw…' },
}

/** A value that the schema accepts. `more` replaces fields of its outermost object. */
export function sampleOf(schema: TSchema | JsonSchema, more: Record<string, unknown> = {}): unknown {
  const { $id, const: constant, anyOf, enum: choices, type, properties, items, format, minimum } = schema as JsonSchema
  if (constant !== undefined) return constant
  if (Array.isArray(anyOf)) return sampleOf(anyOf[0] as JsonSchema, more)
  if (Array.isArray(choices)) return choices[0]
  const types = [type].flat()
  if (properties && types[0] === 'object' && types.length === 1) {
    const given: Record<string, unknown> = { ...schemaSamples[$id as string], ...more }
    const fields = Object.entries(properties as Record<string, JsonSchema>)
    return Object.fromEntries(fields.map(([name, field]) => [name, name in given ? given[name] : sampleOfField(name, field)]))
  }
  if (types.includes('null')) return null
  if (types[0] === 'array') return [sampleOf(items as JsonSchema)]
  if (types[0] === 'boolean') return false
  if (types[0] === 'integer' || types[0] === 'number') return minimum ?? 0
  if (types[0] === 'object') return {}
  return format === 'date-time' ? time : ''
}

/** Lists in lists of resources have one item. Other lists are empty unless a schema has a sample for them. */
const listedOnce = new Set(['data', 'messages', 'drafts', 'secrets', 'keys', 'attempts', 'faults'])

function sampleOfField(name: string, field: JsonSchema): unknown {
  if (field.type === 'array') return listedOnce.has(name) ? [sampleOf(field.items as JsonSchema)] : []
  const isPlain = field.const === undefined && !field.enum && !field.anyOf && !field.properties && !field.format
  if (isPlain && name in fieldSamples && (![field.type].flat().includes('null') || !name.startsWith('last_'))) return fieldSamples[name]
  return sampleOf(field)
}
