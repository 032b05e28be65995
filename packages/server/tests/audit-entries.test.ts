// Every operation that changes the set-up of an organization writes an entry of the audit log.
import { operations } from '@callsign/contract'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { publish } from './harness/published-records.ts'
import { type Harness, type Json, startHarness } from './harness/start.ts'
import { fakeBlob, fakeWrapping } from './harness/vault-client.ts'

let harness: Harness
let key: string
beforeAll(async () => {
  harness = await startHarness()
  ;({ key } = await harness.createOrganization('Set-up'))
})
afterAll(() => harness.stop())

/** Operations without an entry, with the reason. */
const withoutEntry: Record<string, string[]> = {
  'reads in spite of their method': ['getMessages', 'renderTemplate'],
  'mail and drafts of one mailbox, with events': [
    ...['forwardMessage', 'replyToMessage', 'sendMail', 'sendMessage', 'sendBatch', 'createDraft', 'deleteDraft', 'updateDraft'],
    ...['updateMessage', 'updateMessages', 'deleteMessage', 'restoreMessage', 'trashMessage', 'requestApproval'],
    ...['deleteThread', 'restoreThread', 'updateThread', 'createLabel', 'deleteLabel', 'updateLabel'],
  ],
  'decisions about mail, with entries that approvals.test.ts, quarantine.test.ts and message-links.test.ts read': [
    ...['rejectDraft', 'sendDraft', 'createApprovalLink', 'revokeApprovalLink', 'releaseMessage', 'shareMessage', 'unshareMessage'],
  ],
  'messages and requests of one agent, with events': [
    ...['sendSmsMessage', 'updateSmsMessage', 'sendImessage', 'disconnectImessageConversation', 'replayTunnelRequest'],
    ...['replayDeliveries', 'replayDelivery', 'testWebhook', 'createSocketToken'],
  ],
  'calls of providers': ['receivePhoneHook', 'receiveImessageCallback'],
  'the simulator': ['advanceNumber', 'setFault', 'simulateMail', 'simulateSms', 'simulateImessage'],
}

type Step = { operation: string; path?: (made: Json) => string; body?: Json; bodyOf?: (made: Json) => Json; action: string; as?: string }

const identity = '/identities/setup_a'
const second = '/addresses/second@agents.localhost'
const [primary, newer, newest] = [fakeWrapping(), fakeWrapping(), fakeWrapping()]
const recovery = [fakeWrapping(), fakeWrapping()]
const secret = { type: 'other', encrypted_payload: fakeBlob() }

