// The public exports of the package, with the client, the types of its resources, its errors, and the vault's functions.
export {
  agentScopes,
  defaultAgentScopes,
  organizationScopes,
  type Scope,
  type ScopePreset,
  scopeMeanings,
  scopePresets,
  scopes,
} from '@callsign/contract/scopes'
export { type SimulatedMailSample, simulatedMailSamples } from '@callsign/contract/simulator-choices'
export { toolsets } from '@callsign/contract/tools/tool'
export type { AuditEntry, AuditPage, CallerInfo } from './accounts.ts'
export type { Address, AddressPage } from './addresses.ts'
export type { Approval, ApprovalLink, ApprovalPage } from './approvals.ts'
export { Callsign, type CallsignOptions } from './callsign.ts'
export type { DnsRecord, Domain, DomainPage, DomainReport, DomainReportPage, DomainVerification, DomainWithCount } from './domains.ts'
export type { Draft, DraftAttachment, DraftPage, DraftReview, DraftVersion, NewDraftAttachment, SentDraft } from './drafts.ts'
export { ApiError, CallsignError, ConnectionError, VaultError, type VaultErrorCode } from './errors.ts'
export type { CallsignEvent, EventPage, FollowOptions } from './events.ts'
export type { Identity, IdentityPage, Mailbox, MailboxPage, MessageWait } from './identities.ts'
export type {
  ImessageConversation,
  ImessageConversationPage,
  ImessageHistory,
  ImessageItem,
  ImessageRouter,
  ImessageSent,
} from './imessage.ts'
export type { CreatedKey, Key, KeyPage } from './keys.ts'
export type { MailboxLabel, MailboxLabelPage } from './labels.ts'
export type { MailRule, MailRulePage } from './mail-rules.ts'
export type {
  AttachmentText,
  Message,
  MessageItem,
  MessagePage,
  MessageSummary,
  SearchPage,
  SummaryPage,
  Thread,
  ThreadPage,
} from './messages.ts'
export type { Organization } from './organization.ts'
export type { MailList, QueuedMessage, SummaryList } from './outbound-mail.ts'
export { allItems, everyItem } from './pages.ts'
export type { PhoneNumber, PhoneNumberPage, SmsMessage, SmsMessagePage, SmsWait } from './phones.ts'
export { fetchByEnvironment } from './proxy.ts'
export type { ConnectionOptions, Fetch, RequestOptions } from './request.ts'
export type { ApiRequest, ApiRequestPage } from './requests.ts'
export type { OutboxPage, SimulatedImessage, SimulatedMail, SimulatedSms } from './simulator.ts'
export type { Suppression, SuppressionPage } from './suppressions.ts'
export type { RenderedTemplate, Template, TemplatePage } from './templates.ts'
export type { FetchHandler, ListenOptions, ReportedRequest, TunnelChange, TunnelListener, TunnelTarget } from './tunnels/listen-options.ts'
export type { Tunnel, TunnelPage, TunnelRequest, TunnelRequestPage } from './tunnels.ts'
export type { RetentionPreview, StoragePage, StorageUse, UsageDay, UsagePage } from './usage.ts'
export type { VaultExport } from './vault/export.ts'
export type { Grant, GrantedAgent, Grantee } from './vault/grants.ts'
export type { RotateOptions, RotationProgress } from './vault/key-changes.ts'
export type { ApiKeyPayload, KeyPairPayload, LoginPayload, OtherPayload, Payloads, SecretType, SshKeyPayload } from './vault/payload.ts'
export { createFilePins } from './vault/pin-file.ts'
export {
  createMemoryPins,
  createSharedPins,
  createStoragePins,
  type PinDocument,
  type PinStore,
  type SharedTexts,
  type TextStorage,
} from './vault/pins.ts'
export type { NewSecret, Secret, SecretChange, SecretSummary } from './vault/secret.ts'
export type { Binding } from './vault/secret-box.ts'
export { type TotpCode, totpCode } from './vault/totp.ts'
export type { UnlockedVault } from './vault/unlocked-vault.ts'
export type { NewVault, UnlockOptions, Vault, VaultKey, VaultOptions, VaultStatus } from './vault/vault.ts'
export { generateVaultKey } from './vault/vault-key.ts'
export type {
  CreatedWebhook,
  Delivery,
  DeliveryDetail,
  DeliveryPage,
  Webhook,
  WebhookPage,
  WebhookTest,
  WebhookWithSecret,
} from './webhooks.ts'
export { InvalidSignature, type SignedRequest, signWebhook, verifyWebhook } from './webhooks.ts'
