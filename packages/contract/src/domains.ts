// Custom domains: registered, proven by DNS records, one of them the default for new identities.
import Type from 'typebox'
import { operation } from './operation.ts'
import { id, nullableString, nullableTimestamp, strict, Timestamp } from './schema.ts'

/** Room for the names of its records (253 octets each) and for addresses at it (254, of which a handle takes 33). */
export const domainCharactersMax = 200

const oneOf = <T extends string>(values: readonly T[], description?: string) =>
  Type.Unsafe<T>({ type: 'string', enum: [...values], ...(description ? { description } : {}) })

export const DomainStatus = oneOf(['pending', 'verified', 'failed'] as const)
export const DomainProviderName = oneOf(['builtin', 'resend'] as const, 'Who serves its mail; the operator says which there are.')

export const DnsRecord = Type.Object(
  {
    type: oneOf(['MX', 'TXT', 'CNAME'] as const),
    name: Type.String({ description: 'As the provider gives it: a whole name (builtin), or one below the registered domain (resend).' }),
    value: Type.String(),
    priority: Type.Optional(Type.Integer()),
    status: oneOf(['pending', 'valid', 'failed'] as const),
    purpose: Type.String({ description: 'What it is for: mx, spf, dkim, ownership, dmarc, or the label of the provider.' }),
    required: Type.Boolean({ description: 'false: recommended; the domain can be verified without it.' }),
  },
  { $id: 'DnsRecord' },
)

const domainFields = {
  id: Type.String(),
  domain: Type.String(),
  status: DomainStatus,
  is_default: Type.Boolean(),
  provider: Type.String(),
  provider_domain_id: nullableString(),
  dns_records: Type.Array(DnsRecord),
  verified_at: nullableTimestamp,
  failing_since: nullableTimestamp,
  created_at: Timestamp,
  updated_at: Timestamp,
}

export const Domain = Type.Object(domainFields, { $id: 'Domain' })

export const DomainWithCount = Type.Object({ ...domainFields, mailboxes_count: Type.Integer() }, { $id: 'DomainWithCount' })

const domainParams = strict({ domain_id: id('domain') })

export const listDomains = operation({
  id: 'listDomains',
  method: 'GET',
  path: '/api/v1/domains',
  summary: 'Lists domains, newest first.',
  tag: 'Domains',
  status: 200,
  reply: Type.Object({ data: Type.Array(DomainWithCount) }),
})

export const createDomain = operation({
  id: 'createDomain',
  method: 'POST',
  path: '/api/v1/domains',
  summary: 'Registers a domain and tells the DNS records to publish. The first one is the default.',
  tag: 'Domains',
  body: strict({
    domain: Type.String({
      minLength: 1,
      maxLength: 300,
      description: 'The bare lowercase name, such as mail.example.com; no protocol, no path. Other alphabets as xn--….',
    }),
    provider: Type.Optional(DomainProviderName),
  }),
  status: 201,
  reply: Type.Object({ data: Domain }),
  errors: ['domain_exists', 'conflict', 'upstream_provider_error'],
  idempotent: true,
})

export const getDomain = operation({
  id: 'getDomain',
  method: 'GET',
  path: '/api/v1/domains/{domain_id}',
  summary: 'Gets one domain.',
  tag: 'Domains',
  params: domainParams,
  status: 200,
  reply: Type.Object({ data: Domain }),
})

export const verifyDomain = operation({
  id: 'verifyDomain',
  method: 'POST',
  path: '/api/v1/domains/{domain_id}/verify',
  summary: 'Looks whether the records are published; message names those that are not. Can be done again and again.',
  tag: 'Domains',
  params: domainParams,
  status: 200,
  reply: Type.Object({ data: Domain, message: Type.String() }),
  errors: ['domain_exists', 'verification_failed'],
})

export const setDefaultDomain = operation({
  id: 'setDefaultDomain',
  method: 'POST',
  path: '/api/v1/domains/{domain_id}/set-default',
  summary: 'Makes a verified domain the one that new identities get, and no other.',
  tag: 'Domains',
  params: domainParams,
  status: 200,
  reply: Domain,
  errors: ['domain_not_verified'],
})

export const deleteDomain = operation({
  id: 'deleteDomain',
  method: 'DELETE',
  path: '/api/v1/domains/{domain_id}',
  summary: 'Deletes a domain, here and at its provider. With force its mailboxes move to the mail domain.',
  tag: 'Domains',
  params: domainParams,
  query: strict({ force: Type.Optional(Type.Boolean({ description: 'Also when mailboxes use it.' })) }),
  status: 200,
  reply: Type.Object({ success: Type.Literal(true), message: Type.String() }),
  errors: ['domain_in_use'],
})

export const getZoneFile = operation({
  id: 'getZoneFile',
  method: 'GET',
  path: '/api/v1/domains/{domain_id}/zone-file',
  summary: 'The records as a zone file (RFC 1035), to be imported at a DNS host.',
  tag: 'Domains',
  params: domainParams,
  status: 200,
  media: 'text/dns',
})
