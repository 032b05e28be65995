// Lists the files that the style rules read: TypeScript, SQL and Markdown.
import { globSync, readFileSync } from 'node:fs'
import { extname, join, resolve } from 'node:path'

export type Source = { path: string; text: string; language: 'ts' | 'tsx' | 'sql' | 'md' }

const root = resolve(import.meta.dirname, '../..')
const skippedFolders: ReadonlySet<string> = new Set(['node_modules', '.git', 'dist', 'data', 'coverage', 'fixtures'])
// The first is printed from the settings table, where its sentences are counted once. The others have to quote the wordings that they look for.
const skippedFiles = new Set([
  'docs/configuration.md',
  'docs/development/style.md',
  'tests/style.test.ts',
  'tests/style/prose-rules.ts',
  'tests/style/retired-names.ts',
])

/** Reads every source of the repository, or of another folder, in the order of their paths. */
export function readSources(folder = root): Source[] {
  const paths = globSync(['**/*.{ts,tsx,sql,md}', '.github/**/*.md'], {
    cwd: folder,
    exclude: (name) => skippedFolders.has(name),
  })
  return [...new Set(paths)]
    .filter((path) => !skippedFiles.has(path))
    .toSorted()
    .map((path) => ({ path, text: readFileSync(join(folder, path), 'utf8'), language: extname(path).slice(1) as Source['language'] }))
}

/** Tests, fixtures and benchmarks: most of their strings are sample data, so only test names and error messages are prose. */
export const isTestCode = (path: string): boolean => /(^|\/)(tests|bench)\/|\.test\.tsx?$/.test(path)

/** The folder that a count is handed out by: one feature, one edge, or the first three levels. */
export function folderOf(path: string): string {
  const folders = path.split('/').slice(0, -1)
  const depth = /^packages\/[^/]+\/src\/(features\/(mail|account|events)|edges\/(smtp|postgres))\//.test(path)
    ? 6
    : /^packages\/[^/]+\/src\/(features|edges)\//.test(path)
      ? 5
      : 4
  return folders.slice(0, depth).join('/') || '.'
}
