// Inboxes, each of which is an identity with its mailbox. The id of an inbox is its address.
import { createHash, randomUUID } from 'node:crypto'
import {
  createIdentity,
  deleteIdentity,
  getIdentity,
  getMailbox,
  type Identity,
  listIdentities,
  type Mailbox,
  updateIdentity,
} from '@callsign/contract/identities'
import type { Metadata, MetadataChange } from '@callsign/contract/metadata'
import type { ReplyOf } from '@callsign/contract/operation'
import type { Static } from 'typebox'
import type { ApiCall } from '../../../core/api-call.ts'
import { ApiError } from '../../../core/errors.ts'
import {
  AgentMailFailure,
  type AgentMailRequest,
  type AgentMailRoute,
  byId,
  listOf,
  optionalText,
  pageLimitMax,
  pageOf,
  parameter,
  podId,
  present,
  queryValue,
  readList,
  wrongValue,
} from './route.ts'

type Agent = Static<typeof Identity>

/** Pages of identities that one search reads. */
const searchedPagesMax = 20

const toInbox = (agent: Agent) => ({
  pod_id: podId,
  inbox_id: agent.mailbox_address,
  email: agent.mailbox_address,
  ...(agent.display_name !== '' && { display_name: agent.display_name }),
  ...(agent.client_id !== null && { client_id: agent.client_id }),
  ...(Object.keys(agent.metadata).length > 0 && { metadata: agent.metadata }),
  updated_at: agent.updated_at,
  created_at: agent.created_at,
})

/** The mailbox that a request names. */
export const mailboxOf = (request: AgentMailRequest): Promise<Static<typeof Mailbox>> =>
  request.call(getMailbox, { params: { email_address: parameter(request, 'inbox_id') } })

/** The handle of the agent that a request names. */
export const handleOf = async (request: AgentMailRequest): Promise<string> => (await mailboxOf(request)).agent_handle

/** The addresses of mailboxes by their ids, which are the ids of inboxes. */
export async function inboxIdsOf(call: ApiCall, mailboxIds: string[]): Promise<Map<string, string>> {
  const found = await Promise.all([...new Set(mailboxIds)].map((email_address) => call(getMailbox, { params: { email_address } })))
  return new Map(found.map(({ id, email_address }) => [id, email_address]))
}

/** The handles of the agents of these inboxes. */
export async function handlesOf(call: ApiCall, inboxIds: string[]): Promise<string[]> {
  const found = await Promise.all(inboxIds.map((email_address) => call(getMailbox, { params: { email_address } })))
  return found.map(({ agent_handle }) => agent_handle)
}

/** The metadata of a request. Our API checks its keys and values. */
function metadataIn({ body }: AgentMailRequest): MetadataChange | undefined {
  if (body.metadata === undefined || body.metadata === null) return undefined
  if (typeof body.metadata !== 'object' || Array.isArray(body.metadata)) throw wrongValue('`metadata` must be an object.')
  return body.metadata as MetadataChange
}

async function update(request: AgentMailRequest) {
  const params = { handle: await handleOf(request) }
  const display_name = request.body.display_name === null ? '' : optionalText(request, 'display_name')
  const metadata = metadataIn(request)
  const agent = await request.call(getIdentity, { params })
  const cleared = Object.fromEntries(Object.keys(agent.metadata).map((key) => [key, null]))
  const body = present({ display_name, metadata: request.body.metadata === null ? cleared : metadata })
  return toInbox(Object.keys(body).length === 0 ? agent : await request.call(updateIdentity, { params, body }))
}

