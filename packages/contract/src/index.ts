// The contract lists every operation of the API, by feature.
import * as accounts from './accounts.ts'
import * as addresses from './addresses.ts'
import * as approvals from './approvals.ts'
import * as attachments from './attachments.ts'
import * as batches from './batches.ts'
import * as domainReports from './domain-reports.ts'
import * as domains from './domains.ts'
import * as draftLists from './draft-lists.ts'
import * as drafts from './drafts.ts'
import * as events from './events.ts'
import * as identities from './identities.ts'
import * as imessage from './imessage.ts'
import * as keys from './keys.ts'
import * as labels from './labels.ts'
import * as mailRules from './mail-rules.ts'
import * as messageSharing from './message-sharing.ts'
import * as messages from './messages.ts'
import type { Operation } from './operation.ts'
import * as organization from './organization.ts'
import * as outboundMail from './outbound-mail.ts'
import * as phones from './phones.ts'
import * as requests from './requests.ts'
import * as simulator from './simulator.ts'
import * as storage from './storage.ts'
import * as suppressions from './suppressions.ts'
import * as templates from './templates.ts'
import * as threads from './threads.ts'
import * as tunnels from './tunnels.ts'
import * as usage from './usage.ts'
import * as vault from './vault.ts'
import * as webhooks from './webhooks.ts'

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
