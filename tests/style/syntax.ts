// Splits a TypeScript file into comments, strings and names with the parser that Vitest brings.
import { parseAst } from 'vitest/node'
import { isTestCode, type Source } from './sources.ts'

/** `at` is an offset into the file. A string has `⦙` where an expression is inserted. */
export type Fragment = { at: number; text: string }
export type Syntax = { comments: Fragment[]; strings: Fragment[]; names: Fragment[]; functions: FunctionShape[] }
/** `lines` counts the body with its braces. */
export type FunctionShape = { name: string; at: number; lines: number; parameters: number }

type Node = { type: string; start: number; end: number; [key: string]: unknown }

export const insertion = '⦙'

const isNode = (value: unknown): value is Node => typeof value === 'object' && value !== null && typeof (value as Node).type === 'string'

function childrenOf(node: Node): Node[] {
  const found: Node[] = []
  for (const key in node) {
    const value = node[key]
    if (typeof value !== 'object' || value === null) continue
    if (Array.isArray(value)) {
      for (const item of value) if (isNode(item)) found.push(item)
    } else if (isNode(value)) found.push(value)
  }
  return found
}

const known = new WeakMap<Source, Syntax>()

/** Parses a file once. */
export function readSyntax(source: Source): Syntax {
  const syntax = known.get(source) ?? parse(source)
  known.set(source, syntax)
  return syntax
}

function parse(source: Source): Syntax {
  const found: Syntax = { comments: [], strings: [], names: [], functions: [] }
  const program = parseAst(source.text, { lang: source.language as 'ts' | 'tsx' }, source.path) as unknown as Node
  const literals: [number, number][] = []
  const onlyMessages = isTestCode(source.path)

  // `isMessage` is false for the sample data of tests; `owner` names an arrow function by its variable or property.
  const visit = (node: Node, isMessage: boolean, owner: string): void => {
    let isProse = isMessage
    if (node.type === 'Literal' && (typeof node.value === 'string' || node.regex)) {
      literals.push([node.start, node.end])
      if (isMessage && typeof node.value === 'string') found.strings.push({ at: node.start, text: node.value.replace(/(?<!\r)\n/g, ' ') })
    } else if (node.type === 'JSXText') {
      literals.push([node.start, node.end])
      found.strings.push({ at: node.start, text: source.text.slice(node.start, node.end) })
    } else if (node.type === 'TemplateElement') {
      literals.push([node.start, node.end])
    } else if (node.type === 'TemplateLiteral') {
      if (isMessage) found.strings.push({ at: node.start + 1, text: templateText(node) })
    } else if (node.type === 'Identifier' || node.type === 'PrivateIdentifier') {
      found.names.push({ at: node.start, text: node.name as string })
    } else if (node.type === 'ImportDeclaration' || node.type === 'ExportAllDeclaration' || node.type === 'ImportExpression') {
      isProse = false
    }
    const shape = functionShape(node, owner, source.text)
    if (shape) found.functions.push(shape)
    if (onlyMessages && isMessageCall(node)) {
      // A failure message comes second in expect(value, message), first everywhere else.
      const messageAt = callee(node) === 'expect' ? 1 : 0
      visit(node.callee as Node, false, owner)
      const parts = node.arguments as Node[]
      parts.forEach((part, index) => {
        visit(part, index === messageAt, nameOf(parts[0]) || owner)
      })
      return
    }
    const name = nameOf(node.id) || nameOf(node.key) || (node.type === 'CallExpression' ? owner : '')
    for (const child of childrenOf(node)) {
      const isFunction = /Function/.test(child.type)
      visit(child, isProse && !(onlyMessages && isFunction), name || (isFunction ? owner : ''))
    }
  }
  visit(program, !onlyMessages, '')
  found.comments = readComments(source.text, literals)
  return found
}

const nameOf = (node: unknown): string => {
  if (!isNode(node)) return ''
  if (node.type === 'Identifier' || node.type === 'PrivateIdentifier') return node.name as string
  return node.type === 'Literal' && typeof node.value === 'string' ? node.value : ''
}

/** The first name of a call: `test` for `test.each(rows)('…', …)`. */
function callee(call: Node): string {
  let node: unknown = call.callee
  while (isNode(node) && node.type !== 'Identifier') node = node.object ?? node.callee ?? node.tag
  return nameOf(node)
}

/** The rows of `test.each(rows)` are data. The call of its result has the name. */
const isMessageCall = (node: Node): boolean =>
  (node.type === 'CallExpression' &&
    /^(test|it|describe|expect|console)$/.test(callee(node)) &&
    nameOf((node.callee as Node).property) !== 'each') ||
  (node.type === 'NewExpression' && /Error$/.test(callee(node)))

const templateText = (node: Node): string =>
  (node.quasis as { value: { raw: string } }[]).map((part) => part.value.raw.replace(/\\[nt]/g, ' ')).join(insertion)

function functionShape(node: Node, owner: string, text: string): FunctionShape | null {
  if (!/^(FunctionDeclaration|FunctionExpression|ArrowFunctionExpression)$/.test(node.type) || !isNode(node.body)) return null
  const { body } = node
  const lines = text.slice(body.start, body.end).split('\n').length
  return { name: nameOf(node.id) || owner || '(anonymous)', at: node.start, lines, parameters: (node.params as Node[]).length }
}

/** Everything outside of literals that starts like a comment is one. */
function readComments(text: string, literals: [number, number][]): Fragment[] {
  let code = ''
  let from = 0
  for (const [start, end] of literals.toSorted((a, b) => a[0] - b[0])) {
    if (start < from) continue
    code += text.slice(from, start) + text.slice(start, end).replace(/[^\n]/g, '_')
    from = end
  }
  code += text.slice(from)
  return [...code.matchAll(/\/\/[^\n]*|\/\*[\s\S]*?\*\//g)].map((match) => ({
    at: match.index,
    text: text.slice(match.index, match.index + match[0].length),
  }))
}
