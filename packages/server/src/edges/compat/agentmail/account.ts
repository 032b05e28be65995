// The account: its organization, the identity of a key, and the only pod.
import { getCaller } from '@callsign/contract/accounts'
import { listDomains } from '@callsign/contract/domains'
import { listMailboxes } from '@callsign/contract/identities'
import type { ReplyOf } from '@callsign/contract/operation'
import { getOrganization } from '@callsign/contract/organization'
import type { ApiCall } from '../../../core/api-call.ts'
import { inboxIdsOf } from './inboxes.ts'
import {
  type AgentMailRequest,
  type AgentMailRoute,
  listOf,
  notOffered,
  notThere,
  pageLimitMax,
  pageOf,
  parameter,
  podId,
  present,
} from './route.ts'

/** The first moment of the organization is that of its pod. */
async function pod({ call }: AgentMailRequest) {
  const { created_at } = await call(getOrganization)
  return { pod_id: podId, name: 'Default', created_at, updated_at: created_at }
}

export async function countInboxes(call: ApiCall): Promise<number> {
  let count = 0
  for (let cursor: string | null | undefined; cursor !== null; ) {
    const page: ReplyOf<typeof listMailboxes> = await call(listMailboxes, { query: { limit: pageLimitMax, ...present({ cursor }) } })
    count += page.data.length
    cursor = page.next_cursor
  }
  return count
}

const notInPods = async (): Promise<never> => {
  throw notOffered('A pod besides `default`')
}

export const accountRoutes: AgentMailRoute[] = [
  {
    method: 'GET',
    path: '/organizations',
    async run({ call }) {
      const [{ id, created_at }, inboxCount, { data: domains }] = await Promise.all([
        call(getOrganization),
        countInboxes(call),
        call(listDomains),
      ])
      return { organization_id: id, inbox_count: inboxCount, domain_count: domains.length, updated_at: created_at, created_at }
    },
  },
  {
    method: 'GET',
    path: '/auth/me',
    async run({ call }) {
      const { organization_id, key } = await call(getCaller)
      const [handle, ...others] = key.agent_handles
      const known = { organization_id, pod_id: podId, api_key_id: key.id }
      if (handle === undefined || others.length > 0) return { scope_type: 'organization', scope_id: organization_id, ...known }
      const [inboxId] = (await inboxIdsOf(call, [handle])).values()
      return { scope_type: 'inbox', scope_id: inboxId, inbox_id: inboxId, ...known }
    },
  },
  {
    method: 'GET',
    path: '/pods',
    async run(request) {
      const { limit } = pageOf(request)
      return listOf('pods', [await pod(request)], limit, null)
    },
  },
  { method: 'POST', path: '/pods', run: notInPods },
  {
    method: 'GET',
    path: '/pods/:pod_id',
    async run(request) {
      if (parameter(request, 'pod_id') !== podId) throw notThere('Pod')
      return pod(request)
    },
  },
  { method: 'DELETE', path: '/pods/:pod_id', run: notInPods },
]
