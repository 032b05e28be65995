// Custom domains, verified by DNS records. One of them is the default for new identities.
import Type from 'typebox'
import { operation } from '../../operation.ts'
import { id, nullableString, nullableTimestamp, page, strict, Timestamp } from '../../schema.ts'
import { ClientId, clientIdField } from '../client-id.ts'

/** Leaves room for the names of its records (253 octets each) and for addresses at it (254, of which a handle takes 33). */
export const domainCharactersMax = 200

const oneOf = <T extends string>(values: readonly T[], description?: string) =>
  Type.Unsafe<T>({ type: 'string', enum: [...values], ...(description ? { description } : {}) })

export const DomainStatus = oneOf(['pending', 'verified', 'failed'] as const)
export const DomainProviderName = oneOf(
  ['builtin', 'resend'] as const,
  "The provider of the domain's mail. The operator decides which ones are available.",
)

export const DnsRecord = Type.Object(
  {
    type: oneOf(['MX', 'TXT', 'CNAME'] as const),
    name: Type.String({
      description: "The name in the provider's form. builtin gives a full name, resend a name relative to the registered domain.",
    }),
    value: Type.String(),
    priority: Type.Optional(Type.Integer()),
    status: oneOf(['pending', 'valid', 'failed'] as const),
    purpose: Type.String({ description: "mx, spf, dkim, ownership, dmarc, tls_rpt, or the provider's own label." }),
    note: Type.Optional(
      Type.String({ description: 'The result of the last check of a record that failed, such as not found. Absent from a valid record.' }),
    ),
    required: Type.Boolean({ description: 'false if the record is only recommended. The domain can be verified without it.' }),
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
  client_id: clientIdField,
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
  scopes: ['domains:read'],
  status: 200,
  reply: page(DomainWithCount),
})

export const createDomain = operation({
  id: 'createDomain',
  method: 'POST',
  path: '/api/v1/domains',
  summary: 'Registers a domain and returns the DNS records to publish. The first domain becomes the default.',
  tag: 'Domains',
  scopes: ['domains:write'],
  body: strict({
    domain: Type.String({
      minLength: 1,
      maxLength: 300,
      description: 'The lowercase name without protocol or path, such as mail.example.com. Write other alphabets as xn--….',
    }),
    provider: Type.Optional(DomainProviderName),
    client_id: Type.Optional(ClientId),
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
  scopes: ['domains:read'],
  params: domainParams,
  status: 200,
  reply: Type.Object({ data: Domain }),
})

export const verifyDomain = operation({
  id: 'verifyDomain',
  method: 'POST',
  path: '/api/v1/domains/{domain_id}/verify',
  summary: 'Checks whether the records are published. message names the missing ones. Repeat it as often as you need.',
  tag: 'Domains',
  scopes: ['domains:write'],
  params: domainParams,
  status: 200,
  reply: Type.Object({ data: Domain, message: Type.String() }),
  errors: ['domain_exists', 'verification_failed'],
})

export const setDefaultDomain = operation({
  id: 'setDefaultDomain',
  method: 'POST',
  path: '/api/v1/domains/{domain_id}/set-default',
  summary: 'Makes a verified domain the default for new identities, in place of the previous default.',
  tag: 'Domains',
  scopes: ['domains:write'],
  params: domainParams,
  status: 200,
  reply: Domain,
  errors: ['domain_not_verified'],
})

export const deleteDomain = operation({
  id: 'deleteDomain',
  method: 'DELETE',
  path: '/api/v1/domains/{domain_id}',
  summary: 'Deletes a domain, here and at its provider. With force, its mailboxes move to the mail domain.',
  tag: 'Domains',
  scopes: ['domains:write'],
  params: domainParams,
  query: strict({ force: Type.Optional(Type.Boolean({ description: 'Delete the domain even if mailboxes use it.' })) }),
  status: 200,
  reply: Type.Object({ success: Type.Literal(true), message: Type.String() }),
  errors: ['domain_in_use'],
})

export const getZoneFile = operation({
  id: 'getZoneFile',
  method: 'GET',
  path: '/api/v1/domains/{domain_id}/zone-file',
  summary: 'Returns the records as a zone file (RFC 1035) that you can import at a DNS host.',
  tag: 'Domains',
  scopes: ['domains:read'],
  params: domainParams,
  status: 200,
  media: 'text/dns',
})
