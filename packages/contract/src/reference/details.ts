// The API reference beyond the schemas. It is a module of its own so that clients do not load it.
import { accountDetails } from './account.ts'
import { eventDetails } from './events.ts'
import { imessageDetails } from './imessage.ts'
import { labelDetails } from './labels.ts'
import { mailDetails } from './mail.ts'
import { mailSettingsDetails } from './mail-settings.ts'
import type { OperationDetails } from './operation-details.ts'
import { phoneDetails } from './phone.ts'
import { simulatorDetails } from './simulator.ts'
import { templateDetails } from './templates.ts'
import { threadDetails } from './threads.ts'
import { tunnelDetails } from './tunnels.ts'
import { vaultDetails } from './vault.ts'

/** The details of each operation, by operationId. */
export const operationDetails: Record<string, OperationDetails> = {
  ...accountDetails,
  ...mailDetails,
  ...threadDetails,
  ...labelDetails,
  ...templateDetails,
  ...mailSettingsDetails,
  ...phoneDetails,
  ...imessageDetails,
  ...eventDetails,
  ...tunnelDetails,
  ...vaultDetails,
  ...simulatorDetails,
}
