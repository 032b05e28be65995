// Sizes of files and functions, and import cycles. The recorded offenders may only shrink.
import { basename } from 'node:path'
import { expect, test } from 'vitest'
import { expectNone, product, type Source, targetOf } from './architecture/product.ts'
import { lineFinder } from './style/passages.ts'
import { readSyntax } from './style/syntax.ts'

const linesMax = 300
const functionLinesMax = 60
const parametersMax = 6

/** Compares offences with the recorded ones, which may only shrink. A number is a size. Fixed offences must be removed from the list. */
function expectNoMoreThan(rule: string, remedy: string, found: Record<string, number>, recorded: Record<string, number>): void {
  const grown = Object.entries(found).filter(([name, size]) => size > (recorded[name] ?? 0))
  expectNone(
    rule,
    remedy,
    grown.map(([name, size]) => `${name}: ${size}${name in recorded ? `, ${recorded[name]} recorded` : ''}`),
  )
  const fixed = Object.keys(recorded).filter((name) => !(name in found))
  expectNone(`${rule} These are kept now.`, 'take them off the recorded list in tests/sizes.test.ts', fixed)
}

/** Folder and file: enough to know a file by, also after its folder has moved. */
const shortPath = (path: string): string => path.split('/').slice(-2).join('/')

const longFiles: Record<string, number> = {}

test(`files have at most ${linesMax} lines`, () => {
  const found = Object.fromEntries(
    product
      .map((source): [string, number] => [shortPath(source.path), source.raw.replace(/\n$/, '').split('\n').length])
      .filter(([, lines]) => lines > linesMax),
  )
  expectNoMoreThan(`Files have at most ${linesMax} lines, comments included.`, 'move one concept to a file of its own', found, longFiles)
})

const functions = product.flatMap((source) => {
  const lineAt = lineFinder(source.raw)
  const language = source.path.endsWith('.tsx') ? 'tsx' : 'ts'
  return readSyntax({ path: source.path, text: source.raw, language }).functions.map((shape) => ({
    ...shape,
    key: `${shortPath(source.path)} ${shape.name === '(anonymous)' ? `line ${lineAt(shape.at)}` : shape.name}`,
  }))
})

/** Functions of the product with the size that `measure` gives them, when it is above `max`. */
function functionsAbove(max: number, measure: (shape: (typeof functions)[number]) => number): Record<string, number> {
  const found: Record<string, number> = {}
  for (const shape of functions) {
    const size = measure(shape)
    if (size > max) found[shape.key] = Math.max(size, found[shape.key] ?? 0)
  }
  return found
}

const longFunctions: Record<string, number> = {
  'server/data-reader.ts feed': 95,
}

test(`function bodies have at most ${functionLinesMax} lines, but for factories`, () => {
  const found = functionsAbove(functionLinesMax, ({ name, lines }) => (/^create[A-Z]/.test(name) ? 0 : lines))
  expectNoMoreThan(
    `A function body has at most ${functionLinesMax} lines, unless the function is a factory (createX).`,
    'move a step to a function that is named after it',
    found,
    longFunctions,
  )
})

const manyParameters: Record<string, number> = {}

test(`functions take at most ${parametersMax} parameters`, () => {
  expectNoMoreThan(
    `A function takes at most ${parametersMax} parameters.`,
    'take one object with named members',
    functionsAbove(parametersMax, ({ parameters }) => parameters),
    manyParameters,
  )
})

/** The file of an import by package name, such as `@callsign/mail/dns`. Other targets are returned unchanged. */
const fileOf = (target: string): string => {
  const [, pack, name = 'index'] = /^@callsign\/(\w+)(?:\/(.*))?$/.exec(target) ?? []
  return pack ? `${pack}/src/${name}.ts` : target
}

/** Groups of files that reach each other by imports, types included (Tarjan's strongly connected components). */
function importCycles(files: Pick<Source, 'path' | 'imports'>[]): string[][] {
  const imports = new Map(files.map((file) => [file.path, file.imports.map((specifier) => fileOf(targetOf(file as Source, specifier)))]))
  const order = new Map<string, number>()
  const lowest = new Map<string, number>()
  const path: string[] = []
  const cycles: string[][] = []
  const visit = (file: string): void => {
    order.set(file, order.size)
    lowest.set(file, order.get(file) as number)
    path.push(file)
    for (const target of imports.get(file) ?? []) {
      if (!imports.has(target)) continue
      if (!order.has(target)) visit(target)
      if (path.includes(target)) lowest.set(file, Math.min(lowest.get(file) as number, lowest.get(target) as number))
    }
    if (lowest.get(file) !== order.get(file)) return
    const group = path.splice(path.indexOf(file))
    if (group.length > 1 || imports.get(file)?.includes(file)) cycles.push(group.toSorted())
  }
  for (const file of imports.keys()) if (!order.has(file)) visit(file)
  return cycles
}

// The linter's rule ignores cycles of types only.
const recordedCycles: Record<string, number> = {}

test('no import cycles, types included', () => {
  const found = Object.fromEntries(
    importCycles(product).map((cycle) => [
      `${cycle[0]?.split('/')[0]}: ${cycle
        .map((path) => basename(path))
        .toSorted()
        .join(', ')}`,
      cycle.length,
    ]),
  )
  expectNoMoreThan(
    'Imports, of types too, form no cycle.',
    'move the types that both sides need to a file of their own',
    found,
    recordedCycles,
  )
})

test('the cycle search finds cycles of two and of three files, and none in a tree', () => {
  const file = (path: string, ...imports: string[]) => ({ path, imports })
  expect(importCycles([file('a.ts', './b.ts', './c.ts'), file('b.ts', './c.ts'), file('c.ts')])).toEqual([])
  expect(importCycles([file('a.ts', './b.ts'), file('b.ts', './c.ts'), file('c.ts', './b.ts')])).toEqual([['b.ts', 'c.ts']])
  expect(importCycles([file('mail/src/a.ts', '@callsign/mail/b'), file('mail/src/b.ts', './a.ts')])).toHaveLength(1)
  expect(importCycles([file('a.ts', './b.ts'), file('b.ts', './c.ts', './d.ts'), file('c.ts', './a.ts'), file('d.ts')])).toEqual([
    ['a.ts', 'b.ts', 'c.ts'],
  ])
})

test('the size rules bite: a recorded size may not grow, and a fixed one goes off the list', () => {
  expect(() => expectNoMoreThan('rule.', 'do it', { a: 61 }, {})).toThrow('rule.\nremedy: do it\n  a: 61')
  expect(() => expectNoMoreThan('rule.', 'do it', { a: 71 }, { a: 70 })).toThrow('a: 71, 70 recorded')
  expect(() => expectNoMoreThan('rule.', 'do it', {}, { a: 70 })).toThrow('take them off')
  expect(() => expectNoMoreThan('rule.', 'do it', { a: 70 }, { a: 70 })).not.toThrow()
})
