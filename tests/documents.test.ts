// The documents tell the truth: files that they name exist, and printed pages are current.
import { existsSync, globSync, readFileSync } from 'node:fs'
import { basename, dirname, join, resolve } from 'node:path'
import { expect, test } from 'vitest'
import { cliPage, configurationPage, monitoringPage, performancePage } from '../bin/docs.ts'
import { stalePythonFiles } from '../bin/python.ts'
import { staleSdkFiles } from '../bin/sdk.ts'

const root = resolve(import.meta.dirname, '..')
const documents = ['README.md', 'CONTRIBUTING.md', ...globSync('docs/**/*.md', { cwd: root })]

// Quoted paths may leave out packages/server/src/. Links are relative to their document, or are addresses of a server with a leading slash.
const exists = (path: string) =>
  ['', 'packages/server/src', 'packages/server', 'packages'].some((folder) => existsSync(join(root, folder, path)))

test('every file that a document names exists', () => {
  const missing = documents.flatMap((document) => {
    const text = readFileSync(join(root, document), 'utf8')
    const quoted = [...text.matchAll(/`([\w./-]+\.(?:ts|md|sql|json))`/g)].map((match) => match[1] as string)
    const linked = [...text.matchAll(/\]\(([\w.][\w./-]*)(?:#[\w-]+)?\)/g)].map((match) => join(dirname(document), match[1] as string))
    return [...quoted.filter((path) => /^\w[^/]*\//.test(path)), ...linked]
      .filter((path) => !exists(path))
      .map((path) => `${document}: ${path}`)
  })
  expect(documents.length).toBeGreaterThan(5)
  expect(missing).toEqual([])
})

test('the list of decisions has every record', () => {
  const list = readFileSync(join(root, 'docs/decisions/README.md'), 'utf8')
  const records = globSync('docs/decisions/0*.md', { cwd: root }).map((path) => basename(path))
  expect(records.length).toBeGreaterThan(30)
  expect(records.filter((record) => !list.includes(`](${record})`))).toEqual([])
})

test('docs/cli.md is the output of npm run docs', () => {
  expect(readFileSync(join(root, 'docs/cli.md'), 'utf8')).toBe(cliPage())
})

test('docs/configuration.md is the output of npm run docs', () => {
  expect(readFileSync(join(root, 'docs/configuration.md'), 'utf8')).toBe(configurationPage())
})

test('the table in docs/monitoring.md is the output of npm run docs', () => {
  expect(readFileSync(join(root, 'docs/monitoring.md'), 'utf8')).toBe(monitoringPage())
})

test('docs/performance.md has the figures of docs/performance.json', () => {
  expect(readFileSync(join(root, 'docs/performance.md'), 'utf8')).toBe(performancePage())
})

test('the generated part of the Python client is the output of npm run docs', () => {
  expect(stalePythonFiles()).toEqual([])
})

test('the resources of the SDK are the output of npm run docs', async () => {
  expect(await staleSdkFiles()).toEqual([])
})
