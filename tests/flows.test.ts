// docs/flows.md lists the files of each flow in call order: every file exists and is imported by its caller, or handed to it.
import { existsSync, globSync, readFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { expect, test } from 'vitest'
import { parseAst } from 'vitest/node'

const root = resolve(import.meta.dirname, '..')
const stepsMax = 15

type Node = { type: string; [key: string]: unknown }
type Step = { number: number; path: string; caller: number }
type Flow = { name: string; steps: Step[] }
/** `imported` is the name in the target file, or '*'. */
type Import = { path: string; local: string; imported: string; isType: boolean }
type Module = { program: Node; imports: Import[]; reexports: { path: string; name: string }[]; classes: Set<string> }

const isNode = (value: unknown): value is Node => typeof (value as Node | null)?.type === 'string'
const childrenOf = (node: Node): Node[] => Object.values(node).flat().filter(isNode)
const nameOf = (node: unknown): string => (isNode(node) ? ((node.name ?? node.value ?? '') as string) : '')

/** The numbered steps of each section. Throws when a step does not name exactly one file. */
function readFlows(text: string): Flow[] {
  return text
    .split(/^## /m)
    .slice(1)
    .map((section) => ({
      name: section.slice(0, section.indexOf('\n')),
      steps: [...section.matchAll(/^(\d+)\. (.+)$/gm)].map(([, digits, sentence = '']) => {
        const [path, ...others] = [...sentence.matchAll(/`([\w/.-]+\.ts)`/g)].map((match) => match[1] as string)
        if (path === undefined || others.length > 0) throw new Error(`step ${digits} does not name one file: ${sentence}`)
        const number = Number(digits)
        const caller = /^From step (\d+),/.exec(sentence)?.[1]
        return { number, path: path.startsWith('packages/') ? path : `packages/server/src/${path}`, caller: Number(caller ?? number - 1) }
      }),
    }))
}

const contractExports: Record<string, string> = JSON.parse(readFileSync(join(root, 'packages/contract/package.json'), 'utf8')).exports

/** The file that an import leads to; undefined for packages that are not ours. */
function targetOf(path: string, specifier: string): string | undefined {
  if (specifier.startsWith('.')) return join(dirname(path), specifier)
  const [, pack, subpath] = /^@callsign\/(\w+)\/(.+)$/.exec(specifier) ?? []
  if (pack === undefined) return
  const exported = pack === 'contract' ? contractExports[`./${subpath}`] : undefined
  return join('packages', pack, exported ?? `src/${subpath}.ts`)
}

const modules = new Map<string, Module>()

function readModule(path: string): Module {
  const known = modules.get(path)
  if (known) return known
  const program = parseAst(readFileSync(join(root, path), 'utf8'), { lang: 'ts' }, path) as unknown as Node
  const module: Module = { program, imports: [], reexports: [], classes: new Set() }
  modules.set(path, module)
  for (const node of program.body as Node[]) {
    const target = isNode(node.source) ? targetOf(path, nameOf(node.source)) : undefined
    const specifiers = (node.specifiers ?? []) as Node[]
    if (node.type === 'ImportDeclaration' && target !== undefined)
      for (const one of specifiers)
        module.imports.push({
          path: target,
          local: nameOf(one.local),
          imported: isNode(one.imported) ? nameOf(one.imported) : '*',
          isType: node.importKind === 'type' || one.importKind === 'type',
        })
    if (node.type === 'ExportNamedDeclaration' && target !== undefined)
      for (const one of specifiers) module.reexports.push({ path: target, name: nameOf(one.exported) })
    if (node.type === 'ExportNamedDeclaration' && isNode(node.declaration) && node.declaration.type === 'ClassDeclaration')
      module.classes.add(nameOf(node.declaration.id))
    // `export { createX }` of an imported name.
    if (node.type === 'ExportNamedDeclaration' && target === undefined)
      for (const one of specifiers) {
        const source = module.imports.find(({ local }) => local === nameOf(one.local))
        if (source) module.reexports.push({ path: source.path, name: nameOf(one.exported) })
      }
  }
  return module
}

/** The file that really has an exported name. */
function originOf({ path, imported }: Pick<Import, 'path' | 'imported'>): string {
  return (existsSync(join(root, path)) && readModule(path).reexports.find(({ name }) => name === imported)?.path) || path
}

/** True when a file imports a value of the other, or a class whose objects it is passed. */
const imports = (caller: string, callee: string): boolean =>
  readModule(caller).imports.some((one) => originOf(one) === callee && (!one.isType || readModule(callee).classes.has(one.imported)))

/** The files that build the objects of the server and of the client, and hand them to each other. */
const builders = [
  ...globSync('packages/server/src/wiring/**/*.ts', { cwd: root }),
  'packages/server/src/app.ts',
  'packages/sdk/src/callsign.ts',
]

type Located = { node: Node; path: string }

/** Which file's function each call makes its value with, and the definitions of every name in the builders. */
class Wiring {
  readonly #definitions = new Map<string, Located[]>()
  readonly #origins = new Map<string, string>()
  readonly #calls: Located[] = []
  readonly #builders = new Set<string>()
  #handed: { makers: Set<string>; given: Set<string> }[] | undefined

  constructor(paths: readonly string[]) {
    for (const path of paths) {
      const { program, imports } = readModule(path)
      for (const one of imports) if (!one.isType && !paths.includes(one.path)) this.#origins.set(`${path} ${one.local}`, originOf(one))
      this.#collect(program, path)
    }
  }

  /** True when a value created by `callee` is an argument of a call that creates `caller`, or of a method of a value created by it. */
  isHanded(caller: string, callee: string): boolean {
    this.#handed ??= this.#calls.map(({ node, path }) => ({
      makers: this.#isBuilder(node.callee) ? new Set<string>() : this.#makersOf(node.callee, path),
      given: new Set((node.arguments as Node[]).flatMap((argument) => [...this.#makersOf(argument, path)])),
    }))
    return this.#handed.some(({ makers, given }) => makers.size === 1 && makers.has(caller) && given.has(callee))
  }

  /** A function of the builders gives its arguments to none of the values that it returns, except by the calls in it. */
  readonly #isBuilder = (callee: unknown): boolean => isNode(callee) && callee.type === 'Identifier' && this.#builders.has(nameOf(callee))

  #collect(node: Node, path: string): void {
    const define = (name: string, value: unknown) => {
      if (name !== '' && isNode(value)) this.#definitions.set(name, [...(this.#definitions.get(name) ?? []), { node: value, path }])
    }
    if (node.type === 'CallExpression' || node.type === 'NewExpression') this.#calls.push({ node, path })
    else if (node.type === 'VariableDeclarator') {
      const id = node.id as Node
      if (id.type !== 'ObjectPattern') define(nameOf(id), node.init)
      else
        for (const property of id.properties as Node[])
          define(nameOf(property.value), { type: 'MemberExpression', object: node.init, property: property.key })
    } else if (node.type === 'AssignmentExpression') define(nameOf(node.left), node.right)
    else if (node.type === 'Property' && !node.shorthand) define(nameOf(node.key), node.value)
    else if (node.type === 'FunctionDeclaration') {
      this.#builders.add(nameOf(node.id))
      for (const value of returnsOf(node.body as Node)) define(nameOf(node.id), value)
    }
    // The keys of a pattern are no definitions.
    const children = node.type === 'ObjectPattern' ? [] : childrenOf(node)
    for (const child of children) this.#collect(child, path)
  }

  /**
   * The files whose functions made the value of an expression. Arguments of a call are not part of its value, and neither is the object of a
   * method, except in a function that is handed on to call it later.
   */
  #makersOf(value: unknown, path: string, seen = new Set<string>(), isLater = false): Set<string> {
    if (!isNode(value)) return new Set()
    if (value.type === 'CallExpression' || value.type === 'NewExpression') {
      const isMethod = isNode(value.callee) && value.callee.type === 'MemberExpression'
      return isMethod && !isLater ? new Set() : this.#makersOf(value.callee, path, seen, isLater)
    }
    if (value.type === 'MemberExpression') {
      const found = this.#makersOfName(nameOf(value.property), null, seen)
      // A parameter has no definition here: only its property is looked up.
      const isParameter = isNode(value.object) && value.object.type === 'Identifier' && this.#own(nameOf(value.object), path).length === 0
      return found.size > 0 || isParameter ? found : this.#makersOf(value.object, path, seen, isLater)
    }
    if (value.type === 'Property') return this.#makersOf(value.value, path, seen, isLater)
    if (value.type === 'Identifier') return this.#makersOfName(nameOf(value), path, seen)
    const isFunction = value.type === 'ArrowFunctionExpression' || value.type === 'FunctionExpression'
    return new Set(childrenOf(value).flatMap((child) => [...this.#makersOf(child, path, seen, isLater || isFunction)]))
  }

  readonly #own = (name: string, path: string): Located[] => (this.#definitions.get(name) ?? []).filter((one) => one.path === path)

  /** By the definitions of its own file; without one the name is a parameter or property, which other files give under the same name. */
  #makersOfName(name: string, path: string | null, seen: Set<string>): Set<string> {
    const origin = path === null ? undefined : this.#origins.get(`${path} ${name}`)
    if (origin !== undefined) return new Set([origin])
    const own = path === null ? [] : this.#own(name, path)
    const key = own.length > 0 ? `${path} ${name}` : name
    if (seen.has(key)) return new Set()
    seen.add(key)
    const definitions = own.length > 0 ? own : (this.#definitions.get(name) ?? [])
    return new Set(definitions.flatMap((one) => [...this.#makersOf(one.node, one.path, seen)]))
  }
}

/** The values that a function returns. */
function returnsOf(node: Node): Node[] {
  if (node.type === 'ReturnStatement') return isNode(node.argument) ? [node.argument] : []
  if (/Function/.test(node.type)) return []
  return childrenOf(node).flatMap(returnsOf)
}

const wiring = new Wiring(builders)
const packageOf = (path: string): string => path.split('/')[1] as string

/** The SDK and the server are the two ends of a connection where they share an operation or a protocol of the contract. */
function areConnected(caller: string, callee: string): boolean {
  if ([packageOf(caller), packageOf(callee)].toSorted().join() !== 'sdk,server') return false
  const contractOf = (path: string) => readModule(path).imports.flatMap((one) => (packageOf(one.path) === 'contract' ? [one.path] : []))
  const shared = new Set(contractOf(caller).filter((path) => !/\/(ids|operation|schema)\.ts$/.test(path)))
  return contractOf(callee).some((path) => shared.has(path))
}

/** The reason why a step cannot follow its caller, or null. A caller may use values passed to its own callers. */
function findProblem({ steps }: Flow, step: Step): string | null {
  if (!existsSync(join(root, step.path))) return 'no such file'
  if (step.number === 1) return null
  if (step.caller < 1 || step.caller >= step.number) return `step ${step.caller} does not come before it`
  const caller = steps[step.caller - 1] as Step
  if (!existsSync(join(root, caller.path))) return `step ${caller.number} is no file`
  if (imports(caller.path, step.path) || areConnected(caller.path, step.path)) return null
  for (let at: Step | undefined = caller; at; at = at.number === 1 ? undefined : steps[at.caller - 1])
    if (wiring.isHanded(at.path, step.path)) return null
  return `${caller.path} neither imports it nor is handed it`
}

const problemsOf = (flow: Flow): string[] =>
  flow.steps.flatMap((step) => {
    const problem = findProblem(flow, step)
    return problem === null ? [] : [`${flow.name}, step ${step.number}, ${step.path}: ${problem}`]
  })

const page = readFileSync(join(root, 'docs/flows.md'), 'utf8')

test('five flows, each of at most fifteen numbered steps', () => {
  const flows = readFlows(page)
  expect(flows.map(({ name }) => name)).toEqual(['Mail in', 'Mail out', 'Webhook', 'Tunnel request', 'Vault unlock'])
  for (const { name, steps } of flows) {
    expect(
      steps.map(({ number }) => number),
      name,
    ).toEqual(steps.map((_, index) => index + 1))
    expect(steps.length, name).toBeGreaterThan(5)
    expect(steps.length, name).toBeLessThanOrEqual(stepsMax)
  }
})

test('each file exists and follows its caller (remedy: name the file that is called next, or the step that calls it)', () => {
  expect(readFlows(page).flatMap(problemsOf)).toEqual([])
})

test.each([
  ['a file that is gone', 'smtp/server/data-reader.ts', 'smtp/server/data-scanner.ts', 'no such file'],
  [
    'a file of another flow',
    'edges/smtp/server/dialog.ts',
    'edges/gateway/requests/proxied-request.ts',
    'neither imports it nor is handed it',
  ],
  ['an operation that the caller is not handed', 'account/identities/operations.ts', 'vault/operations.ts', 'neither imports it'],
  ['a caller that comes later', 'From step 2, take', 'From step 9, take', 'step 9 does not come before it'],
  ['a caller that does not call it', 'From step 10, parse', 'From step 11, parse', 'sender-checks.ts neither imports it'],
  ['two steps in the wrong order', 'From step 6, choose the thread', 'Choose the thread', 'inbound/judging.ts neither imports it'],
])('a planted mistake fails: %s', (_, right, wrong, problem) => {
  expect(page).toContain(right)
  const problems = readFlows(page.replace(right, wrong)).flatMap(problemsOf)
  expect(problems.join('\n')).toContain(problem)
  expect(problems.every((one) => one.startsWith('Mail in'))).toBe(true)
})

test('a step that names no file or two files cannot be read', () => {
  expect(() => readFlows('## A\n\n1. Accept the connection.\n')).toThrow('step 1 does not name one file')
  expect(() => readFlows('## A\n\n1. Read `core/a.ts` and `core/b.ts`.\n')).toThrow('step 1 does not name one file')
})
