// Runs `callsignd console-hashes`. Prints the hash of every file of the built console, to compare with those of a release or another server.
import { createHash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { listBuiltFiles } from '../edges/console/built-files.ts'
import { CommandFailed } from './failure.ts'

/** One line per file, in the form of Subresource Integrity: `sha384-<base64>  <path>`. Compressed copies and source maps are left out. */
export async function printConsoleHashes(folder: string, print: (line: string) => void): Promise<void> {
  const names = (await listBuiltFiles(folder)).filter((name) => !/\.(br|gz|map)$/.test(name))
  if (names.length === 0) throw new CommandFailed(`no built console in ${folder}: run npm run build -w @callsign/console`)
  for (const name of names) {
    const bytes = await readFile(join(folder, name))
    print(`sha384-${createHash('sha384').update(bytes).digest('base64')}  ${name}`)
  }
}
