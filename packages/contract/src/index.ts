// The contract lists every operation of the API, by feature.

import * as events from './events/events.ts'
import * as webhooks from './events/webhooks.ts'
import type { Operation } from './operation.ts'
import * as accounts from './operations/account/accounts.ts'
import * as addresses from './operations/account/addresses.ts'
import * as identities from './operations/account/identities.ts'
import * as keys from './operations/account/keys.ts'
import * as organization from './operations/account/organization.ts'
import * as requests from './operations/account/requests.ts'
import * as storage from './operations/account/storage.ts'
import * as usage from './operations/account/usage.ts'
import * as approvals from './operations/drafts/approvals.ts'
import * as draftLists from './operations/drafts/draft-lists.ts'
import * as drafts from './operations/drafts/drafts.ts'
import * as templates from './operations/drafts/templates.ts'
import * as imessage from './operations/imessage.ts'
import * as attachments from './operations/mail/attachments.ts'
import * as batches from './operations/mail/batches.ts'
import * as labels from './operations/mail/labels.ts'
import * as messageSharing from './operations/mail/message-sharing.ts'
import * as messages from './operations/mail/messages.ts'
import * as outboundMail from './operations/mail/outbound-mail.ts'
import * as threads from './operations/mail/threads.ts'
import * as domainReports from './operations/mail-settings/domain-reports.ts'
import * as domains from './operations/mail-settings/domains.ts'
import * as mailRules from './operations/mail-settings/mail-rules.ts'
import * as suppressions from './operations/mail-settings/suppressions.ts'
import * as phones from './operations/phones.ts'
import * as simulator from './operations/simulator.ts'
import * as tunnels from './tunnel/tunnels.ts'
import * as vault from './vault/vault.ts'

const isOperation = (value: unknown): value is Operation =>
  typeof value === 'object' && value !== null && 'id' in value && 'method' in value && 'path' in value && 'summary' in value

/** Every operation, once. */
export const operations: Operation[] = [
  accounts,
  organization,
  identities,
  addresses,
  outboundMail,
  batches,
  messages,
  threads,
  drafts,
  draftLists,
  approvals,
  labels,
  messageSharing,
  templates,
  domains,
  domainReports,
  attachments,
  mailRules,
  suppressions,
  phones,
  simulator,
  imessage,
  webhooks,
  events,
  tunnels,
  vault,
  keys,
  usage,
  storage,
  requests,
].flatMap((feature) => Object.values(feature).filter(isOperation))
