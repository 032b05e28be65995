// The API reference beyond the schemas. It is a module of its own so that clients do not load it.

import type { OperationDetails } from './operation-details.ts'
import { accountDetails } from './operations/account.ts'
import { eventDetails } from './operations/events.ts'
import { imessageDetails } from './operations/imessage.ts'
import { labelDetails } from './operations/labels.ts'
import { mailDetails } from './operations/mail.ts'
import { mailSettingsDetails } from './operations/mail-settings.ts'
import { phoneDetails } from './operations/phone.ts'
import { simulatorDetails } from './operations/simulator.ts'
import { templateDetails } from './operations/templates.ts'
import { threadDetails } from './operations/threads.ts'
import { tunnelDetails } from './operations/tunnels.ts'
import { vaultDetails } from './operations/vault.ts'

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
