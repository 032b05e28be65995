// Registers, verifies and deletes custom domains, and chooses the default.
import type * as reports from '@callsign/contract/domain-reports'
import type * as contract from '@callsign/contract/domains'
import type { BodyOf, QueryOf, ReplyOf } from '@callsign/contract/operation'
import { type Connection, path, type RequestOptions } from './request.ts'

export type Domain = ReplyOf<typeof contract.getDomain>['data']
export type DomainPage = ReplyOf<typeof contract.listDomains>
export type DomainWithCount = DomainPage['data'][number]
export type DnsRecord = Domain['dns_records'][number]
export type DomainReportPage = ReplyOf<typeof reports.listDomainReports>
export type DomainReport = DomainReportPage['data'][number]
export type DomainVerification = { domain: Domain; message: string }

export class Domains {
  readonly #connection: Connection
  constructor(connection: Connection) {
    this.#connection = connection
  }

  /** Registers a domain. Publish the returned `dns_records`. 409 `domain_exists`. */
  async create(body: BodyOf<typeof contract.createDomain>, options?: RequestOptions): Promise<Domain> {
    const request = { method: 'POST', path: '/domains', body, isKeyed: true, options } as const
    return (await this.#connection.request<ReplyOf<typeof contract.createDomain>>(request)).data
  }

  /** All domains on one page, newest first. */
  list(options?: RequestOptions): Promise<DomainPage> {
    return this.#connection.request({ method: 'GET', path: '/domains', options })
  }

  async get(id: string, options?: RequestOptions): Promise<Domain> {
    const request = { method: 'GET', path: path`/domains/${id}`, options } as const
    return (await this.#connection.request<ReplyOf<typeof contract.getDomain>>(request)).data
  }

  /** Checks whether the records are published. The message names missing ones. 500 `verification_failed` if the check itself failed. */
  async verify(id: string, options?: RequestOptions): Promise<DomainVerification> {
    const request = { method: 'POST', path: path`/domains/${id}/verify`, options } as const
    const { data, message } = await this.#connection.request<ReplyOf<typeof contract.verifyDomain>>(request)
    return { domain: data, message }
  }

  /** One page of DMARC and TLS reports of other mail servers, newest first. */
  listReports(id: string, query?: QueryOf<typeof reports.listDomainReports>, options?: RequestOptions): Promise<DomainReportPage> {
    return this.#connection.request({ method: 'GET', path: path`/domains/${id}/reports`, query, options })
  }

  /** Makes a verified domain the default for new identities. */
  setDefault(id: string, options?: RequestOptions): Promise<Domain> {
    return this.#connection.request({ method: 'POST', path: path`/domains/${id}/set-default`, options })
  }

  /** Deletes a domain. With `force` it is deleted even if mailboxes use it, and they move to the mail domain. */
  delete(id: string, more: { force?: boolean } = {}, options?: RequestOptions): Promise<ReplyOf<typeof contract.deleteDomain>> {
    return this.#connection.request({ method: 'DELETE', path: path`/domains/${id}`, query: more, options })
  }

  /** Returns the records as a zone file (RFC 1035). */
  async zoneFile(id: string, options?: RequestOptions): Promise<string> {
    return new TextDecoder().decode(await this.#connection.requestBytes({ method: 'GET', path: path`/domains/${id}/zone-file`, options }))
  }
}
