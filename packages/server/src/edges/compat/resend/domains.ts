// Domains.
import type { Domain } from '@callsign/contract/domains'
import { createDomain, deleteDomain, getDomain, listDomains, verifyDomain } from '@callsign/contract/domains'
import type { Static } from 'typebox'
import { notOffered, type ResendRequest, type ResendRoute, textField } from './route.ts'

const recordStatuses = { pending: 'not_started', valid: 'verified', failed: 'failed' } as const

const capabilities = { sending: 'enabled', receiving: 'enabled' } as const

/** Resend requires a region. Ours is where the server stands. */
const domainFields = (domain: Static<typeof Domain>) => ({
  id: domain.id,
  name: domain.domain,
  status: domain.status,
  created_at: domain.created_at,
  region: 'us-east-1',
  capabilities,
  open_tracking: false,
  click_tracking: false,
})

/** A domain with its records, as in an answer and in an event. */
export const domainWithRecords = (domain: Static<typeof Domain>) => ({
  ...domainFields(domain),
  records: domain.dns_records.map(({ type, name, value, priority, status, purpose }) => ({
    record: purpose === 'mx' ? 'Receiving' : purpose === 'dkim' ? 'DKIM' : 'SPF',
    name,
    type,
    value,
    ttl: 'Auto',
    status: recordStatuses[status],
    ...(priority !== undefined && { priority }),
  })),
})

const shown = (domain: Static<typeof Domain>) => ({ object: 'domain', ...domainWithRecords(domain) })

const idOf = ({ params }: ResendRequest): { domain_id: string } => ({ domain_id: params.id as string })

export const domainRoutes: ResendRoute[] = [
  {
    method: 'POST',
    path: '/domains',
    status: 201,
    run: async ({ body, call }) => shown((await call(createDomain, { body: { domain: textField(body, 'name') } })).data),
  },
  {
    method: 'GET',
    path: '/domains',
    run: async ({ call }) => ({ object: 'list', has_more: false, data: (await call(listDomains)).data.map(domainFields) }),
  },
  {
    method: 'GET',
    path: '/domains/:id',
    run: async (request) => shown((await request.call(getDomain, { params: idOf(request) })).data),
  },
  {
    method: 'POST',
    path: '/domains/:id/verify',
    async run(request) {
      const { data } = await request.call(verifyDomain, { params: idOf(request) })
      return { object: 'domain', id: data.id }
    },
  },
  {
    method: 'PATCH',
    path: '/domains/:id',
    async run(request) {
      const { open_tracking: opens, click_tracking: clicks } = request.body as Record<string, unknown>
      if (opens === true || clicks === true) throw notOffered('Tracking of opens and clicks')
      const { data } = await request.call(getDomain, { params: idOf(request) })
      return { object: 'domain', id: data.id }
    },
  },
  {
    method: 'DELETE',
    path: '/domains/:id',
    async run(request) {
      await request.call(deleteDomain, { params: idOf(request) })
      return { object: 'domain', id: request.params.id, deleted: true }
    },
  },
]