async function create(request: AgentMailRequest): Promise<unknown> {
  const [username, domain, clientId] = ['username', 'domain', 'client_id'].map((name) => optionalText(request, name))
  const displayName = optionalText(request, 'display_name')
  // A repeated request must be the same, so that its key or client id finds the first one.
  const seed = clientId ?? request.headers['idempotency-key']
  const suffix = createHash('sha256')
    .update(String(seed ?? randomUUID()))
    .digest('hex')
    .slice(0, 10)
  const localPart = username?.toLowerCase() ?? `agent_${suffix}`
  const make = (agent_handle: string) =>
    request.call(createIdentity, {
      body: {
        agent_handle,
        local_part: localPart,
        ...present({ domain, client_id: clientId, display_name: displayName, metadata: metadataIn(request) as Metadata | undefined }),
      },
    })
  const handle = localPart.replace(/[^a-z0-9_]/g, '_').slice(0, 21)
  const isHandle = handle === localPart && handle.length >= 2
  try {
    return toInbox(await make(isHandle ? handle : `${handle}_${suffix}`))
  } catch (error) {
    if (!(error instanceof ApiError) || !['handle_already_taken', 'address_already_taken'].includes(error.code)) throw error
    if (error.code === 'address_already_taken' || !isHandle || domain === undefined) throw taken(localPart)
    // Handles are unique on the server, and addresses on their domain.
    return toInbox(await make(`${handle}_${suffix}`))
  }
}

const taken = (localPart: string): AgentMailFailure =>
  new AgentMailFailure(403, 'IsTakenError', 'is_taken', `The address ${localPart} is taken. Choose another username.`)

/** Inboxes whose address or name has a word that starts with each word of the query, an exact address first. */
async function search(request: AgentMailRequest): Promise<unknown> {
  const text = queryValue(request, 'q')?.trim().toLowerCase() ?? ''
  if (text.length < 2 || text.length > 256) throw wrongValue('`q` must have 2 to 256 characters.')
  const words = text.split(/\s+/)
  const { limit, cursor: start } = pageOf(request)
  const found: Agent[] = []
  let cursor: string | null | undefined = start
  for (let page = 0; page < searchedPagesMax && cursor !== null && found.length < limit; page++) {
    const identities: ReplyOf<typeof listIdentities> = await request.call(listIdentities, {
      query: { limit: pageLimitMax, ...present({ cursor }) },
    })
    const matches = identities.data.filter((agent) => words.every((word) => wordsOf(agent).some((own) => own.startsWith(word))))
    found.push(...matches.slice(0, limit - found.length))
    const isCut = found.length === limit && matches.at(-1)?.id !== found.at(-1)?.id
    cursor = isCut ? (found.at(-1)?.id ?? null) : identities.next_cursor
  }
  const exactFirst = found.toSorted((a, b) => Number(b.mailbox_address === text) - Number(a.mailbox_address === text))
  return listOf('inboxes', exactFirst.map(toInbox), limit, cursor ?? null)
}

/** The words of an address and a name, and both as a whole. */
function wordsOf({ mailbox_address: address, display_name: name }: Agent): string[] {
  const whole = [address, name].map((text) => text.toLowerCase())
  return [...whole, ...whole.flatMap((text) => text.split(/[^\p{L}\p{N}]+/u))]
}

export const inboxRoutes: AgentMailRoute[] = [
  {
    method: 'GET',
    path: '/inboxes',
    isInPod: true,
    async run(request) {
      const read = (query: { limit: number; cursor?: string }) => request.call(listIdentities, { query })
      const { data, limit, next } = await readList(request, { kind: 'identity', positionOf: byId, read })
      return listOf('inboxes', data.map(toInbox), limit, next)
    },
  },
  { method: 'POST', path: '/inboxes', isInPod: true, run: create },
  { method: 'GET', path: '/inboxes/search', isInPod: true, run: search },
  {
    method: 'GET',
    path: '/inboxes/:inbox_id',
    isInPod: true,
    run: async (request) => toInbox(await request.call(getIdentity, { params: { handle: await handleOf(request) } })),
  },
  {
    method: 'PATCH',
    path: '/inboxes/:inbox_id',
    isInPod: true,
    run: update,
  },
  {
    method: 'DELETE',
    path: '/inboxes/:inbox_id',
    isInPod: true,
    async run(request) {
      await request.call(deleteIdentity, { params: { handle: await handleOf(request) } })
    },
  },
]
