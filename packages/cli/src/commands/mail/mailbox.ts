// Finds the mailbox that a command works on, and the one that has a message, draft or thread.
import { ApiError, type Callsign, everyItem } from '@callsign/sdk'
import { type Option, text, type Values } from '../../command.ts'
import { NotFoundError, UsageError } from '../../usage-error.ts'

/** Options of every command on one mailbox. Both mean the same. */
export const mailboxOptions: Record<string, Option> = {
  agent: { type: 'string', value: 'HANDLE', about: 'The agent whose mailbox is meant.' },
  mailbox: { type: 'string', value: 'MAILBOX', about: 'The mailbox, as an address or a handle.' },
}

const namesShown = 5

/** The given mailbox, or undefined. Throws UsageError when two different ones are given. */
function givenMailbox(values: Values, positional?: string): string | undefined {
  const given = [positional, text(values, 'mailbox'), text(values, 'agent')].filter((one) => one !== undefined)
  if (new Set(given).size > 1) throw new UsageError(`${given.join(' and ')} are different mailboxes. Give one of them.`)
  return given[0]
}

/** The agent filter of a list of every mailbox. Throws UsageError when one mailbox is given too. */
export function readAgentFilter(values: Values, positional?: string): { agent?: string } {
  const mailbox = positional ?? (text(values, 'mailbox') === undefined ? undefined : '--mailbox')
  if (mailbox !== undefined) throw new UsageError(`--all and ${mailbox} are mutually exclusive. Give one of them.`)
  const agent = text(values, 'agent')
  return agent === undefined ? {} : { agent }
}

/**
 * The given mailbox, that of the agent key, or the only one of the organization. Throws UsageError, with `reason` first, when there are several.
 */
export async function chooseMailbox(
  client: Callsign,
  values: Values,
  positional?: string,
  reason = 'The mailbox is missing.',
): Promise<string> {
  const given = givenMailbox(values, positional) ?? (await client.me()).key.agent_handle
  if (given !== null) return given
  const { data, next_cursor } = await client.mailboxes.list({ limit: namesShown })
  const [only, ...others] = data
  if (!only) throw new NotFoundError('The organization does not have a mailbox. Run callsign identities create HANDLE.')
  if (others.length === 0) return only.agent_handle
  const names = data.map((one) => one.agent_handle).join(', ')
  throw new UsageError(`${reason} Give --agent with one of ${names}${next_cursor ? ', …' : ''}.`)
}

type Wanted = { mailbox?: string | undefined; id: string; kind: string; find: () => Promise<{ mailbox_id: string } | undefined> }

/** The given mailbox, that of the agent key, or the one of the object that `find` gets by its id alone. Throws NotFoundError. */
export async function locate(client: Callsign, values: Values, { mailbox, id, kind, find }: Wanted): Promise<string> {
  const given = givenMailbox(values, mailbox) ?? (await client.me()).key.agent_handle
  if (given !== null) return given
  const found = await find().catch((error: unknown) => {
    if (error instanceof ApiError && error.status === 404) return undefined
    throw error
  })
  if (!found) throw new NotFoundError(`No mailbox of the organization has the ${kind} ${id}.`)
  return found.mailbox_id
}

/** The handles of mailboxes by their ids, fetched until every wanted id is known. None for a key that cannot list mailboxes. */
export async function handlesOf(client: Callsign, ids: Iterable<string>): Promise<Map<string, string>> {
  const wanted = new Set(ids)
  const handles = new Map<string, string>()
  if (wanted.size === 0) return handles
  try {
    for await (const { id, agent_handle } of everyItem((cursor) =>
      client.mailboxes.list({ limit: 100, ...(cursor !== undefined && { cursor }) }),
    )) {
      if (wanted.delete(id)) handles.set(id, agent_handle)
      if (wanted.size === 0) break
    }
  } catch (error) {
    if (!(error instanceof ApiError && error.status === 403)) throw error
  }
  return handles
}
