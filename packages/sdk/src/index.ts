// The public exports of the package, with the client, the types of its resources, its errors, and the vault's functions.

export type { MessageSummary } from '@callsign/contract/message-views'
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
export { InvalidSignature, type SignedRequest, signWebhook, verifyWebhook } from '@callsign/contract/webhook-signature'
export { Callsign, type CallsignOptions } from './callsign.ts'
export { fetchByEnvironment } from './connection/proxy.ts'
export type { ConnectionOptions, Fetch, RequestOptions } from './connection/request.ts'
export { ApiError, CallsignError, ConnectionError, VaultError, type VaultErrorCode } from './errors.ts'
export type { FollowOptions } from './events.ts'
export { allItems, everyItem } from './pages.ts'
export type {
  Address,
  AddressPage,
  ApiRequest,
  ApiRequestPage,
  AuditEntry,
  AuditPage,
  CallerInfo,
  CreatedKey,
  Identity,
  IdentityPage,
  Key,
  KeyPage,
  Organization,
  RetentionPreview,
  StoragePage,
  StorageUse,
  UsageDay,
  UsagePage,
} from './resources/account.ts'
export type {
  Approval,
  ApprovalLink,
  ApprovalPage,
  Draft,
  DraftAttachment,
  DraftPage,
  DraftReview,
  DraftVersion,
  MailboxLabel,
  MailboxLabelPage,
  NewDraftAttachment,
  RenderedTemplate,
  SentDraft,
  Template,
  TemplatePage,
} from './resources/drafts.ts'
export type {
  CallsignEvent,
  CreatedWebhook,
  Delivery,
  DeliveryDetail,
  DeliveryPage,
  EventPage,
  Webhook,
  WebhookPage,
  WebhookTest,
  WebhookWithSecret,
} from './resources/events.ts'
export type { Mailbox, MailboxPage, MailList, MessageWait, QueuedMessage, SummaryList, Thread, ThreadPage } from './resources/mail.ts'
export type {
  DnsRecord,
  Domain,
  DomainPage,
  DomainReport,
  DomainReportPage,
  DomainVerification,
  DomainWithCount,
  MailRule,
  MailRulePage,
  Suppression,
  SuppressionPage,
} from './resources/mail-settings.ts'
export type { AttachmentText, Message, MessageItem, MessagePage, SearchPage, SummaryPage } from './resources/messages.ts'
export type {
  ImessageConversation,
  ImessageConversationPage,
  ImessageHistory,
  ImessageItem,
  ImessageRouter,
  ImessageSent,
  OutboxPage,
  PhoneNumber,
  PhoneNumberPage,
  SimulatedImessage,
  SimulatedMail,
  SimulatedSms,
  SmsMessage,
  SmsMessagePage,
  SmsWait,
} from './resources/phone.ts'
export type { Tunnel, TunnelPage, TunnelRequest, TunnelRequestPage } from './resources/tunnels.ts'
export type { FetchHandler, ListenOptions, ReportedRequest, TunnelChange, TunnelListener, TunnelTarget } from './tunnels/listen-options.ts'
export { type TotpCode, totpCode } from './vault/crypto/totp.ts'
export { generateVaultKey } from './vault/crypto/vault-key.ts'
export type { RotateOptions, RotationProgress } from './vault/key-changes.ts'
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
export type { VaultExport } from './vault/secrets/export.ts'
export type { Grant, GrantedAgent, Grantee } from './vault/secrets/grants.ts'
export type {
  ApiKeyPayload,
  KeyPairPayload,
  LoginPayload,
  OtherPayload,
  Payloads,
  SecretType,
  SshKeyPayload,
} from './vault/secrets/payload.ts'
export type { NewSecret, Secret, SecretChange, SecretSummary } from './vault/secrets/secret.ts'
export type { Binding } from './vault/secrets/secret-box.ts'
export type { UnlockedVault } from './vault/unlocked-vault.ts'
export type { NewVault, UnlockOptions, Vault, VaultKey, VaultOptions, VaultStatus } from './vault/vault.ts'
