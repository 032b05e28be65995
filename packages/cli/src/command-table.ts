// Every command. The help, the completion scripts and docs/cli.md are printed from this table.
import type { Command } from './command.ts'
import { accountCommands } from './commands/accounts.ts'
import { addressCommands } from './commands/addresses.ts'
import { approvalCommands } from './commands/approvals.ts'
import { auditCommands } from './commands/audit.ts'
import { completionCommands } from './commands/completion.ts'
import { domainReportCommands } from './commands/domain-reports.ts'
import { domainCommands } from './commands/domains.ts'
import { draftCommands } from './commands/drafts.ts'
import { eventCommands } from './commands/events.ts'
import { firstStepCommands } from './commands/first-steps.ts'
import { identityCommands } from './commands/identities.ts'
import { imessageCommands } from './commands/imessage.ts'
import { keyCommands } from './commands/keys.ts'
import { labelCommands } from './commands/labels.ts'
import { listenCommands } from './commands/listen.ts'
import { mailBatchCommands } from './commands/mail-batches.ts'
import { mailFileCommands } from './commands/mail-files.ts'
import { mailRuleCommands } from './commands/mail-rules.ts'
import { mailWaitCommands } from './commands/mail-wait.ts'
import { mcpCommands } from './commands/mcp.ts'
import { messageCommands } from './commands/messages.ts'
import { organizationCommands } from './commands/organization.ts'
import { outboundMailCommands } from './commands/outbound-mail.ts'
import { phoneCommands } from './commands/phones.ts'
import { quarantineCommands } from './commands/quarantine.ts'
import { requestCommands } from './commands/requests.ts'
import { simulatorCommands } from './commands/simulator.ts'
import { storageCommands } from './commands/storage.ts'
import { suppressionCommands } from './commands/suppressions.ts'
import { templateCommands } from './commands/templates.ts'
import { threadCommands } from './commands/threads.ts'
import { tunnelCommands } from './commands/tunnels.ts'
import { usageCommands } from './commands/usage.ts'
import { vaultCommands } from './commands/vault.ts'
import { vaultGrantCommands } from './commands/vault-grants.ts'
import { vaultKeyCommands } from './commands/vault-keys.ts'
import { vaultRunCommands } from './commands/vault-run.ts'
import { webhookDeliveryCommands } from './commands/webhook-deliveries.ts'
import { webhookCommands } from './commands/webhooks.ts'

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
