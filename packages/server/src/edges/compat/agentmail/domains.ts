// Domains. The id of a domain is its name, and our id is accepted too.
import { createDomain, type Domain, deleteDomain, getDomain, getZoneFile, listDomains, verifyDomain } from '@callsign/contract/domains'
import type { Static } from 'typebox'
import {
  type AgentMailRequest,
  type AgentMailRoute,
  byId,
  listOf,
  notOffered,
  notThere,
  parameter,
  podId,
  readList,
  requiredText,
  TextAnswer,
} from './route.ts'

type OwnDomain = Static<typeof Domain>

const statuses = { pending: 'PENDING', verified: 'VERIFIED', failed: 'FAILED' } as const
const recordStatuses = { pending: 'MISSING', valid: 'VALID', failed: 'INVALID' } as const

const toItem = (domain: OwnDomain) => ({
  pod_id: podId,
  domain_id: domain.domain,
  domain: domain.domain,
  feedback_enabled: false,
  subdomains_enabled: false,
  tracking_enabled: false,
  ...(domain.client_id !== null && { client_id: domain.client_id }),
  updated_at: domain.updated_at,
  created_at: domain.created_at,
})

/** A domain with its records, as in an answer and in an event. */
export const toDomain = (domain: OwnDomain) => ({
  ...toItem(domain),
  status: statuses[domain.status],
  records: domain.dns_records.map(({ type, name, value, priority, status }) => ({
    type,
    name,
    value,
    status: recordStatuses[status],
    ...(priority !== undefined && { priority }),
  })),
})

async function idOf(request: AgentMailRequest): Promise<{ domain_id: string }> {
  const name = parameter(request, 'domain_id')
  if (!name.includes('.')) return { domain_id: name }
  const { data } = await request.call(listDomains)
  const found = data.find(({ domain }) => domain === name.toLowerCase())
  if (!found) throw notThere('Domain')
  return { domain_id: found.id }
}

/** Refuses features of a domain that Callsign does not have. Bounces and complaints are events here, whatever `feedback_enabled` says. */
function checkFeatures({ body }: AgentMailRequest): void {
  if (body.tracking_enabled === true) throw notOffered('`tracking_enabled`')
  if (body.subdomains_enabled === true) throw notOffered('`subdomains_enabled`')
}

export const domainRoutes: AgentMailRoute[] = [
  {
    method: 'GET',
    path: '/domains',
    isInPod: true,
    async run(request) {
      const { data: all } = await request.call(listDomains)
      const { data, limit, next } = await readList(request, {
        kind: 'domain',
        positionOf: byId,
        async read({ limit, cursor }) {
          const below = cursor === undefined ? all : all.filter(({ id }) => id < cursor)
          const data = below.slice(0, limit)
          return { data, next_cursor: data.length < below.length ? (data.at(-1)?.id ?? null) : null }
        },
      })
      return listOf('domains', data.map(toItem), limit, next)
    },
  },
  {
    method: 'POST',
    path: '/domains',
    isInPod: true,
    async run(request) {
      checkFeatures(request)
      return toDomain((await request.call(createDomain, { body: { domain: requiredText(request, 'domain') } })).data)
    },
  },
  {
    method: 'GET',
    path: '/domains/:domain_id',
    isInPod: true,
    run: async (request) => toDomain((await request.call(getDomain, { params: await idOf(request) })).data),
  },
  {
    method: 'PATCH',
    path: '/domains/:domain_id',
    isInPod: true,
    async run(request) {
      checkFeatures(request)
      return toDomain((await request.call(getDomain, { params: await idOf(request) })).data)
    },
  },
  {
    method: 'DELETE',
    path: '/domains/:domain_id',
    isInPod: true,
    async run(request) {
      await request.call(deleteDomain, { params: await idOf(request) })
    },
  },
  {
    method: 'POST',
    path: '/domains/:domain_id/verify',
    isInPod: true,
    async run(request) {
      await request.call(verifyDomain, { params: await idOf(request) })
    },
  },
  {
    method: 'GET',
    path: '/domains/:domain_id/zone-file',
    isInPod: true,
    async run(request) {
      const text: unknown = await request.call(getZoneFile, { params: await idOf(request) })
      return new TextAnswer('text/dns; charset=utf-8', String(text))
    },
  },
]
