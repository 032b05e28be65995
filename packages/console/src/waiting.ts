// Items that need a person, the traffic of the last 24 hours, and problems of the server.
import { computed, signal } from '@preact/signals'
import { consoleCall } from './session/console-api.ts'

export type ChannelName = 'mail' | 'phone' | 'imessage' | 'tunnels' | 'webhooks' | 'vault'

/** True for each step that is done. `sign_in` is null for a session of a key. */
export type FirstStepStates = { agent: boolean; arrived: boolean; client: boolean; sign_in: boolean | null }

export type Overview = {
  waiting: { drafts: number; quarantine: number; webhooks_failing: number; domains_unverified: number; keys_expiring: number }
  /** `no_client` counts requests to tunnels without a connected client, which are not in `failed`. */
  channels: { channel: ChannelName; in: number; out: number; failed: number; no_client?: number }[]
  /** null for an agent. */
  first_steps: FirstStepStates | null
  findings: { level: 'error' | 'warning' | 'info'; code: string; message: string; fix: string }[]
}

const overview = signal<Overview | null>(null)

/** Numbers beside the navigation, by the name of the screen. */
export const waitingCounts = computed<Record<string, number>>(() => ({
  approvals: overview.value?.waiting.drafts ?? 0,
  quarantine: overview.value?.waiting.quarantine ?? 0,
  webhooks: overview.value?.waiting.webhooks_failing ?? 0,
}))

/** True while mail to other hosts is recorded and not sent. */
export const isMailSimulated = computed(() => overview.value?.findings.some(({ code }) => code === 'mail_simulator') ?? false)

export async function loadOverview(): Promise<Overview> {
  const answer = await consoleCall<Overview>('GET', 'overview')
  overview.value = answer
  return answer
}
