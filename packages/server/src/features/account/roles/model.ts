// The roles of members, and the least role that each operation of the API needs. A role may run everything that the roles below it may.
import type { Caller } from '../../../core/caller.ts'

export const memberRoles = ['owner', 'operator', 'reviewer'] as const
export type MemberRole = (typeof memberRoles)[number]

/** Reads everything except keys and vault ciphertext. Approves and rejects drafts, and releases quarantined messages. */
const reviewer = [
  'getCaller',
  'getOrganization',
  'listAudit',
  'downloadAttachment',
  'listDomains',
  'getDomain',
  'getZoneFile',
  'listDrafts',
  'getDraft',
  'listDraftVersions',
  'sendDraft',
  'rejectDraft',
  'listApprovals',
  'requestApproval',
  'createApprovalLink',
  'revokeApprovalLink',
  'deleteDraft',
  'listEvents',
  'streamEvents',
  'listIdentities',
  'getIdentity',
  'listAddresses',
  'listMailboxes',
  'getMailbox',
  'getImessageRouter',
  'listImessages',
  'listImessageConversations',
  'getImessageConversation',
  'listMailRules',
  'getMailRule',
  'listMail',
  'listMessages',
  'waitForMessage',
  'getMessage',
  'getMessages',
  'getRawMessage',
  'releaseMessage',
  'listThreads',
  'getThread',
  'listAllThreads',
  'getThreadById',
  'searchMessages',
  'listPhoneNumbers',
  'getPhoneNumber',
  'listSmsMessages',
  'waitForSms',
  'getSmsMessage',
  'listOutbox',
  'listSuppressions',
  'listTunnels',
  'getTunnel',
  'listTunnelRequests',
  'getVault',
  'listWebhooks',
  'getWebhook',
  'listDeliveries',
  'getDelivery',
]

/** Everything that a reviewer may not do, except keys, members and the keys of the vault. */
const operator = [
  'pauseOrganization',
  'resumeOrganization',
  'updateOrganization',
  'createDomain',
  'verifyDomain',
  'setDefaultDomain',
  'deleteDomain',
  'createDraft',
  'updateDraft',
  'createIdentity',
  'updateIdentity',
  'deleteIdentity',
  'createAddress',
  'setPrimaryAddress',
  'deleteAddress',
  'sendImessage',
  'disconnectImessageConversation',
  'receiveImessageCallback',
  'simulateImessage',
  'createMailRule',
  'updateMailRule',
  'deleteMailRule',
  'updateMessage',
  'updateMessages',
  'deleteMessage',
  'trashMessage',
  'restoreMessage',
  'updateThread',
  'deleteThread',
  'restoreThread',
  'sendMail',
  'sendBatch',
  'sendMessage',
  'replyToMessage',
  'forwardMessage',
  'provisionPhoneNumber',
  'releasePhoneNumber',
  'updateSmsMessage',
  'sendSmsMessage',
  'receivePhoneHook',
  'simulateMail',
  'simulateSms',
  'advanceNumber',
  'setFault',
  'createSuppression',
  'deleteSuppression',
  'updateTunnel',
  'replayTunnelRequest',
  'createVaultSecret',
  'listVaultSecrets',
  'getVaultSecret',
  'updateVaultSecret',
  'updateVaultSecretByBody',
  'deleteVaultSecret',
  'deleteVaultSecretByBody',
  'listVaultAccess',
  'grantVaultAccess',
  'revokeVaultAccess',
  'revokeVaultAccessByQuery',
  'unlockVaultByQuery',
  'unlockVault',
  'createWebhook',
  'updateWebhook',
  'deleteWebhook',
  'rotateWebhookSecret',
  'testWebhook',
  'replayDelivery',
  'replayDeliveries',
]

const owner = [
  'createKey',
  'listKeys',
  'revokeKey',
  'initializeVault',
  'listVaultKeys',
  'replaceVaultPrimaryKey',
  'deleteVaultKey',
  'rotateVault',
]

const leastRoles = new Map<string, MemberRole>([
  ...reviewer.map((id): [string, MemberRole] => [id, 'reviewer']),
  ...operator.map((id): [string, MemberRole] => [id, 'operator']),
  ...owner.map((id): [string, MemberRole] => [id, 'owner']),
])

/** The least role for an operation. Only owners may run one that is not listed. */
export const leastRoleFor = (operationId: string): MemberRole => leastRoles.get(operationId) ?? 'owner'

/** The operations that the table lists. */
export const listedOperations = (): string[] => [...leastRoles.keys()]

/** True when `role` includes `least`. */
export const includesRole = (role: MemberRole, least: MemberRole): boolean => memberRoles.indexOf(role) <= memberRoles.indexOf(least)

/** True unless the caller is a member signed in to the console whose role does not include the operation. Keys have their own rules. */
export function mayRun(caller: Caller, operationId: string): boolean {
  if (!caller.session?.memberId) return true
  return caller.role !== 'agent' && includesRole(caller.role, leastRoleFor(operationId))
}
