// Domains.
import type { Domain } from '@callsign/contract/domains'
import { createDomain, deleteDomain, getDomain, listDomains, verifyDomain } from '@callsign/contract/domains'
import type { Static } from 'typebox'
import { listPage } from './pages.ts'
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

/** Our list of domains has one page. */
async function listFrom({ call }: ResendRequest, { cursor, limit }: { cursor?: string; limit: number }) {
  const { data } = await call(listDomains)
  const start = cursor === undefined ? 0 : data.filter(({ id }) => id >= cursor).length
  return { data: data.slice(start, start + limit), next_cursor: data.length > start + limit ? (data[start + limit - 1]?.id ?? null) : null }
}

/** A claim that could not be proved yet can be proved later. */
const claimStatuses = { pending: 'pending', verified: 'completed', failed: 'pending' } as const

/** Registering a domain claims its name, and its DNS records prove the claim. A claim has the id of its domain and does not expire. */
function toClaim({ id, domain, status, dns_records: records, created_at }: Static<typeof Domain>) {
  const proof = records.find(({ purpose }) => purpose === 'ownership') ?? records.find(({ type }) => type === 'TXT')
  return {
    object: 'domain_claim',
    id,
    name: domain,
    status: claimStatuses[status],
    domain_id: id,
    region: null,
    record: { type: 'TXT', name: proof?.name ?? domain, value: proof?.value ?? '', ttl: 'Auto' },
    blocked_reason: null,
    failure_reason: null,
    created_at,
    expires_at: null,
  }
}

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
    run: (request) => listPage(request, (page) => listFrom(request, page), domainFields),
  },
  {
    method: 'GET',
    path: '/domains/:id',
    run: async (request) => shown((await request.call(getDomain, { params: idOf(request) })).data),
  },
  {
    method: 'POST',
    path: '/domains/claim',
    status: 201,
    run: async ({ body, call }) => toClaim((await call(createDomain, { body: { domain: textField(body, 'name') } })).data),
  },
  {
    method: 'GET',
    path: '/domains/:id/claim',
    run: async (request) => toClaim((await request.call(getDomain, { params: idOf(request) })).data),
  },
  {
    method: 'POST',
    path: '/domains/:id/claim/verify',
    run: async (request) => toClaim((await request.call(verifyDomain, { params: idOf(request) })).data),
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
