// Prints the generated files: docs/configuration.md from the settings tables, docs/cli.md from the command table, and the Python client from the API.
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { commands } from '../packages/cli/src/command-table.ts'
import { commandPage } from '../packages/cli/src/help.ts'
import { configurationTables } from '../packages/server/src/config/settings.ts'
import { writePythonFiles } from './python.ts'

/** The text of docs/configuration.md. A test compares it with the file. */
export const configurationPage = (): string => `# Configuration

Settings are environment variables. A bad value or an unknown \`CALLSIGN_\` name stops the start with a sentence that gives the reason.
Variables with a \`_FILE\` form can instead name a file that holds the value. This page is printed from the tables in
\`packages/server/src/config/\` by \`npm run docs\`.

${configurationTables()}
`

/** The text of docs/cli.md. A test compares it with the file. */
export const cliPage = (): string => commandPage(commands)

if (import.meta.main) {
  const folder = join(import.meta.dirname, '..', 'docs')
  writeFileSync(join(folder, 'configuration.md'), configurationPage())
  writeFileSync(join(folder, 'cli.md'), cliPage())
  writePythonFiles()
}
