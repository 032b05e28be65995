// Delivery status notifications (RFC 3464, RFC 6533): the fields of one recipient in the machine-readable part.
import { addressKey } from '../mail-address.ts'
import { foldReply } from './reply-words.ts'
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
  }
  for (const line of text.split(/\r?\n/)) {
    if (line.trim() === '') {
      close()
      if (groups.length >= groupsMax) break
    } else if (/^[ \t]/.test(line)) {
      const value = current.get(name)
      if (value !== undefined && value.length < fieldCharactersMax) current.set(name, `${value} ${line}`.trim())
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
const bareValue = (field = ''): string =>
  field
    .slice(field.indexOf(';') + 1)
    .trim()
    .replace(/^<|>$/g, '')

const codeIn = (text: string): string | null => /(?:^|[^\d.\w])([245]\.\d{1,3}\.\d{1,3})(?![\d.])/.exec(text)?.[1] ?? null

const severity: ReportKind[] = ['failed', 'delayed', 'delivered', 'passed-on']

/** The kind of a report whose fields leave it open, from its prose. */
type Undecided = () => 'failed' | 'delayed'

/** Reads a delivery-status part for one recipient. Null when it has no recipient group. */
export function readDeliveryStatus(text: string, recipient: string, undecided: Undecided = () => 'delayed'): Report | null {
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
  const reports = (own.length > 0 ? own : about).map((fields) => reportOf(fields, first, undecided))
  return reports.toSorted((a, b) => severity.indexOf(a.kind) - severity.indexOf(b.kind))[0] ?? null
}

const isAboutRecipient = (fields: Fields): boolean => fields.has('final-recipient') || fields.has('action') || fields.has('status')

function reportOf(fields: Fields, message: Fields, undecided: Undecided): Report {
  const answer = foldReply(bareValue(fields.get('diagnostic-code')))
  const status = fields.get('status') ?? ''
  const said = codeIn(status)
  const inAnswer = codeIn(answer)
  // 5.0.0 gives no reason, but the reply of the server often does.
  const isVague = said === null || said.endsWith('.0.0')
  const enhancedStatus = isVague && inAnswer !== null && (said === null || inAnswer[0] === said[0]) ? inAnswer : said
  const host = bareValue(message.get('reporting-mta')) || bareValue(fields.get('remote-mta')) || null
  const kind = kindOf(fields.get('action') ?? '', enhancedStatus ?? (status || answer), undecided)
  return { kind, enhancedStatus, answer: answer || proseIn(status), host }
}

/** The words behind the code in a Status field, which some systems fill with their reply. */
const proseIn = (status: string): string => (/^[245]\d\d \D/.test(status) ? foldReply(status) : '')

/** `code` is the enhanced code, or the reply. Unregistered actions such as "failure" and "expired" occur (RFC 3464 §2.3.3 has five). */
function kindOf(action: string, code: string, undecided: Undecided): ReportKind {
  if (/^(?:fail|expired|undeliver|reject|bounce|error|permanent|not)/i.test(action)) return 'failed'
  if (/^(?:delay|defer|postpone|warning|retry|temporar|transient)/i.test(action)) return 'delayed'
  if (/^deliver/i.test(action)) return 'delivered'
  if (/^(?:relay|expand)/i.test(action)) return 'passed-on'
  return code.startsWith('5') ? 'failed' : code.startsWith('2') ? 'delivered' : undecided()
}
