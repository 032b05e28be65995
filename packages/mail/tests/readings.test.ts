// The complete reading of each sample message, and the digest of the reading of each variant. A changed reading is an error, or a change that is meant: then
// write the file again and read the differences.
import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { readingOf, readingsFile, sampleFiles } from './messages/write-readings.ts'

const readings = JSON.parse(readFileSync(readingsFile, 'utf8')) as { file: string }[]

test.each(sampleFiles)('%s', (file) => {
  expect(JSON.parse(readingOf(file))).toEqual(readings.find((reading) => reading.file === file))
})

test('every reading has its message', () => expect(readings.map(({ file }) => file)).toEqual(sampleFiles))
