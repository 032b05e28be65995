// The replies read from variants of each attribution and header block. A changed result is an error, or a change that is meant: then write the file again and
// read the differences.
import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { blocks, resultOf, resultsFile } from './replies/write-results.ts'

const results = (JSON.parse(readFileSync(resultsFile, 'utf8')) as unknown[]).map((result) => JSON.stringify(result))

test('every block has a result', () => expect(results).toHaveLength(blocks.length))

test.each(blocks.map((block, index) => [block[0], index] as const))('%s (%i)', (_, index) => {
  expect(resultOf(blocks[index] as [string, string])).toBe(results[index])
})
