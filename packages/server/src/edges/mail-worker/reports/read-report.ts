// Reads the DMARC or TLS report in a file.
import type { ReportContent } from '../../../features/mail/reports/model.ts'
import { Unreadable } from '../formats/unreadable.ts'
import { readDmarc } from './dmarc.ts'
import { readTls } from './tls.ts'
import { unpack } from './unpack.ts'

/** Throws `Unreadable` for a file that is not a report, and any error of a parser for a damaged one. */
export async function readReport(file: Buffer): Promise<ReportContent> {
  const bytes = await unpack(file)
  const first = /^\ufeff?\s*(.)/u.exec(bytes.toString('utf8', 0, 100))?.[1]
  const report = first === '<' ? await readDmarc(bytes) : first === '{' ? readTls(bytes.toString('utf8').replace(/^\ufeff/, '')) : null
  if (report === null) throw new Unreadable('not_supported', 'the file is not a report')
  return report
}
