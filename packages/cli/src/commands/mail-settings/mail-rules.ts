// rules list|add|pause|resume|rm|mode. The argument is the entry or the id of a rule.
import { allItems, type Callsign, type MailRule } from '@callsign/sdk'
import { type Command, clientIdOption, type Option, oneOf, readClientId, text, type Values } from '../../command.ts'
import { listCommand, listOptions } from '../../list-command.ts'
import { UsageError } from '../../usage-error.ts'

const directions = ['inbound', 'outbound', 'both'] as const
const actions = ['allow', 'block'] as const
const statuses = ['active', 'paused'] as const
export const modes = ['open', 'allowlist'] as const

/** The modes of an agent. */
export const modeOptions: Record<string, Option> = {
  inbound: {
    type: 'string',
    value: 'MODE',
    choices: modes,
    about: 'open or allowlist. allowlist accepts only senders that a rule allows, and answers.',
  },
  outbound: {
    type: 'string',
    value: 'MODE',
    choices: modes,
    about: 'open or allowlist. allowlist permits only recipients that a rule allows.',
  },
}

export function readModes(values: Values) {
  const [inbound, outbound] = [oneOf(values, 'inbound', modes), oneOf(values, 'outbound', modes)]
  return { ...(inbound && { inbound_mode: inbound }), ...(outbound && { outbound_mode: outbound }) }
}

/** Finds a rule by its entry or id. */
async function findRule(client: Callsign, handle: string, reference: string): Promise<string> {
  if (reference.startsWith('mrl_')) return reference
  const found = await allItems<MailRule>((cursor) =>
    client.mailRules.list(handle, { entry: reference, ...(cursor !== undefined && { cursor }) }),
  )
  const [rule, another] = found
  if (!rule) throw new UsageError(`${handle} does not have a rule for ${reference}. Run callsign rules list ${handle} for its rules.`)
  if (another)
    throw new UsageError(`${handle} has several rules for ${reference}. Give the id of one: ${found.map((one) => one.id).join(', ')}.`)
  return rule.id
}

const setStatus = (word: string, status: 'active' | 'paused', about: string): Command => ({
  words: `rules ${word}`,
  takes: 'HANDLE RULE',
  about,
  example: `callsign rules ${word} sales spam.example`,
  operations: ['updateMailRule'],
  async run({ client, output }, _values, [handle = '', reference = '']) {
    const callsign = await client()
    const rule = await callsign.mailRules.update(handle, await findRule(callsign, handle, reference), { status })
    output.result(rule, () => `${rule.id} is ${rule.status}.`)
    return 0
  },
})

export const mailRuleCommands: Command[] = [
  listCommand({
    words: 'rules list',
    takes: 'HANDLE',
    about: 'Lists the mail rules of an agent, newest first. The handle * means every agent.',
    example: 'callsign rules list sales',
    operations: ['listMailRules', 'getMailRule'],
    options: {
      entry: { type: 'string', value: 'ENTRY', field: 'entry', about: 'Only rules for this address or domain.' },
      action: { type: 'string', value: 'ACTION', field: 'action', choices: actions, about: 'Only rules that allow or block.' },
      direction: {
        type: 'string',
        value: 'DIRECTION',
        field: 'direction',
        choices: directions,
        about: 'Only rules that are inbound, outbound or both.',
      },
      status: { type: 'string', value: 'STATUS', field: 'status', choices: statuses, about: 'Only active or paused rules.' },
      ...listOptions,
    },
    call: (client, query, [handle = '']) => client.mailRules.list(handle, query),
    columns: {
      ID: (rule) => rule.id,
      ACTION: (rule) => rule.action,
      ENTRY: (rule) => rule.entry,
      DIRECTION: (rule) => rule.direction,
      STATUS: (rule) => rule.status,
      REASON: (rule) => rule.reason ?? '',
    },
  }),
  {
    words: 'rules add',
    takes: 'HANDLE',
    about: 'Allows or blocks an address, or a domain with its subdomains. The handle * means every agent.',
    example: 'callsign rules add sales --block spam.example --direction inbound',
    operations: ['createMailRule'],
    options: {
      allow: { type: 'string', value: 'ENTRY', about: 'The address or domain to allow.' },
      block: { type: 'string', value: 'ENTRY', about: 'The address or domain to block.' },
      direction: { type: 'string', value: 'DIRECTION', choices: directions, about: 'inbound, outbound or both. Defaults to both.' },
      reason: { type: 'string', value: 'TEXT', about: 'The reason, reported with each decision of the rule.' },
      ...clientIdOption,
    },
    async run({ client, output }, values, [handle = '']) {
      const [allow, block, reason] = [text(values, 'allow'), text(values, 'block'), text(values, 'reason')]
      if ((allow === undefined) === (block === undefined)) throw new UsageError('Either --allow or --block is required.')
      const rule = await (await client()).mailRules.create(handle, {
        direction: oneOf(values, 'direction', directions) ?? 'both',
        action: allow === undefined ? 'block' : 'allow',
        entry: (allow ?? block) as string,
        ...(reason !== undefined && { reason }),
        ...readClientId(values),
      })
      output.result(rule, () => `${rule.id} ${rule.action}s ${rule.entry}, ${rule.direction}.`)
      return 0
    },
  },
  setStatus('pause', 'paused', 'Pauses a rule without deleting it.'),
  setStatus('resume', 'active', 'Resumes a paused rule.'),
  {
    words: 'rules rm',
    takes: 'HANDLE RULE',
    about: 'Deletes a rule.',
    example: 'callsign rules rm sales spam.example',
    operations: ['deleteMailRule'],
    async run({ client, output }, _values, [handle = '', reference = '']) {
      const callsign = await client()
      const deleted = await callsign.mailRules.delete(handle, await findRule(callsign, handle, reference))
      output.result(deleted, () => `${deleted.id} is deleted.`)
      return 0
    },
  },
  {
    words: 'rules mode',
    takes: 'HANDLE',
    about: 'Shows the modes of an agent, or sets them.',
    example: 'callsign rules mode sales --inbound allowlist',
    operations: ['getIdentity', 'updateIdentity'],
    options: modeOptions,
    async run({ client, output }, values, [handle = '']) {
      const change = readModes(values)
      const { identities } = await client()
      const identity = Object.keys(change).length > 0 ? await identities.update(handle, change) : await identities.get(handle)
      const { agent_handle, inbound_mode, outbound_mode } = identity
      output.result({ agent_handle, inbound_mode, outbound_mode }, () => `inbound   ${inbound_mode}\noutbound  ${outbound_mode}`)
      return 0
    },
  },
]
