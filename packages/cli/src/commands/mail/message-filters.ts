// Filters of mail list. GET /mail/messages takes some of them, and the list of one mailbox takes all.
import { type Option, oneOf, switchOf, text, type Values } from '../../command.ts'
import { markFilterOptions, readMarkFilters } from './marks.ts'

const directions = ['inbound', 'outbound'] as const
const folders = ['inbox', 'archive', 'spam', 'trash', 'sent'] as const
const statuses = ['received', 'quarantined', 'queued', 'sent', 'delivered', 'bounced', 'failed'] as const
const flags = [
  'hidden_text',
  'model_instructions',
  'display_name_spoofing',
  'reply_to_mismatch',
  'link_mismatch',
  'lookalike_domain',
  'several_senders',
  'failed_authentication',
  'unverified_sender',
  'private_key',
  'api_key',
  'card_number',
  'callsign_key',
  'custom_pattern',
  'not_scanned',
] as const

/** Filters of GET /mail/messages. */
const sharedOptions: Record<string, Option> = {
  folder: { type: 'string', value: 'FOLDER', choices: folders, about: `Only mail in this folder: ${folders.join(', ')}.` },
  direction: { type: 'string', value: 'DIRECTION', choices: directions, about: 'Only inbound or outbound mail.' },
  ...markFilterOptions,
}

/** Filters of the list of one mailbox alone. */
const oneMailboxOptions: Record<string, Option> = {
  trash: { type: 'boolean', about: 'The trash of one mailbox.' },
  read: { type: 'boolean', about: 'Only read mail that one mailbox received.' },
  unread: { type: 'boolean', about: 'Only unread mail of one mailbox.' },
  starred: { type: 'boolean', about: 'Only mail of one mailbox with a star.' },
  unstarred: { type: 'boolean', about: 'Only mail of one mailbox without a star.' },
  status: {
    type: 'string',
    value: 'STATUS',
    choices: statuses,
    about: `Only mail of one mailbox with this status: ${statuses.join(', ')}.`,
  },
  label: { type: 'string', value: 'LABEL', about: 'Only mail of one mailbox with this label.' },
  flag: { type: 'string', value: 'FLAG', choices: flags, about: 'Only mail of one mailbox with this flag, such as link_mismatch.' },
  from: { type: 'string', value: 'TEXT', about: 'Only mail of one mailbox with this in the sender.' },
  to: { type: 'string', value: 'ADDRESS', about: 'Only mail of one mailbox to this address.' },
  subject: { type: 'string', value: 'TEXT', about: 'Only mail of one mailbox with this in the subject.' },
  after: { type: 'string', value: 'TIME', about: 'Only mail of one mailbox after this time in ISO 8601.' },
  before: { type: 'string', value: 'TIME', about: 'Only mail of one mailbox before this time in ISO 8601.' },
}

export const messageFilterOptions: Record<string, Option> = { ...oneMailboxOptions, ...sharedOptions }

/** The given options that only the list of one mailbox takes. */
export const oneMailboxFilters = (values: Values): string[] =>
  Object.keys(oneMailboxOptions)
    .filter((name) => values[name] !== undefined)
    .map((name) => `--${name}`)

/** The filters as query parameters. --read and --unread are about received mail, unless --direction is given. */
export function readMessageFilters(values: Values) {
  const [label, from, to, subject] = [text(values, 'label'), text(values, 'from'), text(values, 'to'), text(values, 'subject')]
  const [after, before] = [text(values, 'after'), text(values, 'before')]
  const [direction, folder] = [oneOf(values, 'direction', directions), oneOf(values, 'folder', folders)]
  const [status, flag] = [oneOf(values, 'status', statuses), oneOf(values, 'flag', flags)]
  const read = switchOf(values, 'read', 'is_read')
  return {
    ...(values.trash === true && { is_trashed: true }),
    ...(read.is_read !== undefined && { ...read, direction: 'inbound' as const }),
    ...switchOf(values, 'starred', 'is_starred'),
    ...(folder && { folder }),
    ...(direction && { direction }),
    ...(status && { status }),
    ...(flag && { flag }),
    ...(label !== undefined && { label }),
    ...(from !== undefined && { from }),
    ...(to !== undefined && { to }),
    ...(subject !== undefined && { subject }),
    ...(after !== undefined && { after }),
    ...(before !== undefined && { before }),
    ...readMarkFilters(values),
  }
}
