// Reads the DMARC or TLS report in a file.
import type { ReportContent } from '../../../features/mail/reports/model.ts'
import { decodeFile } from '../formats/file-charset.ts'
import { Unreadable } from '../formats/unreadable.ts'
import { readDmarc } from './dmarc.ts'
import { readTls } from './tls.ts'
import { unpack } from './unpack.ts'

/** Throws `Unreadable` for a file that is not a report, and any error of a parser for a damaged one. */
export async function readReport(file: Buffer): Promise<ReportContent> {
  const text = decodeFile(await unpack(file), '', false)
  const first = /^\s*(.)/u.exec(text.slice(0, 100))?.[1]
  const report = first === '<' ? await readDmarc(text) : first === '{' ? readTls(text) : null
  if (report === null) throw new Unreadable('not_supported', 'the file is not a report')
  return report
}