/** Each calls the operation once. `made` has the answers of earlier steps by their `as`. */
const steps: Step[] = [
  { operation: 'createIdentity', body: { agent_handle: 'setup_a' }, action: 'identity.created', as: 'identity' },
  { operation: 'updateIdentity', path: () => identity, body: { description: 'Sells' }, action: 'identity.updated' },
  { operation: 'createAddress', path: () => `${identity}/addresses`, body: { local_part: 'second' }, action: 'address.created' },
  { operation: 'setPrimaryAddress', path: () => `${identity}${second}/set-primary`, action: 'address.primary_set' },
  {
    operation: 'setPrimaryAddress',
    path: () => `${identity}/addresses/setup_a@agents.localhost/set-primary`,
    action: 'address.primary_set',
  },
  { operation: 'deleteAddress', path: () => `${identity}${second}`, action: 'address.deleted' },
  { operation: 'updateOrganization', body: { outbound_mode: 'allowlist' }, action: 'organization.modes_changed' },
  { operation: 'pauseOrganization', body: { reason: 'Test' }, action: 'organization.paused' },
  { operation: 'resumeOrganization', action: 'organization.resumed' },
  { operation: 'createTemplate', body: { name: 'Shipped', text: 'It ships.' }, action: 'template.created', as: 'template' },
  { operation: 'updateTemplate', path: ({ template }) => `/templates/${template.id}`, body: { name: 'Sent' }, action: 'template.updated' },
  { operation: 'publishTemplate', path: ({ template }) => `/templates/${template.id}/publish`, action: 'template.published' },
  { operation: 'deleteTemplate', path: ({ template }) => `/templates/${template.id}`, action: 'template.deleted' },
  // The first domain is the default by itself.
  { operation: 'createDomain', body: { domain: 'first.example' }, action: 'domain.created', as: 'first' },
  { operation: 'createDomain', body: { domain: 'setup.example' }, action: 'domain.created', as: 'domain' },
  { operation: 'verifyDomain', path: ({ domain }) => `/domains/${domain.data.id}/verify`, action: 'domain.verified' },
  { operation: 'setDefaultDomain', path: ({ domain }) => `/domains/${domain.data.id}/set-default`, action: 'domain.default_set' },
  {
    operation: 'createMailRule',
    path: () => `${identity}/mail-rules`,
    body: { direction: 'inbound', action: 'block', entry: 'spam.example' },
    action: 'mail_rule.created',
    as: 'rule',
  },
  {
    operation: 'updateMailRule',
    path: ({ rule }) => `${identity}/mail-rules/${rule.id}`,
    body: { status: 'paused' },
    action: 'mail_rule.updated',
  },
  { operation: 'deleteMailRule', path: ({ rule }) => `${identity}/mail-rules/${rule.id}`, action: 'mail_rule.deleted' },
  { operation: 'createSuppression', body: { email_address: 'x@example.com' }, action: 'suppression.created' },
  { operation: 'deleteSuppression', path: () => '/suppressions/x@example.com', action: 'suppression.deleted' },
  { operation: 'provisionPhoneNumber', body: { agent_handle: 'setup_a' }, action: 'phone_number.provisioned', as: 'number' },
  { operation: 'releasePhoneNumber', path: ({ number }) => `/phone/numbers/${number.id}`, action: 'phone_number.released' },
  {
    operation: 'createWebhook',
    body: { url: 'https://hooks.example/a', events: ['email.received'] },
    action: 'webhook.created',
    as: 'webhook',
  },
  {
    operation: 'updateWebhook',
    path: ({ webhook }) => `/webhooks/${webhook.id}`,
    body: { description: 'Orders' },
    action: 'webhook.updated',
  },
  { operation: 'rotateWebhookSecret', path: ({ webhook }) => `/webhooks/${webhook.id}/rotate-secret`, action: 'webhook.secret_rotated' },
  { operation: 'deleteWebhook', path: ({ webhook }) => `/webhooks/${webhook.id}`, action: 'webhook.deleted' },
  { operation: 'updateTunnel', path: () => '/tunnels/setup_a', body: { status: 'suspended' }, action: 'tunnel.updated' },
  { operation: 'createKey', body: { name: 'Reader', type: 'organization' }, action: 'key.created', as: 'key' },
  { operation: 'updateKey', path: (made) => `/keys/${made.key.id}`, body: { name: 'Writer' }, action: 'key.updated' },
  { operation: 'revokeKey', path: (made) => `/keys/${made.key.id}`, action: 'key.revoked' },
  { operation: 'initializeVault', body: { ...primary, recovery_keys: recovery }, action: 'vault.initialized' },
  { operation: 'unlockVault', body: { auth_hash: primary.auth_hash }, action: 'vault.unlocked' },
  { operation: 'createVaultSecret', body: { ...secret, name: 'One' }, action: 'vault.secret_created', as: 'one' },
  { operation: 'createVaultSecret', body: { ...secret, name: 'Two' }, action: 'vault.secret_created', as: 'two' },
  {
    operation: 'updateVaultSecret',
    path: ({ one }) => `/vault/secrets/${one.id}`,
    body: { name: 'First' },
    action: 'vault.secret_updated',
  },
  {
    operation: 'updateVaultSecretByBody',
    path: () => '/vault/secrets',
    bodyOf: ({ two }) => ({ id: two.id, name: 'Second' }),
    action: 'vault.secret_updated',
  },
  ...['', '/again'].flatMap((round): Step[] => [
    {
      operation: 'grantVaultAccess',
      path: ({ one }) => `/vault/secrets/${one.id}/access`,
      bodyOf: (made) => ({ identity_id: made.identity.id }),
      action: 'vault.access_granted',
    },
    round === ''
      ? {
          operation: 'revokeVaultAccess',
          path: (made) => `/vault/secrets/${made.one.id}/access/${made.identity.id}`,
          action: 'vault.access_revoked',
        }
      : {
          operation: 'revokeVaultAccessByQuery',
          path: (made) => `/vault/secrets/${made.one.id}/access?identity_id=${made.identity.id}`,
          action: 'vault.access_revoked',
        },
  ]),
  { operation: 'deleteVaultSecret', path: ({ one }) => `/vault/secrets/${one.id}`, action: 'vault.secret_deleted' },
  {
    operation: 'deleteVaultSecretByBody',
    path: () => '/vault/secrets',
    bodyOf: ({ two }) => ({ id: two.id }),
    action: 'vault.secret_deleted',
  },
  {
    operation: 'replaceVaultPrimaryKey',
    path: () => '/vault/keys/primary',
    body: { ...newer, auth_hash: newer.auth_hash, recovery_auth_hash: (recovery[0] as Json).auth_hash },
    action: 'vault.primary_key_replaced',
  },
  {
    operation: 'deleteVaultKey',
    path: ({ keys }) => `/vault/keys/${keys.data.at(-1).id}`,
    body: { auth_hash: newer.auth_hash },
    action: 'vault.key_deleted',
  },
  {
    operation: 'rotateVault',
    bodyOf: ({ vault }) => {
      const { auth_hash: new_auth_hash, ...wrapping } = newest
      return { auth_hash: newer.auth_hash, expected_key_version: vault.key_version, ...wrapping, new_auth_hash, secrets: [] }
    },
    action: 'vault.rotated',
  },
  { operation: 'deleteDomain', path: ({ domain }) => `/domains/${domain.data.id}`, action: 'domain.deleted' },
  { operation: 'deleteIdentity', path: () => identity, action: 'identity.deleted' },
]

