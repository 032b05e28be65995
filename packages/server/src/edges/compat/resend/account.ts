// Domains, API keys and suppressions.
import type { Domain } from '@callsign/contract/domains'
import { createDomain, deleteDomain, getDomain, listDomains, verifyDomain } from '@callsign/contract/domains'
import { createKey, listKeys, revokeKey } from '@callsign/contract/keys'
import type { Suppression } from '@callsign/contract/suppressions'
import { createSuppression, deleteSuppression, listSuppressions } from '@callsign/contract/suppressions'
import type { Static } from 'typebox'
import { listField, notOffered, pageOf, ResendFailure, type ResendRequest, type ResendRoute, textField } from './route.ts'

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

const domainWithRecords = (domain: Static<typeof Domain>) => ({
  object: 'domain',
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

const idOf = ({ params }: ResendRequest): { domain_id: string } => ({ domain_id: params.id as string })

const domainRoutes: ResendRoute[] = [
  {
    method: 'POST',
    path: '/domains',
    status: 201,
    run: async ({ body, call }) => domainWithRecords((await call(createDomain, { body: { domain: textField(body, 'name') } })).data),
  },
  {
    method: 'GET',
    path: '/domains',
    run: async ({ call }) => ({ object: 'list', has_more: false, data: (await call(listDomains)).data.map(domainFields) }),
  },
  {
    method: 'GET',
    path: '/domains/:id',
    run: async (request) => domainWithRecords((await request.call(getDomain, { params: idOf(request) })).data),
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

const keyRoutes: ResendRoute[] = [
  {
    method: 'POST',
    path: '/api-keys',
    status: 201,
    async run({ body, call }) {
      const { permission } = body as Record<string, unknown>
      if (permission !== undefined && permission !== 'full_access') throw notOffered('A key for sending only, without an agent,')
      const { id, key } = await call(createKey, { body: { name: textField(body, 'name'), type: 'organization' } })
      return { id, token: key }
    },
  },
  {
    method: 'GET',
    path: '/api-keys',
    async run(request) {
      const { data, has_more } = await request.call(listKeys, { query: pageOf(request) })
      const live = data.filter(({ revoked_at }) => revoked_at === null)
      return {
        object: 'list',
        has_more,
        data: live.map(({ id, name, created_at, last_used_at }) => ({ id, name, created_at, last_used_at })),
      }
    },
  },
  {
    method: 'DELETE',
    path: '/api-keys/:id',
    async run({ params, call }) {
      await call(revokeKey, { params: { id: params.id as string } })
      return {}
    },
  },
]

const toSuppression = ({ id, email_address, source, message_id, created_at }: Static<typeof Suppression>) => ({
  id,
  email: email_address,
  origin: source,
  source_id: message_id,
  created_at,
})

/** The entry by its address. Resend also takes the id of an entry, by which ours are not listed. */
async function findSuppression({ params, call }: ResendRequest): Promise<Static<typeof Suppression>> {
  const address = params.email as string
  if (!address.includes('@')) throw new ResendFailure(422, 'invalid_parameter', 'Name the suppression by its email address.')
  const { data } = await call(listSuppressions, { query: { email_address: address } })
  const [found] = data
  if (!found) throw new ResendFailure(404, 'not_found', 'Suppression not found')
  return found
}

const suppressionRoutes: ResendRoute[] = [
  {
    method: 'POST',
    path: '/suppressions',
    status: 201,
    async run({ body, call }) {
      const { id } = await call(createSuppression, { body: { email_address: textField(body, 'email') } })
      return { object: 'suppression', id }
    },
  },
  {
    method: 'GET',
    path: '/suppressions',
    async run(request) {
      const { origin } = request.query
      const source = origin === 'bounce' || origin === 'complaint' || origin === 'manual' ? ({ source: origin } as const) : {}
      const { data, has_more } = await request.call(listSuppressions, { query: { ...pageOf(request), ...source } })
      return { object: 'list', has_more, data: data.map(toSuppression) }
    },
  },
  {
    method: 'GET',
    path: '/suppressions/:email',
    run: async (request) => ({ object: 'suppression', ...toSuppression(await findSuppression(request)) }),
  },
  {
    method: 'DELETE',
    path: '/suppressions/:email',
    async run(request) {
      const { id, email_address } = await findSuppression(request)
      await request.call(deleteSuppression, { params: { email_address } })
      return { object: 'suppression', id, deleted: true }
    },
  },
  {
    method: 'POST',
    path: '/suppressions/batch/add',
    status: 201,
    async run({ body, call }) {
      const data: { object: 'suppression'; id: string }[] = []
      for (const email_address of listField(body, 'emails') ?? []) {
        data.push({ object: 'suppression', id: (await call(createSuppression, { body: { email_address } })).id })
      }
      return { data }
    },
  },
]

export const accountRoutes: ResendRoute[] = [...domainRoutes, ...keyRoutes, ...suppressionRoutes]
