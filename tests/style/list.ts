// Lists the places that break a style rule.
//
// usage, with sh bin/run before it:
// - tests/style/list.ts                   every rule: count, per 1,000 words, recorded count, target
// - tests/style/list.ts RULE [PATH...]    the places of one rule, or of "all", under the paths
// - tests/style/list.ts --folders [RULE]  counts per folder
// - tests/style/list.ts --record          lowers the recorded numbers to the measured ones
import { proseRules } from './prose-rules.ts'
import { countAll, lowerRecorded, readRecorded, remedyOf, retiredNameRule } from './ratchet.ts'
import { folderOf, readSources } from './sources.ts'

const rules = [...Object.keys(proseRules), retiredNameRule]
const [first, ...others] = process.argv.slice(2)

if (first === undefined) printRules()
else if (first === '--record') lowerRecorded(countAll(readSources()).findings)
else if (first === '--folders') printFolders(others[0])
else if (first === 'all' || rules.includes(first)) printPlaces(first === 'all' ? rules : [first], others)
else {
  console.error(`"${first}" is not a rule. The rules: ${rules.join(', ')}, all.`)
  process.exitCode = 1
}

function printRules(): void {
  const recorded = readRecorded()
  const { words, findings } = countAll(readSources())
  console.log(`${words} words of prose`)
  console.log(`${'rule'.padEnd(18)}${'count'.padStart(7)}${'/1,000'.padStart(8)}${'recorded'.padStart(10)}${'target'.padStart(8)}`)
  for (const [name, { places, perThousand }] of Object.entries(findings)) {
    const rate = name === retiredNameRule ? '' : perThousand.toFixed(2)
    const { count = 0, target = 0 } = recorded[name] ?? {}
    const unit = proseRules[name]?.measure === 'rate' ? `${target}‰` : String(target)
    console.log(`${name.padEnd(18)}${String(places.length).padStart(7)}${rate.padStart(8)}${String(count).padStart(10)}${unit.padStart(8)}`)
  }
}

function printFolders(rule: string | undefined): void {
  const { findings } = countAll(readSources())
  const folders = new Map<string, Map<string, number>>()
  for (const [name, { places }] of Object.entries(findings)) {
    if (rule && name !== rule) continue
    for (const { path } of places) {
      const folder = folderOf(path)
      const counts = folders.get(folder) ?? new Map<string, number>()
      counts.set(name, (counts.get(name) ?? 0) + 1)
      folders.set(folder, counts)
    }
  }
  const total = (counts: Map<string, number>) => [...counts.values()].reduce((sum, count) => sum + count, 0)
  for (const [folder, counts] of [...folders].toSorted((a, b) => total(b[1]) - total(a[1]))) {
    const details = [...counts].map(([name, count]) => `${name} ${count}`).join(', ')
    console.log(`${String(total(counts)).padStart(6)}  ${folder.padEnd(52)} ${details}`)
  }
}

function printPlaces(names: string[], paths: string[]): void {
  const isWanted = (path: string) =>
    paths.length === 0 || paths.some((wanted) => path === wanted || path.startsWith(`${wanted.replace(/\/$/, '')}/`))
  const { findings } = countAll(readSources().filter((source) => isWanted(source.path)))
  for (const name of names) {
    const places = findings[name]?.places ?? []
    if (places.length === 0) continue
    console.log(`${name}: ${places.length} places. ${remedyOf(name)}`)
    for (const place of places) console.log(`${place.path}:${place.line}  ${place.excerpt}`)
  }
}
