// The overview of an organization: questions that wait for a person, the traffic of 24 hours, and problems of the server.

export type Waiting = { drafts: number; quarantine: number; webhooks_failing: number; domains_unverified: number; keys_expiring: number }

/** The first steps of a new organization, each true once it is done. `sign_in` is null for a session of a key. */
export type FirstSteps = { agent: boolean; arrived: boolean; client: boolean; sign_in: boolean | null }

/** Unread threads in the inbox and in spam, and all drafts. */
export type FolderCounts = { inbox: number; spam: number; drafts: number; scheduled: number }

/** `no_client` counts requests to tunnels that came while no client was connected. They are not in `failed`. */
export type Channel = {
  channel: 'mail' | 'phone' | 'imessage' | 'tunnels' | 'webhooks' | 'vault'
  in: number
  out: number
  failed: number
  no_client?: number
}

/** A problem of the server, with its remedy. `code` is stable. */
export type ServerFinding = { level: 'error' | 'warning' | 'info'; code: string; message: string; fix: string }

/** Which event counts where. Quarantined mail waits for a person and is not received, as in the counts of usage. */
const eventColumns: Record<string, ['mail' | 'phone' | 'imessage', 'in' | 'out' | 'failed']> = {
  'email.received': ['mail', 'in'],
  'email.sent': ['mail', 'out'],
  'email.bounced': ['mail', 'failed'],
  'email.failed': ['mail', 'failed'],
  'sms.received': ['phone', 'in'],
  'imessage.received': ['imessage', 'in'],
  'imessage.sent': ['imessage', 'out'],
  'imessage.failed': ['imessage', 'failed'],
}

/** The mail, phone and iMessage channels from counts of events by type. */
export function channelsOf(counts: { type: string; count: number }[]): Channel[] {
  const channels = (['mail', 'phone', 'imessage'] as const).map((channel): Channel => ({ channel, in: 0, out: 0, failed: 0 }))
  for (const { type, count } of counts) {
    const [name, column] = eventColumns[type] ?? []
    const channel = channels.find((one) => one.channel === name)
    if (channel && column) channel[column] += count
  }
  return channels
}
