// identities list|create|show|update|delete.
import type { Identity } from '@callsign/sdk'
import { type Command, clientIdOption, count, type Option, oneOf, readClientId, several, text } from '../../command.ts'
import { listCommand, listOptions } from '../../list-command.ts'
import { oneLine } from '../../terminal/output.ts'
import { ago } from '../../terminal/times.ts'
import { UsageError } from '../../usage-error.ts'
import {
  metadataChangeOptions,
  metadataFilterOption,
  metadataOption,
  readMetadata,
  readMetadataChange,
  readMetadataFilter,
} from '../mail/marks.ts'
import { domainIdOf } from '../mail-settings/domains.ts'
import { modeOptions, readModes } from '../mail-settings/mail-rules.ts'
import { describeLimits, limitOptions, readLimits } from './organization.ts'

const approvals = ['none', 'required'] as const
const guards = ['off', 'flag', 'hold'] as const

const approvalOption: Record<string, Option> = {
  approval: {
    type: 'string',
    value: 'MODE',
    choices: approvals,
    about: 'required or none. With required, only an organization key sends its drafts.',
  },
}

const field = (name: string, value: string): string => `${name.padEnd(13)}${oneLine(value)}`

/** The settings that are not always there. */
function settingsOf(one: Identity): string[] {
  const limits = describeLimits(one.sending_limits)
  const metadata = Object.entries(one.metadata).map(([key, value]) => `${key}:${value}`)
  return [
    ...(limits === '' ? [] : [field('limits', limits)]),
    ...one.outbound_guard_patterns.map((pattern) => field('pattern', pattern)),
    ...(one.wake_limit
      ? [field('wake limit', `${one.wake_limit.events} events per sender in ${one.wake_limit.window_seconds} seconds`)]
      : []),
    ...(metadata.length > 0 ? [field('metadata', metadata.join(', '))] : []),
    ...(one.client_id === null ? [] : [field('client id', one.client_id)]),
  ]
}

const shown = (one: Identity): string =>
  [
    `handle       ${one.agent_handle}`,
    `id           ${one.id}`,
    `name         ${one.display_name}`,
    `description  ${one.description ?? ''}`,
    `instructions ${one.instructions ?? ''}`,
    `mailbox      ${one.mailbox_address}`,
    `addresses    ${one.addresses.join(', ')}`,
    `tunnel       ${one.tunnel.local_url ?? one.tunnel.public_url} (${one.tunnel.status})`,
    `approval     ${one.draft_approval === 'required' ? 'its drafts are sent by an organization key' : 'none'}`,
    `modes        inbound ${one.inbound_mode}, outbound ${one.outbound_mode}`,
    `guard        ${one.outbound_guard}`,
    ...settingsOf(one),
    `created      ${one.created_at}`,
  ].join('\n')

