// Every command. The help, the completion scripts and docs/cli.md are printed from this table.
import type { Command } from './command.ts'
import { accountCommands } from './commands/account/accounts.ts'
import { addressCommands } from './commands/account/addresses.ts'
import { auditCommands } from './commands/account/audit.ts'
import { identityCommands } from './commands/account/identities.ts'
import { keyCommands } from './commands/account/keys.ts'
import { organizationCommands } from './commands/account/organization.ts'
import { requestCommands } from './commands/account/requests.ts'
import { storageCommands } from './commands/account/storage.ts'
import { usageCommands } from './commands/account/usage.ts'
import { completionCommands } from './commands/completion.ts'
import { approvalCommands } from './commands/drafts/approvals.ts'
import { draftCommands } from './commands/drafts/drafts.ts'
import { templateCommands } from './commands/drafts/templates.ts'
import { eventCommands } from './commands/events/events.ts'
import { listenCommands } from './commands/events/listen.ts'
import { webhookDeliveryCommands } from './commands/events/webhook-deliveries.ts'
import { webhookCommands } from './commands/events/webhooks.ts'
import { firstStepCommands } from './commands/first-steps.ts'
import { labelCommands } from './commands/mail/labels.ts'
import { mailBatchCommands } from './commands/mail/mail-batches.ts'
import { mailFileCommands } from './commands/mail/mail-files.ts'
import { mailWaitCommands } from './commands/mail/mail-wait.ts'
import { messageCommands } from './commands/mail/messages.ts'
import { outboundMailCommands } from './commands/mail/outbound-mail.ts'
import { quarantineCommands } from './commands/mail/quarantine.ts'
import { threadCommands } from './commands/mail/threads.ts'
import { domainReportCommands } from './commands/mail-settings/domain-reports.ts'
import { domainCommands } from './commands/mail-settings/domains.ts'
import { mailRuleCommands } from './commands/mail-settings/mail-rules.ts'
import { suppressionCommands } from './commands/mail-settings/suppressions.ts'
import { mcpCommands } from './commands/mcp.ts'
import { imessageCommands } from './commands/phone/imessage.ts'
import { phoneCommands } from './commands/phone/phones.ts'
import { simulatorCommands } from './commands/phone/simulator.ts'
import { tunnelCommands } from './commands/tunnels/tunnels.ts'
import { vaultCommands } from './commands/vault/vault.ts'
import { vaultGrantCommands } from './commands/vault/vault-grants.ts'
import { vaultKeyCommands } from './commands/vault/vault-keys.ts'
import { vaultRunCommands } from './commands/vault/vault-run.ts'

export const commands: readonly Command[] = [
  ...firstStepCommands,
  ...accountCommands,
  ...organizationCommands,
  ...identityCommands,
  ...addressCommands,
  ...outboundMailCommands,
  ...mailWaitCommands,
  ...messageCommands,
  ...mailFileCommands,
  ...mailBatchCommands,
  ...threadCommands,
  ...draftCommands,
  ...approvalCommands,
  ...labelCommands,
  ...templateCommands,
  ...mailRuleCommands,
  ...quarantineCommands,
  ...suppressionCommands,
  ...domainCommands,
  ...domainReportCommands,
  ...phoneCommands,
  ...imessageCommands,
  ...tunnelCommands,
  ...eventCommands,
  ...listenCommands,
  ...mcpCommands,
  ...webhookCommands,
  ...webhookDeliveryCommands,
  ...vaultCommands,
  ...vaultGrantCommands,
  ...vaultKeyCommands,
  ...vaultRunCommands,
  ...keyCommands,
  ...auditCommands,
  ...usageCommands,
  ...storageCommands,
  ...requestCommands,
  ...simulatorCommands,
  ...completionCommands,
]
