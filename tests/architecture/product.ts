// The source files of the packages with their imports, and the form in which an architecture rule fails.
import { globSync, readFileSync } from 'node:fs'
import { dirname, join, relative, resolve } from 'node:path'
import { expect } from 'vitest'

const packages = resolve(import.meta.dirname, '../../packages')

/** `raw` is the whole file. `text` has no comments, so that examples in them do not count. */
export type Source = { path: string; raw: string; text: string; imports: string[] }

// Static imports, re-exports and dynamic imports of a literal.
const importPattern = /(?:\bfrom\s*|\bimport\s*\(?\s*)['"]([^'"]+)['"]/g

function readSource(path: string): Source {
  const raw = readFileSync(path, 'utf8')
  const text = raw.replace(/^\s*(\/\/|\*|\/\*).*$/gm, '')
  return { path: relative(packages, path), raw, text, imports: [...text.matchAll(importPattern)].map((match) => match[1] as string) }
}

export const sources = globSync('*/src/**/*.{ts,tsx}', { cwd: packages }).map((path) => readSource(join(packages, path)))
const isTest = (source: Source) => source.path.endsWith('.test.ts')
export const product = sources.filter((source) => !isTest(source))

/** The path of a relative import below packages/. A package import is returned unchanged. */
export const targetOf = (source: Source, specifier: string): string =>
  specifier.startsWith('.') ? relative(packages, resolve(packages, dirname(source.path), specifier)) : specifier

/** Fails with the rule, the remedy and every offence. */
export function expectNone(rule: string, remedy: string, offences: string[]): void {
  if (offences.length > 0) expect.fail([rule, `remedy: ${remedy}`, ...offences.map((offence) => `  ${offence}`)].join('\n'))
}
