// The hand-made mutants of bench/mutants/tables apply to the code as it is. `npm run mutants -- --hand` runs them.
import { existsSync, globSync, readFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { expect, test } from 'vitest'
import type { Mutant } from '../bench/mutants/mutant.ts'

const root = join(import.meta.dirname, '..')
const tables = globSync('bench/mutants/tables/*.ts', { cwd: root }).sort()

test('there are tables', () => expect(tables.length).toBeGreaterThan(4))

test.each(tables)('%s', async (table) => {
  const { mutants } = (await import(join(root, table))) as { mutants: Mutant[] }
  const broken = mutants.flatMap(({ name, file, find, replace, test: testFile }) => {
    const places = existsSync(join(root, file)) ? readFileSync(join(root, file), 'utf8').split(find).length - 1 : 0
    const isWhole = places === 1 && find !== replace && existsSync(join(root, testFile))
    return isWhole ? [] : [`${name}: ${places} places in ${file}, tested by ${basename(testFile)}`]
  })
  expect(broken).toEqual([])
  expect(new Set(mutants.map(({ name, file }) => `${file} ${name}`)).size).toBe(mutants.length)
})
