// Public names of the SDK: its files, classes, types and parameters. Everything else comes from the contract.

/** One printed file. */
export type PrintedFile = {
  about: string
  /** The class of each resource, by the attribute of the client. The classes that end in `Calls` are extended or called by hand-written ones. */
  classes: Record<string, string>
  /** Types by name: an operation's reply or a part of it, such as `listKeys.data[]`, or an expression. */
  types: Record<string, string>
  /** Names of the constants with the path of an operation that hand-written code opens as a stream, by operation. */
  paths?: Record<string, string>
}

/** The printed files by name. Operations of the vault are methods of `vaultCalls`, and those of no resource are functions. */
export const printedFiles: Record<string, PrintedFile> = {
  account: {
    about: 'The organization, its agents with their addresses, keys and usage, and its logs.',
    classes: {
      '': '',
      organization: 'OrganizationSettings',
      identities: 'Identities',
      addresses: 'Addresses',
      keys: 'Keys',
      audit: 'Audit',
      usage: 'Usage',
      requests: 'Requests',
    },
    types: {
      CallerInfo: 'getCaller',
      AuditPage: 'listAudit',
      AuditEntry: 'listAudit.data[]',
      Organization: 'getOrganization',
      Identity: 'getIdentity',
      IdentityPage: 'listIdentities',
      Address: 'createAddress',
      AddressPage: 'listAddresses',
      CreatedKey: 'createKey',
      KeyPage: 'listKeys',
      Key: 'listKeys.data[]',
      UsagePage: 'listUsage',
      UsageDay: 'listUsage.data[]',
      StoragePage: 'listStorage',
      StorageUse: 'listStorage.data[]',
      RetentionPreview: 'previewRetention',
      ApiRequest: 'getRequest',
      ApiRequestPage: 'listRequests',
    },
  },
  mail: {
    about: 'Mailboxes with their threads, and the mail of all of them. `mailbox` is a full address or an agent handle.',
    classes: { mailboxes: 'MailboxCalls', threads: 'Threads', mail: 'Mail' },
    types: {
      Mailbox: 'getMailbox',
      MailboxPage: 'listMailboxes',
      MessageWait: 'waitForMessage',
      ThreadPage: 'listThreads',
      Thread: 'getThread',
      QueuedMessage: 'sendMail',
      MailList: 'listMail',
      SummaryList: "Omit<MailList, 'messages'> & { messages: messageViews.MessageSummary[] }",
    },
  },
  messages: {
    about: 'The messages of one mailbox. `mailbox` is a full address or an agent handle.',
    classes: { messages: 'Messages' },
    types: {
      Message: 'getMessage',
      AttachmentText: 'getAttachmentText',
      MessagePage: 'listMessages',
      MessageItem: 'listMessages.data[]',
      SummaryPage: "Omit<MessagePage, 'data'> & { data: messageViews.MessageSummary[] }",
      SearchPage: 'searchMessages',
    },
  },
  drafts: {
    about: 'Drafts and their approvals, templates, and labels. `mailbox` is a full address or an agent handle.',
    classes: { drafts: 'DraftCalls', approvals: 'Approvals', templates: 'Templates', labels: 'Labels' },
    types: {
      Draft: 'getDraft',
      DraftPage: 'listDrafts',
      DraftVersion: 'listDraftVersions.data[]',
      DraftReview: 'reviewDraft',
      SentDraft: 'sendDraft',
      DraftAttachment: 'getDraft.attachments[]',
      NewDraftAttachment: "NonNullable<BodyOf<typeof drafts.updateDraft>['add_attachments']>[number]",
      ApprovalPage: 'listApprovals',
      Approval: 'listApprovals.data[]',
      ApprovalLink: 'createApprovalLink',
      Template: 'getTemplate',
      TemplatePage: 'listTemplates',
      RenderedTemplate: 'renderTemplate',
      MailboxLabel: 'createLabel',
      MailboxLabelPage: 'listLabels',
    },
  },
  'mail-settings': {
    about: 'Custom domains, mail rules, and the suppression list.',
    classes: { domains: 'Domains', mailRules: 'MailRules', suppressions: 'Suppressions' },
    types: {
      Domain: 'getDomain.data',
      DomainPage: 'listDomains',
      DomainWithCount: 'listDomains.data[]',
      DnsRecord: 'getDomain.data.dns_records[]',
      DomainReportPage: 'listDomainReports',
      DomainReport: 'listDomainReports.data[]',
      DomainVerification: '{ domain: Domain; message: string }',
      MailRule: 'getMailRule',
      MailRulePage: 'listMailRules',
      Suppression: 'createSuppression',
      SuppressionPage: 'listSuppressions',
    },
  },
  phone: {
    about: 'Phone numbers, iMessage, and the simulator of both. `number` is the id of a phone number or the number itself, as E.164.',
    classes: { phone: 'PhoneCalls', imessage: 'Imessage', simulator: 'Simulator' },
    types: {
      PhoneNumber: 'getPhoneNumber',
      PhoneNumberPage: 'listPhoneNumbers',
      SmsMessage: 'getSmsMessage',
      SmsWait: 'waitForSms',
      SmsMessagePage: 'listSmsMessages',
      ImessageRouter: 'getImessageRouter',
      ImessageSent: 'sendImessage',
      ImessageHistory: 'listImessages',
      ImessageItem: 'listImessages.messages[]',
      ImessageConversationPage: 'listImessageConversations',
      ImessageConversation: 'listImessageConversations.data[]',
      SimulatedMail: 'simulateMail',
      SimulatedSms: 'simulateSms',
      SimulatedImessage: 'simulateImessage',
      OutboxPage: 'listOutbox',
    },
  },
  events: {
    about: 'Events, and webhooks with their deliveries.',
    classes: { events: 'EventCalls', webhooks: 'Webhooks' },
    types: {
      EventPage: 'listEvents',
      CallsignEvent: 'listEvents.data[]',
      WebhookWithSecret: 'rotateWebhookSecret',
      CreatedWebhook: 'createWebhook',
      WebhookPage: 'listWebhooks',
      Webhook: 'listWebhooks.data[]',
      WebhookTest: 'testWebhook',
      DeliveryPage: 'listDeliveries',
      Delivery: 'listDeliveries.data[]',
      DeliveryDetail: 'getDelivery',
    },
    paths: { streamEvents: 'eventStreamPath' },
  },
  tunnels: {
    about: 'Tunnels and their captured requests.',
    classes: { tunnels: 'TunnelCalls' },
    types: {
      Tunnel: 'getTunnel',
      TunnelPage: 'listTunnels',
      TunnelRequestPage: 'listTunnelRequests',
      TunnelRequest: 'listTunnelRequests.data[]',
    },
  },
  vault: { about: 'Requests of the vault, which carry ciphertext.', classes: { vaultCalls: 'VaultCalls' }, types: {} },
}

