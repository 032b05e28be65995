// Prints the generated files. docs/configuration.md comes from the settings tables, docs/cli.md from the command table, and the Python client and the
// resources of the SDK from the contract. The table in docs/monitoring.md comes from the metrics, and the figures of docs/performance.md from the last
// run of the benchmarks.
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { figureTable } from '../bench/harness/comparison.ts'
import { readResults } from '../bench/harness/results.ts'
import { commands } from '../packages/cli/src/command-table.ts'
import { commandPage } from '../packages/cli/src/help.ts'
import { configurationTables } from '../packages/server/src/config/settings.ts'
import { listMetrics } from '../packages/server/src/wiring/metrics-table.ts'
import { writePythonFiles } from './python.ts'
import { writeSdkFiles } from './sdk.ts'

/** The text of docs/configuration.md. A test compares it with the file. */
export const configurationPage = (): string => `# Configuration

Settings are environment variables, or lines of the file \`callsign.env\` in the working directory or the data directory. \`--config FILE\` names another
file, and the environment wins over it. [Setup](setup.md) writes the file. A bad value or an unknown \`CALLSIGN_\` name stops the start with a sentence
that gives the reason, and the line of the file.
Variables with a \`_FILE\` form can instead name a file that holds the value. This page is printed from the tables in
\`packages/server/src/config/\` by \`npm run docs\`.

${configurationTables()}
`

/** The text of docs/cli.md. A test compares it with the file. */
export const cliPage = (): string => commandPage(commands)

const folder = join(import.meta.dirname, '..', 'docs')
const metricsHeading = '\n## Metrics\n'

/** The text of docs/monitoring.md: the text of the file up to its last section, and the table. A test compares it with the file. */
export function monitoringPage(): string {
  const [text] = readFileSync(join(folder, 'monitoring.md'), 'utf8').split(metricsHeading)
  const rows = listMetrics().map(({ name, type, labels, help }) => `| \`${name}\` | ${type} | ${labels.join(', ')} | ${help} |`)
  return `${text}${metricsHeading}\n${['| name | type | labels | meaning |', '|---|---|---|---|', ...rows].join('\n')}\n`
}

const [figuresStart, figuresEnd] = ['<!-- figures of docs/performance.json, printed by npm run docs -->', '<!-- end of figures -->']

/** The text of docs/performance.md with the figures of the last run. A test compares it with the file. */
export function performancePage(): string {
  const page = readFileSync(join(folder, 'performance.md'), 'utf8')
  const [before, after] = [page.split(figuresStart, 1)[0], page.split(figuresEnd)[1]]
  if (after === undefined) throw new Error(`docs/performance.md lacks the lines ${figuresStart} and ${figuresEnd}`)
  return `${before}${figuresStart}\n\n${figureTable(readResults())}\n\n${figuresEnd}${after}`
}

if (import.meta.main) {
  writeFileSync(join(folder, 'configuration.md'), configurationPage())
  writeFileSync(join(folder, 'cli.md'), cliPage())
  writeFileSync(join(folder, 'monitoring.md'), monitoringPage())
  writeFileSync(join(folder, 'performance.md'), performancePage())
  writePythonFiles()
  await writeSdkFiles()
}
