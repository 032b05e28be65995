// The public methods of the client with the names and the order of their parameters. tests/fixtures/public-methods.txt has them.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { Callsign } from './index.ts'

/** The names of a method's parameters, without their types and defaults. */
function parametersOf(method: (...values: unknown[]) => unknown): string {
  const source = String(method)
  const list = source.slice(source.indexOf('(') + 1, source.search(/\)[^)]*\{\n/))
  return list
    .replace(/\s*=\s*\{\}/g, '')
    .replace(/\{[^{}]*\}/, 'options')
    .split(',')
    .map((name) => name.trim())
    .filter((name) => name !== '')
    .join(', ')
}

/** The methods of a resource and of its attributes, one a line. */
function methodsOf(name: string, resource: object): string[] {
  const found = new Map<string, string>()
  for (let prototype = resource; prototype !== Object.prototype; prototype = Object.getPrototypeOf(prototype)) {
    for (const [key, { value }] of Object.entries(Object.getOwnPropertyDescriptors(prototype))) {
      if (key === 'constructor' || found.has(key)) continue
      if (typeof value === 'function') found.set(key, `${name}.${key}(${parametersOf(value)})`)
      else if (typeof value === 'object' && value !== null) found.set(key, methodsOf(`${name}.${key}`, value).join('\n'))
    }
  }
  return [...found.keys()].toSorted().map((key) => found.get(key) as string)
}

test('the client has exactly its public methods', () => {
  const callsign = new Callsign({ url: 'http://localhost:8080', apiKey: 'key' })
  const methods = methodsOf('callsign', callsign)
  expect(`${methods.join('\n')}\n`).toBe(readFileSync(join(import.meta.dirname, '../tests/fixtures/public-methods.txt'), 'utf8'))
})
