// Inboxes, each of which is an identity with its mailbox. The id of an inbox is that of the mailbox.
import { listDrafts } from '@callsign/contract/draft-lists'
import {
  createIdentity,
  deleteIdentity,
  getIdentity,
  getMailbox,
  type Identity,
  listIdentities,
  updateIdentity,
} from '@callsign/contract/identities'
import { listThreads } from '@callsign/contract/threads'
import type { Static } from 'typebox'
import type { ApiCall } from '../../../core/api-call.ts'
import { ApiError } from '../../../core/errors.ts'
import { listPage } from './pages.ts'
import { isGiven, notOffered, ResendFailure, type ResendRequest, type ResendRoute, textField } from './route.ts'

type Agent = Static<typeof Identity>

/** Unread threads that are counted. */
const countedMax = 100

/** The mailbox that a request names by its id or address. */
export const inboxOf = ({ params }: ResendRequest): { email_address: string } => ({ email_address: params.inbox as string })

export async function handleOf(request: ResendRequest): Promise<string> {
  return (await request.call(getMailbox, { params: inboxOf(request) })).agent_handle
}

const nameOf = ({ description, display_name: name }: Agent): string => description || name

async function toInbox(call: ApiCall, agent: Agent) {
  const params = { email_address: agent.mailbox_address }
  const [unread, latest] = await Promise.all([
    call(listThreads, { params, query: { is_unread: true, limit: countedMax } }),
    call(listThreads, { params, query: { limit: 1 } }),
  ])
  return {
    id: agent.mailbox.id,
    name: nameOf(agent),
    email_address: agent.mailbox_address,
    from_name: agent.display_name || null,
    unread: unread.data.reduce((sum, thread) => sum + thread.unread_count, 0),
    last_received: latest.data[0]?.last_received_at ?? null,
    created_at: agent.created_at,
    updated_at: agent.updated_at,
  }
}

const reference = (agent: Agent) => ({ object: 'inbox', id: agent.mailbox.id })

/** The first handle of these that is free. Handles are unique on the server, and addresses on their domain. */
async function createWith(call: ApiCall, handles: string[], body: object): Promise<Agent> {
  const [agent_handle = '', ...others] = handles
  try {
    return await call(createIdentity, { body: { agent_handle, ...body } })
  } catch (error) {
    if (others.length === 0 || !(error instanceof ApiError) || error.code !== 'handle_already_taken') throw error
    return createWith(call, others, body)
  }
}

export const inboxRoutes: ResendRoute[] = [
  {
    method: 'POST',
    path: '/inboxes',
    status: 201,
    async run({ body, call }) {
      const { name, from_name: fromName, forwarding } = body as Record<string, unknown>
      if (forwarding === true) throw notOffered('An inbox with forwarding')
      const [localPart = '', domain = ''] = textField(body, 'email_address').toLowerCase().split('@')
      if (domain === '') throw new ResendFailure(422, 'validation_error', '`email_address` must be an address such as user@example.com.')
      const handle = localPart.replace(/[^a-z0-9_]/g, '_').slice(0, 20)
      const handles = [handle, `${handle}_${domain.replace(/[^a-z0-9]/g, '_').slice(0, 11)}`].map((one) => one.padEnd(2, '_'))
      const fields = {
        local_part: localPart,
        domain,
        ...(isGiven(name) && { description: textField(body, 'name') }),
        ...(isGiven(fromName) && { display_name: textField(body, 'from_name') }),
      }
      return reference(await createWith(call, handles, fields))
    },
  },
  {
    method: 'GET',
    path: '/inboxes',
    run: async (request) =>
      listPage(
        { ...request, query: { ...request.query, ...(await positionOf(request)) } },
        (query) => request.call(listIdentities, { query }),
        (agent) => toInbox(request.call, agent),
      ),
  },
  {
    method: 'GET',
    path: '/inboxes/:inbox',
    async run(request) {
      const agent = await request.call(getIdentity, { params: { handle: await handleOf(request) } })
      const { count } = await request.call(listDrafts, { params: inboxOf(request), query: { limit: 1 } })
      const domain = { domain_id: agent.custom_domain_id ?? '', receiving_address: null }
      return { object: 'inbox', ...(await toInbox(request.call, agent)), ...domain, drafts: count }
    },
  },
  {
    method: 'PATCH',
    path: '/inboxes/:inbox',
    async run(request) {
      const { name, from_name: fromName } = request.body as Record<string, unknown>
      const change = {
        ...(isGiven(name) && { description: textField(request.body, 'name') }),
        ...(isGiven(fromName) && { display_name: textField(request.body, 'from_name') }),
      }
      return reference(await request.call(updateIdentity, { params: { handle: await handleOf(request) }, body: change }))
    },
  },
  {
    method: 'DELETE',
    path: '/inboxes/:inbox',
    async run(request) {
      const { id, agent_handle: handle } = await request.call(getMailbox, { params: inboxOf(request) })
      await request.call(deleteIdentity, { params: { handle } })
      return { object: 'inbox', id, deleted: true }
    },
  },
]

/** The list of identities has ids of identities as positions, and a page of Resend is next to an inbox. */
async function positionOf({ query, call }: ResendRequest): Promise<Record<string, string>> {
  const position: Record<string, string> = {}
  for (const name of ['after', 'before'] as const) {
    const email_address = query[name]
    if (email_address !== undefined) position[name] = (await call(getMailbox, { params: { email_address } })).agent_identity_id
  }
  return position
}
