// The intake of report addresses: DMARC and TLS reports about domains.
import type { MailIntake, Refused } from '../inbound/model.ts'
import type { DomainReports } from './operations.ts'

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