test('every operation that is not a GET has a step, or a reason for writing no entry', () => {
  const known = [...steps.map(({ operation }) => operation), ...Object.values(withoutEntry).flat()]
  const writing = operations.filter(({ method }) => method !== 'GET').map(({ id }) => id)
  expect(writing.filter((id) => !known.includes(id))).toEqual([])
  expect(known.filter((id) => !writing.includes(id))).toEqual([])
})

test('every step writes its entry', async () => {
  const made: Json = {}
  const entries = async (): Promise<Json[]> => (await harness.expectApi(200, 'GET', '/audit?limit=5', { key })).data
  for (const { operation, path, body, bodyOf, action, as } of steps) {
    if (operation === 'verifyDomain') publish(harness.dns, made.domain.data.dns_records)
    if (operation === 'deleteVaultKey') made.keys = await harness.expectApi(200, 'GET', '/vault/keys', { key })
    if (operation === 'rotateVault') made.vault = await harness.expectApi(200, 'GET', '/vault', { key })
    const [latest] = await entries()
    const { method, path: pattern } = operations.find(({ id }) => id === operation) as (typeof operations)[number]
    const sent = bodyOf?.(made) ?? body
    const answer = await harness.api(method, path?.(made) ?? pattern.replace('/api/v1', ''), { key, ...(sent && { body: sent }) })
    expect(answer.status, `${operation} ${JSON.stringify(answer.body)}`).toBeLessThan(300)
    if (as) made[as] = answer.body
    const after = await entries()
    const added = after.slice(
      0,
      after.findIndex(({ id }) => id === latest?.id),
    )
    expect(
      added.map((entry) => entry.action),
      operation,
    ).toContain(action)
  }
})
