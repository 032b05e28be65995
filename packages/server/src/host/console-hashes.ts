// Runs `callsignd console-hashes` and `callsignd console-loader`, which work without a server, from the files of a release.
import { createHash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { createBuiltFiles, listBuiltFiles } from '../edges/console/built-files.ts'
import { writeLoader } from '../edges/console/vault-loader.ts'
import { CommandFailed } from './failure.ts'

/** One line per file, in the form of Subresource Integrity: `sha384-<base64>  <path>`. Compressed copies and source maps are left out. */
export async function printConsoleHashes(folder: string, print: (line: string) => void): Promise<void> {
  const names = (await listBuiltFiles(folder)).filter((name) => !/\.(br|gz|map)$/.test(name))
  if (names.length === 0) throw notBuilt(folder)
  for (const name of names) {
    const bytes = await readFile(join(folder, name))
    print(`sha384-${createHash('sha384').update(bytes).digest('base64')}  ${name}`)
  }
}

/** Prints the vault page to save, for the server with this address. Its hash is that of the script in `folder`. */
export async function printConsoleLoader(folder: string, server: string, print: (line: string) => void): Promise<void> {
  const loader = await writeLoader(createBuiltFiles(folder), server)
  if (loader === null) throw notBuilt(folder)
  print(loader.trimEnd())
}

const notBuilt = (folder: string) => new CommandFailed(`no built console in ${folder}: run npm run build -w @callsign/console`)
