// Prints the generated parts of docs/: configuration.md from the settings table.
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { configurationTable } from '../packages/server/src/config/settings.ts'

/** The text of docs/configuration.md; a test compares it with the file. */
export const configurationPage = (): string => `# Configuration

Settings are environment variables. A bad value or an unknown \`CALLSIGN_\` name stops the start with a sentence that says why.
Variables with a \`_FILE\` form take their value from the file that it names. This page is printed from \`packages/server/src/config/settings.ts\`
by \`npm run docs\`.

${configurationTable()}
`

if (import.meta.main) writeFileSync(join(import.meta.dirname, '..', 'docs', 'configuration.md'), configurationPage())
