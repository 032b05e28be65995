// usage storage, and retention preview|set.
import type { Organization } from '@callsign/sdk'
import { type Command, count, type Option, text, type Values } from '../../command.ts'
import { listCommand, listOptions } from '../../list-command.ts'
import { UsageError } from '../../usage-error.ts'

const daysOptions: Record<string, Option> = {
  'messages-days': { type: 'string', value: 'DAYS', about: 'Messages older than this. 0 returns to the default.' },
  'attachments-days': { type: 'string', value: 'DAYS', about: 'Attachments of messages older than this. 0 returns to the default.' },
}

const agentOption: Option = { type: 'string', value: 'HANDLE', about: 'Only this agent. By default, the organization.' }

/** The days among the options. 0 is null. */
function readDays<N extends string>(values: Values, names: readonly N[]): { [Name in N]?: number | null } {
  const days: { [Name in N]?: number | null } = {}
  for (const name of names) {
    const value = count(values, name.replaceAll('_', '-'))
    if (value !== undefined) days[name] = value === 0 ? null : value
  }
  return days
}

/** A number of bytes as people write it. */
export function bytesText(bytes: number): string {
  const units = ['bytes', 'kB', 'MB', 'GB', 'TB']
  const power = Math.min(units.length - 1, bytes < 1000 ? 0 : Math.floor(Math.log10(bytes) / 3))
  return power === 0 ? `${bytes} bytes` : `${(bytes / 1000 ** power).toFixed(1)} ${units[power]}`
}

const mailDays = ['messages_days', 'attachments_days'] as const

const describeDays = (retention: Partial<Organization['retention']>): string =>
  Object.entries(retention)
    .map(([name, days]) => `${name.replace('_days', '')}: ${days === null ? 'default' : `${days} days`}`)
    .join(', ')

export const storageCommands: Command[] = [
  listCommand({
    words: 'usage storage',
    about: 'Lists the bytes of stored mail with their quotas, newest agent first. It needs an organization key.',
    example: 'callsign usage storage --by-agent',
    operations: ['listStorage'],
    options: {
      'by-agent': { type: 'boolean', about: 'One line for each agent.' },
      agent: { type: 'string', value: 'HANDLE', field: 'agent_handle', about: 'Only this agent.' },
      ...listOptions,
    },
    call: (client, query, _given, values) => client.usage.listStorage({ ...(values['by-agent'] === true && { by: 'agent' }), ...query }),
    columns: {
      FOR: (one) => one.agent_handle ?? 'organization',
      USED: (one) => bytesText(one.used_bytes),
      QUOTA: ({ quota_bytes: quota }) => (quota === null ? 'none' : bytesText(quota)),
      SHARE: ({ used_bytes: used, quota_bytes: quota }) => (quota === null ? '' : `${Math.floor((100 * used) / quota)} %`),
    },
  }),
  {
    words: 'retention preview',
    about: 'Counts what a retention would delete now. It deletes nothing.',
    example: 'callsign retention preview --messages-days 365',
    operations: ['previewRetention'],
    options: { agent: agentOption, ...daysOptions },
    async run({ client, output }, values) {
      const agent = text(values, 'agent')
      const { messages_days, attachments_days } = readDays(values, mailDays)
      if (!messages_days && !attachments_days) throw new UsageError('Give --messages-days or --attachments-days.')
      const preview = await (await client()).usage.previewRetention({
        ...(agent !== undefined && { agent_handle: agent }),
        ...(messages_days && { messages_days }),
        ...(attachments_days && { attachments_days }),
      })
      output.result(preview, () =>
        [
          `Would delete ${preview.messages} messages (${bytesText(preview.messages_bytes)}).`,
          `Would delete ${preview.attachments} attachments of other messages (${bytesText(preview.attachments_bytes)}).`,
          `${preview.held_messages} old messages stay for drafts that wait, or are not sent yet.`,
        ].join('\n'),
      )
      return 0
    },
  },
  {
    words: 'retention set',
    about: 'Sets the days that data is kept, and the storage quota. Run `callsign retention preview` first.',
    example: 'callsign retention set --messages-days 365 --agent sales',
    operations: ['updateOrganization', 'updateIdentity'],
    options: {
      agent: agentOption,
      ...daysOptions,
      'events-days': { type: 'string', value: 'DAYS', about: 'Events older than this, for the organization. 0 returns to the default.' },
      'requests-days': {
        type: 'string',
        value: 'DAYS',
        about: 'Logged requests older than this, for the organization. 0 returns to the default.',
      },
      'quota-mb': { type: 'string', value: 'MB', about: 'The storage quota in MB of 1,000,000 bytes. 0 removes it.' },
    },
    async run({ client, output }, values) {
      const agent = text(values, 'agent')
      const quota = count(values, 'quota-mb')
      const own = readDays(values, mailDays)
      const ofOrganization = readDays(values, ['events_days', 'requests_days'])
      if (agent !== undefined && Object.keys(ofOrganization).length > 0)
        throw new UsageError('--events-days and --requests-days are for the organization. Omit --agent.')
      const retention = { ...own, ...ofOrganization }
      const change = {
        ...(Object.keys(retention).length > 0 && { retention }),
        ...(quota !== undefined && { storage_quota_bytes: quota === 0 ? null : quota * 1_000_000 }),
      }
      if (Object.keys(change).length === 0) throw new UsageError('Nothing to change. Run callsign retention set --help for the options.')
      const callsign = await client()
      const result = agent === undefined ? await callsign.organization.update(change) : await callsign.identities.update(agent, change)
      const quotaText = result.storage_quota_bytes === null ? 'none' : bytesText(result.storage_quota_bytes)
      output.result(result, () => `${agent ?? 'organization'}: ${describeDays(result.retention)}. Storage quota: ${quotaText}.`)
      return 0
    },
  },
]
