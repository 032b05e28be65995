// Delivery status notifications (RFC 3464, RFC 6533): the fields of one recipient in the machine-readable part.
import { addressKey } from '../mail-address.ts'
import type { Report, ReportKind } from './report-kinds.ts'

/** The fields of one group, names in lower case. The first of repeated fields counts. */
type Fields = Map<string, string>

const groupsMax = 200
const fieldCharactersMax = 2000

/** The groups of a part. The first is about the message, each other one about one recipient. Lines end in LF or CRLF. */
function readGroups(text: string): Fields[] {
  const groups: Fields[] = []
  let current: Fields = new Map()
  let name = ''
  const close = () => {
    if (current.size > 0) groups.push(current)
    current = new Map()
    name = ''
  }
  for (const line of text.split(/\r?\n/)) {
    if (line.trim() === '') {
      close()
      if (groups.length >= groupsMax) break
    } else if (/^[ \t]/.test(line)) {
      const value = current.get(name)
      if (value !== undefined && value.length < fieldCharactersMax) current.set(name, `${value} ${line.trim()}`)
    } else {
      const colon = line.indexOf(':')
      if (colon < 1) continue
      name = line.slice(0, colon).trim().toLowerCase()
      if (!current.has(name)) current.set(name, line.slice(colon + 1, fieldCharactersMax).trim())
    }
  }
  close()
  return groups
}

/** `rfc822; user@example.com` without its type and its angle brackets. */
const bareValue = (field: string | undefined): string =>
  (field ?? '')
    .slice((field ?? '').indexOf(';') + 1)
    .trim()
    .replace(/^<|>$/g, '')

const statusIn = (text: string): string | null => /(?:^|[^\d.])([245]\.\d{1,3}\.\d{1,3})(?![\d.])/.exec(text)?.[1] ?? null

const severity: ReportKind[] = ['failed', 'delayed', 'delivered', 'passed-on']

/** Reads a delivery-status part for one recipient. Null when it has no recipient group. */
export function readDeliveryStatus(text: string, recipient: string): Report | null {
  const [first, ...others] = readGroups(text)
  if (!first) return null
  // Some senders leave out the empty line between the fields of the message and those of the first recipient.
  const groups = isAboutRecipient(first) ? [first, ...others] : others
  const about = groups.filter(isAboutRecipient)
  const wanted = addressKey(recipient)
  const own = about.filter((fields) =>
    ['final-recipient', 'original-recipient'].some((name) => addressKey(bareValue(fields.get(name))) === wanted),
  )
  // An alias is reported under its targets. The worst of their results counts.
  const reports = (own.length > 0 ? own : about).map((fields) => reportOf(fields, first))
  return reports.toSorted((a, b) => severity.indexOf(a.kind) - severity.indexOf(b.kind))[0] ?? null
}

const isAboutRecipient = (fields: Fields): boolean => fields.has('final-recipient') || fields.has('action') || fields.has('status')

function reportOf(fields: Fields, message: Fields): Report {
  const answer = bareValue(fields.get('diagnostic-code'))
  const said = statusIn(fields.get('status') ?? '')
  const inAnswer = statusIn(answer)
  // 5.0.0 gives no reason, but the reply of the server often does.
  const isVague = said === null || /^[245]\.0\.0$/.test(said)
  const enhancedStatus = isVague && inAnswer !== null && (said === null || inAnswer[0] === said[0]) ? inAnswer : said
  const host = bareValue(message.get('reporting-mta')) || bareValue(fields.get('remote-mta')) || null
  return { kind: kindOf(fields, enhancedStatus), enhancedStatus, answer, host }
}

function kindOf(fields: Fields, status: string | null): ReportKind {
  const action = /^[a-z]+/i.exec(fields.get('action') ?? '')?.[0].toLowerCase()
  switch (action) {
    case 'failed':
    case 'delayed':
    case 'delivered':
      return action
    case 'relayed':
    case 'expanded':
      return 'passed-on'
    default:
      return status?.startsWith('5') ? 'failed' : status?.startsWith('2') ? 'delivered' : 'delayed'
  }
}
