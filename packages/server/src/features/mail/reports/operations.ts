// Operations on reports about domains: taking those that arrive, and listing them.

import type { DomainReport, listDomainReports } from '@callsign/contract/domain-reports'
import type { QueryOf, ReplyOf } from '@callsign/contract/operation'
import type { SmtpClient, Verdicts } from '@callsign/mail/authentication/sender-checks'
import type { Caller } from '../../../core/caller.ts'
import { inMs, now } from '../../../core/clock.ts'
import type { Emit } from '../../../core/event.ts'
import { newId } from '../../../core/ids.ts'
import { readPage, toPage } from '../../../core/page.ts'
import type { Database, Sql } from '../../../core/sql.ts'
import type { Decode } from '../attachments/model.ts'
import type { ReportKind } from '../domains/model.ts'
import type { Domains } from '../domains/operations.ts'
import type { MailIntake, Refused } from '../inbound/model.ts'
import { isCovered, type ReportContent, readReportAddress, summarize, toReport } from './model.ts'
import type { ReportMail, ReportReader } from './provider.ts'
import * as store from './store.ts'

/** The result of a message to a report address. */
export type Taken = 'stored' | 'unsigned-report' | 'foreign-report' | 'unreadable-report' | 'undecided-report' | 'too-many-reports' | 'busy'

/** DMARC and TLS reports about custom domains and the mail domain. */
export interface DomainReports {
  /** `GET /domains/{domain_id}/reports`. */
  listDomainReports(caller: Caller, id: string, query: QueryOf<typeof listDomainReports>): Promise<ReplyOf<typeof listDomainReports>>
  /** True for a report address of a domain whose mail arrives here. */
  isTaken(recipient: string): Promise<boolean>
  /** Reads and stores the report of a message to such an address. */
  take(recipient: string, envelopeFrom: string, client: SmtpClient, raw: Buffer): Promise<Taken>
  /** Deletes reports that are older than 400 days. */
  sweep(): Promise<void>
}

type Parts = {
  db: Database
  domains: Pick<Domains, 'getDomain'>
  emit: Emit
  mail: ReportMail
  reader: ReportReader
  decode: Decode
  mailDomain: string
}

const dayMs = 86_400_000
/** As long as the counts of mail are kept. */
const keptMs = 400 * dayMs
/** Anybody can sign reports with a domain of their own, so their number per domain is limited. */
const reportsPerDayMax = 1000
const sweptMax = 1000
/** A message with more files than this is not a report. */
const filesMax = 4

export function createDomainReports({ db, domains, emit, mail, reader, decode, mailDomain }: Parts): DomainReports {
  /** The kind and the domain of a report address that is taken here. */
  async function findAddressee(recipient: string): Promise<{ kind: ReportKind; domain: store.ReportedDomain } | null> {
    const address = readReportAddress(recipient)
    if (address === null) return null
    const isMailDomain = address.domain === mailDomain
    const domain = isMailDomain ? { id: null, organization_id: null, domain: mailDomain } : await store.findReported(db, address.domain)
    return domain && { kind: address.kind, domain }
  }

  /** The first report among the files of a message. */
  async function readContent(raw: Buffer, owner: string): Promise<ReportContent | 'busy' | null> {
    const { attachments } = (await mail.read(raw)).parsed
    for (const { start, end, encoding } of attachments.slice(0, filesMax)) {
      const content = await reader.readReport(decode(raw.subarray(start, end), encoding), owner)
      if (content !== null) return content
    }
    return null
  }

  async function keep({ id: domain_id, organization_id, domain }: store.ReportedDomain, reporter: string, content: ReportContent) {
    const { kind, reportId: report_id, startsAt: starts_at, endsAt: ends_at, sources } = content
    const about = { id: newId('domainReport'), organization_id, domain_id, kind, reporter, report_id, starts_at, ends_at }
    const row = { ...about, ...summarize(sources), created_at: now() }
    await db.transact(async (tx) => {
      if (!(await store.insertReport(tx, row)) || organization_id === null) return
      const { id, passed, failed } = row
      const data = { id, domain_id, domain, kind, reporter, passed, failed }
      await emit(tx, [{ type: 'domain.report_received', organizationId: organization_id, identityId: null, subjectId: id, data }])
    })
  }

  return {
    async listDomainReports(caller, id, query) {
      const page = readPage(query, 'domainReport', 20)
      await domains.getDomain(caller, id)
      return toPage(await store.listReports(db.reads, id, query.kind ?? null, page), page.limit, (row) => row.id, toReport)
    },

    isTaken: async (recipient) => (await findAddressee(recipient)) !== null,

    async take(recipient, envelopeFrom, client, raw) {
      const addressee = await findAddressee(recipient)
      if (!addressee) return 'foreign-report'
      const { kind, domain } = addressee
      if ((await store.countSince(db, domain.id, inMs(-dayMs))) >= reportsPerDayMax) return 'too-many-reports'
      const { dmarc } = (await mail.check(envelopeFrom, client, raw)).verdicts
      if (dmarc?.result === 'temperror') return 'undecided-report'
      const reporter = reporterOf(dmarc, kind)
      if (reporter === null) return 'unsigned-report'
      const content = await readContent(raw, domain.organization_id ?? '')
      if (content === 'busy') return 'busy'
      if (content?.kind !== kind) return 'unreadable-report'
      if (!isCovered(content.domain, domain.domain)) return 'foreign-report'
      await keep(domain, reporter, content)
      return 'stored'
    },

    async sweep() {
      for (;;) if ((await store.sweepReports(db, inMs(-keptMs), sweptMax)) < sweptMax) return
    },
  }
}

/** The domain that answers for a report: that of From, if DMARC confirms it. TLS reports need DKIM (RFC 8460 §3). */
function reporterOf(dmarc: Verdicts['dmarc'], kind: ReportKind): string | null {
  const isProven = dmarc?.alignment.dkim || (kind === 'dmarc' && dmarc?.alignment.spf)
  return (isProven && dmarc?.domain) || null
}

/** The latest reports about the mail domain, newest first. */
export async function listMailDomainReports(sql: Sql, kind: ReportKind | null, limit: number): Promise<DomainReport[]> {
  return (await store.listReports(sql, null, kind, { cursor: null, limit })).slice(0, limit).map(toReport)
}

export const createReportIntake = (reports: DomainReports): MailIntake => ({
  check: async (address) => ((await reports.isTaken(address)) ? 'accepted' : null),

  async take({ from, recipients, client, raw }) {
    const areReports = await Promise.all(recipients.map((address) => reports.isTaken(address)))
    const left = recipients.filter((_, index) => !areReports[index])
    let refusal: Refused | null = null
    for (const [index, address] of recipients.entries()) {
      if (!areReports[index]) continue
      const taken = await reports.take(address, from, client, raw)
      if (taken !== 'stored') refusal = { refused: taken }
    }
    // A report that is stored is recognized when the client sends it again.
    return refusal ?? { left }
  },
})
