// The meaning of each event type, with a sample of its data, for the webhooks of the OpenAPI document.
import type { EventType } from '../events/event-types.ts'
import { sampleId } from './samples.ts'

const agent = { agent_handle: 'sales', agent_identity_id: sampleId('identity') }
const inbound = {
  id: sampleId('message'),
  thread_id: sampleId('thread'),
  mailbox_id: sampleId('mailbox'),
  direction: 'inbound',
  from: 'Ada <ada@example.com>',
  to: ['sales@agents.example.com'],
  subject: 'A question',
  text: 'Do you ship to Norway?',
  ...agent,
}
const outbound = {
  ...inbound,
  direction: 'outbound',
  from: 'sales@agents.example.com',
  to: ['ada@example.com'],
  subject: 'Your order 1042',
  text: 'It ships today.',
}
const message = (status: string, of: typeof inbound = outbound) => ({ ...of, status })
const phoneNumber = { id: sampleId('phoneNumber'), phone_number: '+12125550123', ...agent }
const conversation = {
  id: sampleId('conversation'),
  conversation_id: sampleId('conversation'),
  phone_number: '+15555550199',
  recipient: '+14155550123',
  provider: 'simulator',
  ...agent,
}
const imessage = (direction: 'inbound' | 'outbound', text: string) => ({
  id: sampleId('imessage'),
  conversation_id: sampleId('conversation'),
  direction,
  recipient: '+14155550123',
  text,
  ...agent,
})
const draft = { id: sampleId('draft'), version: 2, to: ['ada@example.com'], subject: 'Your order 1042', ...agent }
const domain = (status: string) => ({ id: sampleId('domain'), domain: 'mail.example.com', status })

const storage = (used: number) => ({ id: sampleId('identity'), scope: 'identity', used_bytes: used, quota_bytes: 1_000_000_000, ...agent })

/** By event type. `meaning` is one sentence. */
export const webhookSamples: Record<EventType, { meaning: string; data: Record<string, unknown> }> = {
  'email.received': { meaning: 'A message has arrived, or was released from quarantine.', data: message('received', inbound) },
  'email.quarantined': { meaning: 'A message has arrived and is held. guardrail says why.', data: message('quarantined', inbound) },
  'email.sent': { meaning: 'The server of a recipient, or the relay, has accepted a message.', data: message('sent') },
  'email.delivered': { meaning: 'A message is in the mailbox of a recipient.', data: message('delivered') },
  'email.bounced': { meaning: 'The server of a recipient has refused a message for good.', data: message('bounced') },
  'email.failed': { meaning: 'A message could not be delivered in time.', data: message('failed') },
  'email.complained': { meaning: 'A recipient has marked a message as spam.', data: message('delivered') },
  'email.labels_changed': {
    meaning: 'Labels of a message were changed, or its states `read`, `unread`, `starred` and `trash`.',
    data: {
      id: inbound.id,
      thread_id: inbound.thread_id,
      mailbox_id: inbound.mailbox_id,
      added: ['invoices', 'read'],
      removed: ['unread'],
      ...agent,
    },
  },
  'draft.approval_requested': {
    meaning:
      'A draft waits for a person. `reasons` is empty if all mail of the agent waits. `approval_url` approves without a key, so the events of an agent do not have it.',
    data: {
      ...draft,
      reasons: [],
      expires_at: '2026-03-05T10:30:00.000Z',
      approval_url: `https://callsign.example.com/approve/${sampleId('approvalLink')}.Zk3v`,
    },
  },
  'draft.approved': {
    meaning: 'A person has approved a draft. `message_id` is null while it is scheduled for `send_at`.',
    data: { ...draft, message_id: sampleId('message'), send_at: null, decided_by: 'member' },
  },
  'draft.rejected': {
    meaning: 'A person has rejected and deleted a draft. `reason` is null if none was given.',
    data: { ...draft, reason: 'The delivery date is wrong.', decided_by: 'link' },
  },
  'draft.expired': {
    meaning: 'A request for approval has expired without a decision. The draft stays, and is sent only after a new request for approval.',
    data: { ...draft, expired_at: '2026-03-05T10:30:00.000Z' },
  },
  'sms.received': {
    meaning: 'A text has arrived.',
    data: { id: sampleId('sms'), phone_number: '+12125550123', from_number: '+16502530000', text: 'Your code is 492816', ...agent },
  },
  'number.sms_ready': { meaning: 'A phone number can receive texts now.', data: { ...phoneNumber, sms_status: 'ready' } },
  'number.sms_failed': {
    meaning: 'A phone number cannot receive texts. sms_error says why.',
    data: { ...phoneNumber, sms_status: 'assignment_failed' },
  },
  'imessage.connected': { meaning: 'A person has connected to an agent.', data: { ...conversation, status: 'active' } },
  'imessage.disconnected': {
    meaning: 'A conversation has ended.',
    data: { ...conversation, status: 'archived', archived_reason: 'disconnected_by_user' },
  },
  'imessage.received': { meaning: 'A person has written to an agent.', data: imessage('inbound', 'Do you ship to Norway?') },
  'imessage.sent': { meaning: 'The provider has accepted a message of an agent.', data: imessage('outbound', 'Your order ships today.') },
  'imessage.failed': { meaning: 'A message of an agent could not be sent.', data: imessage('outbound', 'Your order ships today.') },
  'domain.verified': { meaning: 'The DNS records of a domain are published.', data: domain('verified') },
  'domain.failed': { meaning: 'The DNS records of a domain have been wrong for 72 hours.', data: domain('failed') },
  'domain.report_received': {
    meaning: 'Another mail server has sent a DMARC or TLS report about a domain.',
    data: {
      id: sampleId('domainReport'),
      domain_id: sampleId('domain'),
      domain: 'mail.example.com',
      kind: 'dmarc',
      reporter: 'google.com',
      passed: 120,
      failed: 3,
    },
  },
  'tunnel.connected': { meaning: 'The first client of a tunnel has connected.', data: { id: sampleId('tunnel'), ...agent } },
  'tunnel.disconnected': { meaning: 'The last client of a tunnel has disconnected.', data: { id: sampleId('tunnel'), ...agent } },
  'storage.nearly_full': {
    meaning: 'Stored mail has reached 80 % of the quota of an agent, or of the organization. It is repeated after usage was below 80 %.',
    data: storage(820_000_000),
  },
  'storage.full': {
    meaning: 'Mail was refused because it does not fit into the quota of an agent, or of the organization, or the quota is used up.',
    data: storage(999_000_000),
  },
  'test.ping': { meaning: 'You have tested a webhook.', data: { webhook_id: sampleId('webhook') } },
}
