// Kinds of returned mail, and the recipient status that follows from a report.

/**
 * - `failed`, `delayed`, `delivered`: a delivery report (RFC 3464), or a bounce in prose.
 * - `passed-on`: relayed to a system that sends no reports, or expanded to other recipients.
 * - `complaint`: the recipient or the provider reports unwanted mail (RFC 5965).
 * - `feedback`: a feedback report that is not a complaint.
 * - `automatic`: an automatic answer (RFC 3834).
 * - `letter`: any other message, which is for the agent.
 */
export type ReportKind = 'failed' | 'delayed' | 'delivered' | 'passed-on' | 'complaint' | 'feedback' | 'automatic' | 'letter'

export type Report = {
  kind: ReportKind
  /** Status code such as 5.1.1 (RFC 3463). Null when the report has none. */
  enhancedStatus: string | null
  /** The SMTP reply of the remote server, or a sentence of the report. */
  answer: string
  /** Host name of the reporting system. */
  host: string | null
}

/** The status of a recipient after a report, or null for no change. The caller never moves a status backward. */
export function statusOf(report: Report, current: string): 'delivered' | 'bounced' | 'failed' | null {
  if (report.kind === 'delivered') return 'delivered'
  if (report.kind !== 'failed') return null
  // A failure with 4.x.x ran out of retries. After a delivery, only a bounce is possible.
  return report.enhancedStatus?.startsWith('4.') && current !== 'delivered' ? 'failed' : 'bounced'
}
