// Finds the mailbox that a command works on, and the one that has a message, draft or thread.
import { ApiError, type Callsign, everyItem, type Mailbox } from '@callsign/sdk'
import { type Option, text, type Values } from './command.ts'
import type { Output } from './output.ts'
import { NotFoundError, UsageError } from './usage-error.ts'

/** Options of every command on one mailbox. Both mean the same. */
export const mailboxOptions: Record<string, Option> = {
  agent: { type: 'string', value: 'HANDLE', about: 'The agent whose mailbox is meant.' },
  mailbox: { type: 'string', value: 'MAILBOX', about: 'The mailbox, as an address or a handle.' },
}

const namesShown = 5
/** Mailboxes that are asked for an id at the same time. */
const searchesAtOnce = 8

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

type Wanted = { mailbox?: string | undefined; id: string; kind: string; get: (mailbox: string) => Promise<unknown> }

/**
 * The given mailbox, that of the agent key, or the one in which `get` succeeds. With an organization key every mailbox is tried, newest first.
 * Throws NotFoundError.
 */
export async function locate(client: Callsign, output: Output, values: Values, wanted: Wanted): Promise<string> {
  const given = givenMailbox(values, wanted.mailbox) ?? (await client.me()).key.agent_handle
  if (given !== null) return given
  const tryMailbox = async ({ agent_handle: mailbox }: Mailbox) => {
    try {
      await wanted.get(mailbox)
      return mailbox
    } catch (error) {
      if (error instanceof ApiError && error.status === 404) return null
      throw error
    }
  }
  let batch: Mailbox[] = []
  let tried = 0
  const search = async () => {
    if (tried > 100) output.progress(`${wanted.id} is not in the newest ${tried} mailboxes. --agent skips the search.`)
    const results = await Promise.all(batch.map(tryMailbox))
    tried += batch.length
    batch = []
    return results.find((one) => one !== null)
  }
  for await (const mailbox of everyItem((cursor) => client.mailboxes.list({ limit: 100, ...(cursor !== undefined && { cursor }) }))) {
    batch.push(mailbox)
    const hit = batch.length === searchesAtOnce ? await search() : undefined
    if (hit) return hit
  }
  const hit = await search()
  if (hit) return hit
  throw new NotFoundError(`No mailbox of the organization has the ${wanted.kind} ${wanted.id}.`)
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
