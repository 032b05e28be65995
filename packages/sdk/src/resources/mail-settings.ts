// Custom domains, mail rules, and the suppression list.
// Printed from the contract by npm run docs. Do not edit.
import type * as domainReports from '@callsign/contract/domain-reports'
import type * as domains from '@callsign/contract/domains'
import type * as mailRules from '@callsign/contract/mail-rules'
import type { BodyOf, QueryOf, ReplyOf } from '@callsign/contract/operation'
import type * as suppressions from '@callsign/contract/suppressions'
import { type Connection, path, type RequestOptions } from '../connection/request.ts'

export type Domain = ReplyOf<typeof domains.getDomain>['data']
export type DomainPage = ReplyOf<typeof domains.listDomains>
export type DomainWithCount = ReplyOf<typeof domains.listDomains>['data'][number]
export type DnsRecord = ReplyOf<typeof domains.getDomain>['data']['dns_records'][number]
export type DomainReportPage = ReplyOf<typeof domainReports.listDomainReports>
export type DomainReport = ReplyOf<typeof domainReports.listDomainReports>['data'][number]
export type DomainVerification = { domain: Domain; message: string }
export type MailRule = ReplyOf<typeof mailRules.getMailRule>
export type MailRulePage = ReplyOf<typeof mailRules.listMailRules>
export type Suppression = ReplyOf<typeof suppressions.createSuppression>
export type SuppressionPage = ReplyOf<typeof suppressions.listSuppressions>

export class Domains {
  readonly #connection: Connection
  constructor(connection: Connection) {
    this.#connection = connection
  }

  /**
   * Registers a domain and returns the DNS records to publish in `dns_records`. Publish them at your DNS host, then verify the domain. The
   * first domain becomes the default for new identities. `409 domain_exists` means that this or another organization of the server has the
   * domain.
   */
  async create(body: BodyOf<typeof domains.createDomain>, options?: RequestOptions): Promise<Domain> {
    return (
      await this.#connection.request<ReplyOf<typeof domains.createDomain>>({
        method: 'POST',
        path: '/domains',
        body,
        isKeyed: true,
        options,
      })
    ).data
  }

  /**
   * Deletes a domain here and at its provider. `409 domain_in_use` means that mailboxes use it. With `force`, they move to the mail domain
   * of the server, and mail to their old addresses is refused.
   */
  delete(id: string, more?: QueryOf<typeof domains.deleteDomain>, options?: RequestOptions): Promise<ReplyOf<typeof domains.deleteDomain>> {
    return this.#connection.request({ method: 'DELETE', path: path`/domains/${id}`, query: more, options })
  }

  /** Returns one domain with the last check of each record. `failing_since` is set while a verified domain has wrong records. */
  async get(id: string, options?: RequestOptions): Promise<Domain> {
    return (await this.#connection.request<ReplyOf<typeof domains.getDomain>>({ method: 'GET', path: path`/domains/${id}`, options })).data
  }

  /** Returns every domain with the number of its mailboxes, newest first. */
  list(options?: RequestOptions): Promise<DomainPage> {
    return this.#connection.request({ method: 'GET', path: '/domains', options })
  }

  /**
   * Returns one page of the reports about a domain, newest first, with their largest sources. Other mail servers send them to the addresses
   * in the recommended `dmarc` and `tls_rpt` records. A report is accepted only if DMARC confirms the domain in its From field, and only if
   * it is about this domain or one below it. A report that is sent twice is listed once. Reports are kept for 400 days.
   */
  listReports(id: string, query?: QueryOf<typeof domainReports.listDomainReports>, options?: RequestOptions): Promise<DomainReportPage> {
    return this.#connection.request({ method: 'GET', path: path`/domains/${id}/reports`, query, options })
  }

  /** Makes a verified domain the default. New identities get their mailbox there. Existing mailboxes stay where they are. */
  setDefault(id: string, options?: RequestOptions): Promise<Domain> {
    return this.#connection.request({ method: 'POST', path: path`/domains/${id}/set-default`, options })
  }

  /**
   * Looks up the records now. If the required ones are published, the domain is `verified`. Otherwise `message` names each missing or wrong
   * record. DNS changes can take minutes to reach every server, so repeat the request. `500 verification_failed` means that the lookup
   * itself failed and nothing has changed.
   */
  async verify(id: string, options?: RequestOptions): Promise<DomainVerification> {
    const { data: domain, message } = await this.#connection.request<ReplyOf<typeof domains.verifyDomain>>({
      method: 'POST',
      path: path`/domains/${id}/verify`,
      options,
    })
    return { domain, message }
  }

  /** Returns the records of a domain as a zone file (RFC 1035). Most DNS hosts can import it. */
  async zoneFile(id: string, options?: RequestOptions): Promise<string> {
    return new TextDecoder().decode(await this.#connection.requestBytes({ method: 'GET', path: path`/domains/${id}/zone-file`, options }))
  }
}

