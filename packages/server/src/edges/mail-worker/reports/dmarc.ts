// Reads DMARC aggregate reports (RFC 7489 appendix C, RFC 9990) as a stream of elements.
import type { ReportSource } from '@callsign/contract/domain-reports'
import type { ReportContent } from '../../../features/mail/reports/model.ts'
import { Unreadable } from '../formats/unreadable.ts'
import { parseXml } from '../formats/xml.ts'
import { countOf, lineOf, periodOf } from './fields.ts'

const recordsMax = 20_000
/** The longest value that is used has 200 characters. */
const textCharactersMax = 1_000
const recordPath = 'feedback/record'

/** The values that are used, by their path. */
const factPaths = new Set([
  'feedback/report_metadata/report_id',
  'feedback/report_metadata/date_range/begin',
  'feedback/report_metadata/date_range/end',
  'feedback/policy_published/domain',
])
const recordPaths = new Set([
  'row/source_ip',
  'row/count',
  'row/policy_evaluated/disposition',
  'row/policy_evaluated/dkim',
  'row/policy_evaluated/spf',
  'identifiers/header_from',
])

/** The report, or null for XML that is not one. Throws for broken XML, for a document type, and above the limits. */
export async function readDmarc(xml: string): Promise<ReportContent | null> {
  const facts = new Map<string, string>()
  const record = new Map<string, string>()
  const sources: ReportSource[] = []
  const path: string[] = []
  let text = ''
  await parseXml(slicesOf(Buffer.from(xml.replace(schemaTag, ''))), 'the report', {
    open(name) {
      path.push(name)
      text = ''
    },
    text(more) {
      if (text.length < textCharactersMax) text += more
    },
    close() {
      const place = path.join('/')
      path.pop()
      const inRecord = place.slice(recordPath.length + 1)
      if (factPaths.has(place)) facts.set(place, text)
      else if (place.startsWith(recordPath) && recordPaths.has(inRecord)) record.set(inRecord, text)
      else if (place === recordPath) {
        if (sources.length >= recordsMax) throw new Unreadable('too_complex', `the report has more than ${recordsMax} records`)
        sources.push(toSource(record))
        record.clear()
      }
      text = ''
    },
  })
  const factOf = (name: string): string => lineOf(facts.get(`feedback/${name}`))
  const msOf = (name: string): number => Number(factOf(`report_metadata/date_range/${name}`)) * 1000
  const domain = factOf('policy_published/domain').toLowerCase()
  const reportId = factOf('report_metadata/report_id')
  const period = periodOf(msOf('begin'), msOf('end'))
  return domain === '' || reportId === '' || period === null ? null : { kind: 'dmarc', domain, reportId, ...period, sources }
}

/** Some reporters put their records into a schema element, which they do not close. */
const schemaTag = /<\/?(?:\w{1,20}:)?schema\b[^<>]{0,2000}>/g

const sliceBytes = 64 * 1024

/** Small slices, so that reading ends soon after an error. */
async function* slicesOf(bytes: Buffer): AsyncGenerator<Buffer> {
  for (let at = 0; at < bytes.length; at += sliceBytes) yield bytes.subarray(at, at + sliceBytes)
}

const dispositions = ['none', 'quarantine', 'reject'] as const

/** A message passes DMARC with an aligned DKIM or SPF result. */
function toSource(record: ReadonlyMap<string, string>): ReportSource {
  const fieldOf = (path: string): string => lineOf(record.get(path))
  const wordOf = (name: string): string => fieldOf(`row/policy_evaluated/${name}`).toLowerCase()
  const resultOf = (name: 'dkim' | 'spf'): 'pass' | 'fail' => (wordOf(name) === 'pass' ? 'pass' : 'fail')
  const [dkim, spf] = [resultOf('dkim'), resultOf('spf')]
  const from = fieldOf('identifiers/header_from')
  return {
    source: fieldOf('row/source_ip'),
    count: countOf(record.get('row/count')),
    is_passed: dkim === 'pass' || spf === 'pass',
    disposition: dispositions.find((one) => one === wordOf('disposition')) ?? null,
    detail: `DKIM ${dkim}, SPF ${spf}${from && `, From ${from}`}`,
  }
}
