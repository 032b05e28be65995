// Counts every rule over the repository and compares the counts with the recorded ones, which may only fall.
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { readPassages, wordsIn } from './passages.ts'
import { findPlaces, type Place, proseRules } from './prose-rules.ts'
import { findRetiredNames } from './retired-names.ts'
import type { Source } from './sources.ts'

/** `perThousand` is the number per 1,000 words of prose, or 0 for names. */
export type Finding = { places: Place[]; perThousand: number }
/** `target` is a count, or for `rate` rules a number per 1,000 words. */
export type Recorded = { count: number; perThousand: number; target: number }

export const retiredNameRule = 'retired-name'
const recordedFile = join(import.meta.dirname, 'recorded.json')
const hintBelow = 0.95
const placesShown = 5

export const readRecorded = (): Record<string, Recorded> => JSON.parse(readFileSync(recordedFile, 'utf8'))

export function countAll(sources: Source[]): { words: number; findings: Record<string, Finding> } {
  const passages = sources.flatMap(readPassages)
  const words = passages.reduce((sum, passage) => sum + wordsIn(passage.text), 0)
  const findings: Record<string, Finding> = {}
  for (const [name, rule] of Object.entries(proseRules)) {
    const places = findPlaces(passages, rule)
    findings[name] = { places, perThousand: roundUp((places.length / Math.max(words, 1)) * 1000) }
  }
  findings[retiredNameRule] = { places: findRetiredNames(sources), perThousand: 0 }
  return { words, findings }
}

// Up, so that the recorded number is never below the measured one.
const roundUp = (perThousand: number): number => Math.ceil(perThousand * 100) / 100

const measureOf = (name: string): 'count' | 'rate' => proseRules[name]?.measure ?? 'count'
export const remedyOf = (name: string): string => proseRules[name]?.remedy ?? 'Use the term beside each name (docs/development/style.md).'

/** A failure with its rule, first places and remedy, or null. A `rate` rule fails when its rate is above its target and both its numbers are above the recorded ones. */
export function failureOf(name: string, finding: Finding, recorded: Recorded): string | null {
  const count = finding.places.length
  if (count <= recorded.count) return null
  const rateMax = Math.max(recorded.perThousand, recorded.target)
  if (measureOf(name) === 'rate' && finding.perThousand <= rateMax) return null
  const rate = measureOf(name) === 'rate' ? `, ${finding.perThousand} per 1,000 words against ${rateMax}` : ''
  return [
    `style rule "${name}": ${count} places, ${recorded.count} recorded${rate}. The numbers may only fall.`,
    `remedy: ${remedyOf(name)}`,
    ...finding.places.slice(0, placesShown).map((place) => `  ${place.path}:${place.line}  ${place.excerpt}`),
    `all places: sh bin/run tests/style/list.ts ${name} [PATH...]`,
  ].join('\n')
}

export const isFarBelow = (finding: Finding, recorded: Recorded): boolean => finding.places.length < recorded.count * hintBelow

/** Lowers the recorded numbers to the measured ones. No number is ever raised here. */
export function lowerRecorded(findings: Record<string, Finding>): void {
  const recorded = readRecorded()
  for (const [name, numbers] of Object.entries(recorded)) {
    const finding = findings[name]
    if (!finding) continue
    numbers.count = Math.min(numbers.count, finding.places.length)
    numbers.perThousand = Math.min(numbers.perThousand, finding.perThousand)
  }
  const lines = Object.entries(recorded).map(
    ([name, { count, perThousand, target }]) => `  "${name}": { "count": ${count}, "perThousand": ${perThousand}, "target": ${target} }`,
  )
  writeFileSync(recordedFile, `{\n${lines.join(',\n')}\n}\n`)
}