export class MailRules {
  readonly #connection: Connection
  constructor(connection: Connection) {
    this.#connection = connection
  }

  /**
   * Adds a rule for an address, or for a domain with its subdomains. A rule for an address has precedence over a rule for its domain.
   * Blocked mail to the agent goes to quarantine. Blocked mail of the agent is rejected with `403 recipient_not_allowed`. An entry can have
   * one rule in each direction. `*` in place of the handle adds a rule of every agent, and the own rule of an agent for the same entry has
   * precedence over it.
   */
  create(handle: string, body: BodyOf<typeof mailRules.createMailRule>, options?: RequestOptions): Promise<MailRule> {
    return this.#connection.request({ method: 'POST', path: path`/identities/${handle}/mail-rules`, body, isKeyed: true, options })
  }

  /** Deletes a rule. Messages keep the decisions that it made. */
  delete(handle: string, id: string, options?: RequestOptions): Promise<ReplyOf<typeof mailRules.deleteMailRule>> {
    return this.#connection.request({ method: 'DELETE', path: path`/identities/${handle}/mail-rules/${id}`, options })
  }

  /** Returns one rule of an agent. */
  get(handle: string, id: string, options?: RequestOptions): Promise<MailRule> {
    return this.#connection.request({ method: 'GET', path: path`/identities/${handle}/mail-rules/${id}`, options })
  }

  /** Returns the rules of an agent, newest first. The agent can read them with its own key, to find out why mail was held. */
  list(handle: string, query?: QueryOf<typeof mailRules.listMailRules>, options?: RequestOptions): Promise<MailRulePage> {
    return this.#connection.request({ method: 'GET', path: path`/identities/${handle}/mail-rules`, query, options })
  }

  /** Changes a rule. A rule with the status `paused` has no effect until it is `active` again. Earlier decisions do not change. */
  update(handle: string, id: string, body: BodyOf<typeof mailRules.updateMailRule>, options?: RequestOptions): Promise<MailRule> {
    return this.#connection.request({ method: 'PATCH', path: path`/identities/${handle}/mail-rules/${id}`, body, options })
  }
}

export class Suppressions {
  readonly #connection: Connection
  constructor(connection: Connection) {
    this.#connection = connection
  }

  /**
   * Adds an address to which no agent of the organization sends from then on. Sending to it is rejected with `403 recipient_suppressed`.
   * Hard bounces and complaints add addresses by themselves.
   */
  create(body: BodyOf<typeof suppressions.createSuppression>, options?: RequestOptions): Promise<Suppression> {
    return this.#connection.request({ method: 'POST', path: '/suppressions', body, isKeyed: true, options })
  }

  /** Removes an address from the list. Remove one only if you know that it works again, because repeated bounces harm your reputation. */
  delete(emailAddress: string, options?: RequestOptions): Promise<ReplyOf<typeof suppressions.deleteSuppression>> {
    return this.#connection.request({ method: 'DELETE', path: path`/suppressions/${emailAddress}`, options })
  }

  /** Returns suppressed addresses, newest first, each with the bounce or complaint that caused it. */
  list(query?: QueryOf<typeof suppressions.listSuppressions>, options?: RequestOptions): Promise<SuppressionPage> {
    return this.#connection.request({ method: 'GET', path: '/suppressions', query, options })
  }
}
