// Mail that comes back for a message of ours: what it reports, and where that puts the recipient it is about.

/**
 * `failed`, `delayed`, `delivered`: a delivery report (RFC 3464), or a bounce in words. `passed-on`: somebody else is responsible now. `complaint`: a person or
 * a provider says that the mail was not wanted (RFC 5965). `feedback`: a report that is no complaint. `automatic`: an automatic answer (RFC 3834).
 * `letter`: anything else, which is mail for the agent.
 */
export type ReportKind = 'failed' | 'delayed' | 'delivered' | 'passed-on' | 'complaint' | 'feedback' | 'automatic' | 'letter'

export type Report = {
  kind: ReportKind
  /** RFC 3463, when the report has one. */
  enhancedStatus: string | null
  /** What the reporting system says: the other server's answer, or a sentence of the report. */
  answer: string
  /** The system that reports. */
  host: string | null
}

/** Where a report puts a recipient; the caller still moves forward only. Null: it moves nothing. */
export function statusOf(report: Report, current: string): 'delivered' | 'bounced' | 'failed' | null {
  if (report.kind === 'delivered') return 'delivered'
  if (report.kind !== 'failed') return null
  // A 4.x.x that has failed is one that was tried until its time was over. What was said to be delivered can only bounce.
  return report.enhancedStatus?.startsWith('4.') && current !== 'delivered' ? 'failed' : 'bounced'
}
