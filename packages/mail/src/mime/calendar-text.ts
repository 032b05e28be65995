// Writes the events of a calendar file (RFC 5545) as text, for a mail that has nothing else.

const EVENTS_MAX = 5
const LINES_MAX = 20_000
const VALUE_CHARACTERS_MAX = 20_000
const COMPONENTS = new Set(['VEVENT', 'VTODO', 'VJOURNAL'])

type Property = { parameters: string; value: string }
type Component = Map<string, Property>

/** The summary, time, place, organizer and description of each event, of at most five. Empty for a file without events. Linear. */
export function calendarToText(source: string): string {
  const { method, components } = readCalendar(source)
  const texts = components.map((component) => describe(component, method)).filter((text) => text !== '')
  return texts.join('\n\n')
}

function readCalendar(source: string): { method: string; components: Component[] } {
  const components: Component[] = []
  let open: Component | null = null
  let method = ''
  // Alarms inside an event have descriptions of their own.
  let nested = 0
  for (const line of unfold(source)) {
    const { name, parameters, value } = readLine(line)
    if (name === 'BEGIN') {
      if (open !== null) nested++
      else if (COMPONENTS.has(value.toUpperCase())) {
        if (components.length >= EVENTS_MAX) break
        open = new Map()
        components.push(open)
      }
    } else if (name === 'END') {
      if (nested > 0) nested--
      else open = null
    } else if (open === null) {
      if (name === 'METHOD') method = value.toUpperCase()
    } else if (nested === 0 && !open.has(name)) open.set(name, { parameters, value })
  }
  return { method, components }
}

// A line that begins with a blank continues the one above (RFC 5545 §3.1).
function unfold(source: string): string[] {
  const pieces: string[][] = []
  for (const line of source.split('\n', LINES_MAX)) {
    const first = line[0]
    if ((first === ' ' || first === '\t') && pieces.length > 0) pieces.at(-1)!.push(line.slice(1))
    else pieces.push([line])
  }
  return pieces.map((line) => line.join('').slice(0, VALUE_CHARACTERS_MAX))
}

// `NAME;parameter=value:value`. A colon in quotes is part of a parameter.
function readLine(line: string): { name: string; parameters: string; value: string } {
  let isQuoted = false
  let colon = -1
  for (let at = 0; at < line.length && colon < 0; at++) {
    if (line[at] === '"') isQuoted = !isQuoted
    else if (line[at] === ':' && !isQuoted) colon = at
  }
  if (colon < 0) return { name: '', parameters: '', value: '' }
  const head = line.slice(0, colon)
  const semicolon = head.indexOf(';')
  const end = semicolon < 0 ? colon : semicolon
  return { name: head.slice(0, end).toUpperCase(), parameters: head.slice(end), value: line.slice(colon + 1).trim() }
}

function describe(component: Component, method: string): string {
  const textOf = (name: string): string => withoutEscapes(component.get(name)?.value ?? '').trim()
  const isCancelled = method === 'CANCEL' || textOf('STATUS').toUpperCase() === 'CANCELLED'
  const lines = [
    textOf('SUMMARY'),
    isCancelled ? 'Cancelled' : '',
    labelled('When', timeOf(component)),
    labelled('Where', textOf('LOCATION')),
    labelled('Organizer', personOf(component.get('ORGANIZER'))),
  ]
  const head = lines.filter((line) => line !== '').join('\n')
  return [head, textOf('DESCRIPTION')].filter((part) => part !== '').join('\n\n')
}

const labelled = (label: string, text: string): string => (text === '' ? '' : `${label}: ${text}`)

const withoutEscapes = (value: string): string =>
  value.replace(/\\([nN\\;,])/g, (_, sign: string) => (sign.toLowerCase() === 'n' ? '\n' : sign))

function timeOf(component: Component): string {
  const start = momentOf(component.get('DTSTART') ?? component.get('DUE'))
  const end = momentOf(component.get('DTEND'))
  if (start === null) return ''
  const zone = start.zone === '' ? '' : ` (${start.zone})`
  if (end === null || (end.day === start.day && end.time === start.time)) return `${start.day} ${start.time}`.trim() + zone
  if (end.day === start.day) return `${start.day} ${start.time} to ${end.time}${zone}`
  return `${`${start.day} ${start.time}`.trim()} to ${`${end.day} ${end.time}`.trim()}${zone}`
}

function momentOf(property: Property | undefined): { day: string; time: string; zone: string } | null {
  const found = /^(\d{4})(\d\d)(\d\d)(?:T(\d\d)(\d\d)\d{0,2}(Z?))?$/.exec(property?.value ?? '')
  if (found === null) return null
  const [, year, month, day, hour, minute, utc] = found
  const named = /;TZID="?([^";:]{1,100})/i.exec(property!.parameters)?.[1] ?? ''
  return { day: `${year}-${month}-${day}`, time: hour === undefined ? '' : `${hour}:${minute}`, zone: utc === 'Z' ? 'UTC' : named }
}

function personOf(property: Property | undefined): string {
  if (property === undefined) return ''
  const name = /;CN=(?:"([^"]{1,200})"|([^";:]{1,200}))/i.exec(property.parameters)
  const shown = (name?.[1] ?? name?.[2] ?? '').trim()
  const address = property.value.replace(/^mailto:/i, '')
  return shown === '' || shown === address ? address : `${shown} <${address}>`
}
