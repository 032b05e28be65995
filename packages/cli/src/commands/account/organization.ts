// organization show|limits|modes|pause|resume.
import type { Organization } from '@callsign/sdk'
import { type Command, count, type Option, text, type Values } from '../../command.ts'
import { UsageError } from '../../usage-error.ts'
import { modes, readModes } from '../mail-settings/mail-rules.ts'

const limitNames = [
  'recipients_per_message',
  'messages_per_minute',
  'messages_per_hour',
  'messages_per_day',
  'new_recipients_per_day',
] as const
type Limits = { [Name in (typeof limitNames)[number]]?: number | null }

const optionOf = (name: string): string => name.replaceAll('_', '-')

export const limitOptions: Record<string, Option> = {
  ...Object.fromEntries(
    limitNames.map((name): [string, Option] => [
      optionOf(name),
      { type: 'string', value: 'N', about: `Sets ${name.replaceAll('_', ' ')}. 0 returns to the default of the server.` },
    ]),
  ),
}

/** The limits among the options. */
export function readLimits(values: Values): Limits {
  const limits: Limits = {}
  for (const name of limitNames) {
    const value = count(values, optionOf(name))
    if (value !== undefined) limits[name] = value === 0 ? null : value
  }
  return limits
}

/** The limits that are set. Empty if there are none. */
export const describeLimits = (limits: Organization['sending_limits']): string =>
  limitNames.flatMap((name) => (limits[name] === null ? [] : [`${limits[name]} ${name.replaceAll('_', ' ')}`])).join(', ')

const shown = (organization: Organization): string =>
  [
    `${organization.name} (${organization.id})`,
    organization.paused_at === null
      ? 'Sending is on.'
      : `Sending is paused since ${organization.paused_at}${organization.pause_reason ? `: ${organization.pause_reason}` : '.'}`,
    `All mail together: ${describeLimits(organization.sending_limits) || 'no limits'}`,
    `Each key: ${describeLimits(organization.key_sending_limits) || 'no limits'}`,
    `Modes of every agent: inbound ${organization.inbound_mode}, outbound ${organization.outbound_mode}`,
  ].join('\n')

export const organizationCommands: Command[] = [
  {
    words: 'organization show',
    about: 'Shows the limits for sending, and if sending is paused.',
    example: 'callsign organization show',
    operations: ['getOrganization'],
    async run({ client, output }) {
      const organization = await (await client()).organization.get()
      output.result(organization, () => shown(organization))
      return 0
    },
  },
  {
    words: 'organization limits',
    about: 'Changes the limits for sending of the organization, or of each key.',
    example: 'callsign organization limits --messages-per-hour 500',
    operations: ['updateOrganization'],
    options: { 'of-keys': { type: 'boolean', about: 'Changes the limits of each key, not of all mail together.' }, ...limitOptions },
    async run({ client, output }, values) {
      const limits = readLimits(values)
      if (Object.keys(limits).length === 0) throw new UsageError('Give a limit, such as --messages-per-hour 500.')
      const body = values['of-keys'] ? { key_sending_limits: limits } : { sending_limits: limits }
      const organization = await (await client()).organization.update(body)
      output.result(organization, () => shown(organization))
      return 0
    },
  },
  {
    words: 'organization modes',
    about: 'Sets the mail modes of every agent. allowlist is also the mode of agents with the mode open.',
    example: 'callsign organization modes --inbound allowlist',
    operations: ['updateOrganization'],
    options: {
      inbound: { type: 'string', value: 'MODE', choices: modes, about: 'open or allowlist, for senders.' },
      outbound: { type: 'string', value: 'MODE', choices: modes, about: 'open or allowlist, for recipients.' },
    },
    async run({ client, output }, values) {
      const body = readModes(values)
      if (Object.keys(body).length === 0) throw new UsageError('Give --inbound or --outbound.')
      const organization = await (await client()).organization.update(body)
      output.result(organization, () => shown(organization))
      return 0
    },
  },
  {
    words: 'organization pause',
    about: 'Stops all sending of mail and iMessages at once. Further messages are accepted and held.',
    example: 'callsign organization pause --reason "An agent loops."',
    operations: ['pauseOrganization'],
    options: { reason: { type: 'string', value: 'TEXT', about: 'The reason, for the audit log.' } },
    async run({ client, output }, values) {
      const reason = text(values, 'reason')
      const organization = await (await client()).organization.pause(reason === undefined ? {} : { reason })
      output.result(organization, () => shown(organization))
      return 0
    },
  },
  {
    words: 'organization resume',
    about: 'Ends the pause. Held messages are sent.',
    example: 'callsign organization resume',
    operations: ['resumeOrganization'],
    async run({ client, output }) {
      const organization = await (await client()).organization.resume()
      output.result(organization, () => shown(organization))
      return 0
    },
  },
]
