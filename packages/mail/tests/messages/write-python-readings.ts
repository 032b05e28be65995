// Writes python-readings.json, the reading of each sample message by Python's email package, so that the comparison with it needs no Python. Run it with
// `sh bin/run packages/mail/tests/messages/write-python-readings.ts` after a change of the samples.
import { globSync, readFileSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { type Reading, readWithPython } from '../harness/mail-oracles.ts'

export const pythonReadingsFile = join(import.meta.dirname, 'python-readings.json')
export const ownSamples = globSync('*.eml', { cwd: import.meta.dirname })
  .sort()
  .map((name) => join(import.meta.dirname, name))

/** A message as it would arrive, with CRLF. */
export const readSample = (file: string): Buffer => Buffer.from(readFileSync(file, 'latin1').replace(/\r?\n/g, '\r\n'), 'latin1')

/** The readings of the files by their names. */
export const readAllWithPython = (files: readonly string[]): Record<string, Reading> => {
  const readings = readWithPython(files.map(readSample))
  return Object.fromEntries(files.map((file, index) => [basename(file), readings[index] as Reading]))
}

if (import.meta.main) writeFileSync(pythonReadingsFile, `${JSON.stringify(readAllWithPython(ownSamples), null, 2)}\n`)