export const identityCommands: Command[] = [
  listCommand({
    words: 'identities list',
    about: 'Lists identities, newest first.',
    example: 'callsign identities list',
    operations: ['listIdentities', 'listMailboxes'],
    options: { ...metadataFilterOption, ...listOptions },
    call: (client, query, _given, values) => client.identities.list({ ...query, ...readMetadataFilter(values) }),
    columns: {
      HANDLE: (one) => one.agent_handle,
      MAILBOX: (one) => one.mailbox_address,
      CREATED: (one) => ago(one.created_at),
      NAME: (one) => one.display_name,
    },
  }),
  {
    words: 'identities create',
    takes: 'HANDLE',
    about: 'Creates an identity with its mailbox.',
    example: "callsign identities create sales --name 'Sales Agent'",
    operations: ['createIdentity'],
    options: {
      name: { type: 'string', value: 'TEXT', about: 'The display name in mail.' },
      description: { type: 'string', value: 'TEXT', about: 'The purpose of the identity.' },
      domain: { type: 'string', value: 'DOMAIN', about: 'A verified custom domain, or the mail domain. Defaults to the default domain.' },
      'local-part': { type: 'string', value: 'TEXT', about: 'The part of its address before the @. Defaults to the handle.' },
      ...approvalOption,
      ...modeOptions,
      ...metadataOption,
      ...clientIdOption,
    },
    async run({ client, output }, values, [handle = '']) {
      const name = text(values, 'name')
      const description = text(values, 'description')
      const domain = text(values, 'domain')
      const localPart = text(values, 'local-part')
      const approval = oneOf(values, 'approval', approvals)
      const identity = await (await client()).identities.create({
        agent_handle: handle,
        ...(name !== undefined && { display_name: name }),
        ...(description !== undefined && { description }),
        ...(domain !== undefined && { domain }),
        ...(localPart !== undefined && { local_part: localPart }),
        ...(approval && { draft_approval: approval }),
        ...readModes(values),
        ...readMetadata(values),
        ...readClientId(values),
      })
      output.result(identity, () => `${identity.agent_handle} has mail at ${identity.mailbox_address}.`)
      return 0
    },
  },
  {
    words: 'identities show',
    takes: 'HANDLE',
    about: 'Shows one identity.',
    example: 'callsign identities show sales',
    operations: ['getIdentity', 'getMailbox'],
    async run({ client, output }, _values, [handle = '']) {
      const one = await (await client()).identities.get(handle)
      output.result(one, () => shown(one))
      return 0
    },
  },
  {
    words: 'identities update',
    takes: 'HANDLE',
    about: 'Changes the given fields. The handle is permanent.',
    example: 'callsign identities update sales --approval required',
    operations: ['updateIdentity'],
    options: {
      name: { type: 'string', value: 'TEXT', about: 'The display name in mail.' },
      instructions: {
        type: 'string',
        value: 'TEXT',
        about: 'Instructions for the program that acts as the agent. Give an empty text to remove them.',
      },
      description: { type: 'string', value: 'TEXT', about: 'The purpose of the identity. Give an empty text to remove it.' },
      domain: { type: 'string', value: 'DOMAIN', about: 'Move its mailbox to this verified custom domain.' },
      'mail-domain': { type: 'boolean', about: "Move its mailbox to the server's mail domain." },
      ...approvalOption,
      guard: {
        type: 'string',
        value: 'MODE',
        choices: guards,
        about: 'off, flag or hold. Searches outgoing mail for secrets. hold requires approval.',
      },
      'guard-pattern': {
        type: 'string',
        multiple: true,
        value: 'REGEX',
        about:
          'A text that the guard searches for, in the syntax of RE2. Repeatable. Replaces the earlier ones, and an empty text removes them.',
      },
      'wake-events': { type: 'string', value: 'N', about: 'Events about received mail per sender and window. 0 turns the limit off.' },
      'wake-window': { type: 'string', value: 'SECONDS', about: 'The window of --wake-events. 600 by default.' },
      ...metadataChangeOptions,
      ...limitOptions,
    },
    async run({ client, output }, values, [handle = '']) {
      const limits = readLimits(values)
      const guard = oneOf(values, 'guard', guards)
      const patterns = several(values, 'guard-pattern')
      const wakeEvents = count(values, 'wake-events')
      const wakeWindow = count(values, 'wake-window') ?? 600
      const instructions = text(values, 'instructions')
      const [name, description, domain] = [text(values, 'name'), text(values, 'description'), text(values, 'domain')]
      const isToMailDomain = values['mail-domain'] === true
      if (domain !== undefined && isToMailDomain)
        throw new UsageError('--domain and --mail-domain are mutually exclusive. Give one of them.')
      const approval = oneOf(values, 'approval', approvals)
      const callsign = await client()
      const change = {
        ...(name !== undefined && { display_name: name }),
        ...(description !== undefined && { description: description === '' ? null : description }),
        ...(instructions !== undefined && { instructions: instructions === '' ? null : instructions }),
        ...(domain !== undefined && { custom_domain_id: await domainIdOf(callsign, domain) }),
        ...(isToMailDomain && { custom_domain_id: null }),
        ...(approval !== undefined && { draft_approval: approval }),
        ...(guard !== undefined && { outbound_guard: guard }),
        ...(patterns.length > 0 && { outbound_guard_patterns: patterns.filter((pattern) => pattern !== '') }),
        ...(wakeEvents !== undefined && { wake_limit: wakeEvents === 0 ? null : { events: wakeEvents, window_seconds: wakeWindow } }),
        ...readMetadataChange(values),
        ...(Object.keys(limits).length > 0 && { sending_limits: limits }),
      }
      if (Object.keys(change).length === 0)
        throw new UsageError('Nothing to change. Run callsign identities update --help for the options.')
      const identity = await callsign.identities.update(handle, change)
      output.result(identity, () => `${identity.agent_handle} was updated. Its mailbox is ${identity.mailbox_address}.`)
      return 0
    },
  },
  {
    words: 'identities delete',
    takes: 'HANDLE',
    about: 'Deletes an identity with its mailbox, messages, keys and grants. Its handle stays reserved.',
    example: 'callsign identities delete sales',
    operations: ['deleteIdentity'],
    async run({ client, output }, _values, [handle = '']) {
      await (await client()).identities.delete(handle)
      output.result({ agent_handle: handle, deleted: true }, () => `${handle} is deleted.`)
      return 0
    },
  },
]