/** Names of parameters that are not the usual ones, by operation and name in the contract. `body` and `query` are names too. */
export const parameterNames: Record<string, Record<string, string>> = {
  setPrimaryAddress: { email_address: 'address' },
  deleteAddress: { email_address: 'address' },
  createApprovalLink: { draft_id: 'draftId' },
  revokeApprovalLink: { draft_id: 'draftId' },
  deleteDomain: { query: 'more' },
  getPhoneNumber: { id: 'number' },
  releasePhoneNumber: { id: 'number' },
  listSmsMessages: { id: 'number' },
  getSmsMessage: { id: 'number', message_id: 'id' },
  updateSmsMessage: { id: 'number', message_id: 'id' },
  waitForSms: { id: 'number' },
  advanceNumber: { id: 'number' },
  replayTunnelRequest: { tunnel_request_id: 'requestId', body: 'changes' },
  replayDelivery: { delivery_id: 'deliveryId' },
}

/** Operations whose query is not a parameter. */
export const withoutQuery: readonly string[] = ['getThread', 'getThreadById']

/** Operations whose query is a required parameter, because the server rejects an empty one. */
export const requiredQueries: readonly string[] = ['previewRetention']

/** Bodies that may be left out although the server requires one. The client then sends an empty object. */
export const optionalBodies = ['createAddress']

/** Lists with a shorter form of their items, by operation: the type of the page for `view: 'summary'`. */
export const summaryPages: Record<string, string> = { listMessages: 'SummaryPage', listMail: 'SummaryList' }

/** Replies whose fields have other names, by operation: the type, and the names by field. */
export const renamedReplies: Record<string, { type: string; fields: Record<string, string> }> = {
  verifyDomain: { type: 'DomainVerification', fields: { data: 'domain', message: 'message' } },
}
