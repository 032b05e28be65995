// Reads the Date field of a message (RFC 5322 §3.3 with the obsolete forms of §4.3).

const YEAR_MIN = 1900
const MONTHS = ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec']

// Minutes east of Greenwich. The military letters are missing, because RFC 5322 §4.3 reads them as -0000.
const ZONES = new Map([
  ['ut', 0],
  ['utc', 0],
  ['gmt', 0],
  ['z', 0],
  ['est', -300],
  ['edt', -240],
  ['cst', -360],
  ['cdt', -300],
  ['mst', -420],
  ['mdt', -360],
  ['pst', -480],
  ['pdt', -420],
  ['bst', 60],
  ['cet', 60],
  ['cest', 120],
  ['jst', 540],
])

const DATE =
  /^(?:[a-z]{2,10}\s*\.?,?\s+)?(\d{1,2})[\s-]+([a-z]{3})[a-z]*\.?[\s-]+(\d{2,4})[\s,]+(\d{1,2})\s*[:.]\s*(\d{2})(?:\s*[:.]\s*(\d{2})(?:\.\d{1,9})?)?\s*(.*)$/i
const ISO_DATE = /^\d{4}-\d\d-\d\dT\d\d:\d\d(?::\d\d(?:\.\d{1,9})?)?(?:Z|[+-]\d\d:\d\d)$/

/** The time of a Date value, or null without a valid time in the years 1900 to 9999. A missing or unknown zone is UTC. */
export function readDate(value: string | null): Date | null {
  if (value === null) return null
  const text = withoutComments(value.slice(0, 200)).trim()
  if (ISO_DATE.test(text)) return bounded(Date.parse(text))
  const match = DATE.exec(text)
  if (match === null) return null
  const month = MONTHS.indexOf(match[2]!.toLowerCase())
  const day = Number(match[1])
  const hour = Number(match[4])
  const minute = Number(match[5])
  const second = Number(match[6] ?? 0)
  if (month < 0 || day < 1 || day > 31 || hour > 23 || minute > 59 || second > 60) return null
  const year = readYear(match[3]!)
  if (year < YEAR_MIN) return null
  const zone = readZoneMinutes(match[7]!)
  return bounded(Date.UTC(year, month, day, hour, minute, second) - zone * 60_000)
}

// RFC 5322 §4.3: two digits below 50 are 20xx, other two digits and all three digits count from 1900.
function readYear(digits: string): number {
  const year = Number(digits)
  if (digits.length === 4) return year
  return digits.length === 2 && year < 50 ? year + 2000 : year + 1900
}

function readZoneMinutes(text: string): number {
  const offset = /^(?:gmt|utc)?\s*([+-])(\d{2}):?(\d{2})/i.exec(text)
  if (offset === null) return ZONES.get(/^[a-z]+/i.exec(text)?.[0].toLowerCase() ?? '') ?? 0
  const minutes = Number(offset[2]) * 60 + Number(offset[3])
  return offset[1] === '-' ? -minutes : minutes
}

function withoutComments(text: string): string {
  let kept = ''
  let depth = 0
  for (const character of text) {
    if (character === '(') depth++
    else if (character === ')' && depth > 0) depth--
    else if (depth === 0) kept += character
  }
  return kept
}

function bounded(timeMs: number): Date | null {
  if (Number.isNaN(timeMs)) return null
  const date = new Date(timeMs)
  return date.getUTCFullYear() >= YEAR_MIN && date.getUTCFullYear() <= 9999 ? date : null
}
