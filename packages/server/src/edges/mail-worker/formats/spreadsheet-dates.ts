// Dates in workbooks are numbers of days whose style has a date format (ECMA-376, part 1, §18.8.30).
import type { Archive } from './archive.ts'
import { readXml } from './xml.ts'

const stylesMax = 100_000
const dayMs = 86_400_000
/** Days from 1899-12-30 to 1970-01-01, and from 1904-01-01. */
const epochDays = 25_569
const epochDays1904 = 24_107
const daysMax = 2_958_466

/** Built-in formats of dates and times, with those of East Asian versions. */
const isBuiltInDate = (id: number): boolean =>
  (id >= 14 && id <= 22) || (id >= 27 && id <= 36) || (id >= 45 && id <= 47) || (id >= 50 && id <= 58)

/** The indexes of cell styles that show numbers as dates. */
export async function readDateStyles(archive: Archive, part: string): Promise<Set<number>> {
  const dateFormats = new Set<number>()
  const styles = new Set<number>()
  let isInCellStyles = false
  let index = 0
  await readXml(archive, part, {
    open(name, attribute) {
      if (name === 'numFmt' && dateFormats.size < stylesMax && isDateFormat(attribute('formatCode') ?? ''))
        dateFormats.add(Number(attribute('numFmtId')))
      else if (name === 'cellXfs') isInCellStyles = true
      else if (name === 'xf' && isInCellStyles) {
        const id = Number(attribute('numFmtId'))
        if (styles.size < stylesMax && (isBuiltInDate(id) || dateFormats.has(id))) styles.add(index)
        index++
      }
    },
    close(name) {
      if (name === 'cellXfs') isInCellStyles = false
    },
  })
  return styles
}

/** True when the format has a letter of a date outside of quotations, colours and escapes. */
const isDateFormat = (code: string): boolean =>
  /[dmyhs]/i.test(
    code
      .slice(0, 300)
      .replace(/"[^"]*"|\\./g, '')
      .replace(/\[(?![hms]+\])[^\]]*\]/gi, '')
      .replace(/general/gi, ''),
  )

/** A number of days as an ISO 8601 date, with the time if it has one. Other values stay as they are. */
export function dateText(value: string, startsIn1904: boolean): string {
  const days = Number(value)
  if (value.trim() === '' || !(days >= 0 && days < daysMax)) return value
  const at = new Date(Math.round(((days - (startsIn1904 ? epochDays1904 : epochDays)) * dayMs) / 1000) * 1000).toISOString()
  if (days < 1) return at.slice(11, 19)
  return days % 1 === 0 ? at.slice(0, 10) : `${at.slice(0, 10)} ${at.slice(11, 19)}`
}
