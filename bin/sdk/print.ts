// Prints the calls of one file of the SDK as TypeScript classes, before formatting.
import { operations } from '../../packages/contract/src/index.ts'
import type { Operation } from '../../packages/contract/src/operation.ts'
import type { Call } from '../calls.ts'
import { optionalBodies, type PrintedFile, parameterNames, renamedReplies, requiredQueries, summaryPages, withoutQuery } from './names.ts'

/** The module of the contract that exports each operation, and the export's name. */
export type Origin = { specifier: string; namespace: string; name: string }
export type Origins = { ofOperation: Map<string, Origin>; ofNamespace: Map<string, string> }

export function printFile(file: PrintedFile, calls: Call[], origins: Origins): string {
  const printer = { file, origins }
  const types = Object.entries(file.types).map(([name, type]) => `export type ${name} = ${typeOf(type, origins)}`)
  const classes = Object.entries(file.classes).map(([resource, name]) => {
    const own = calls.filter((call) => call.resource === resource).toSorted((a, b) => (a.name < b.name ? -1 : 1))
    return name === '' ? own.map((call) => functionSource(printer, call)).join('\n\n') : classSource(printer, name, own)
  })
  const paths = Object.entries(file.paths ?? {}).map(
    ([id, name]) => `/** ${operationOf(id).summary} */\nexport const ${name} = '${withoutVersion(operationOf(id).path)}'`,
  )
  const body = [types.join('\n'), ...paths, ...classes].join('\n\n')
  return `// ${file.about}
// Printed from the contract by npm run docs. Do not edit.
${importsOf(body, origins)}
${body}
`
}

type Schema = { items?: Schema; properties?: Record<string, Schema> } | undefined

const operationOf = (id: string): Operation => {
  const operation = operations.find((candidate) => candidate.id === id)
  if (!operation) throw new Error(`the contract does not have ${id}`)
  return operation
}

const withoutVersion = (path: string): string => path.replace(/^\/api\/v1/, '')

type Printer = { file: PrintedFile; origins: Origins }

/** Imports of each module whose namespace the source names, and of the names that it uses. */
function importsOf(body: string, { ofNamespace }: Origins): string {
  const isUsed = (name: string) => new RegExp(`\\b${name}\\b`).test(body)
  const namespaces = [...ofNamespace].filter(([namespace]) =>
    new RegExp(`(?<![\\w.])${namespace}\\.[\\w]`).test(body.replace(/\/\*\*[\s\S]*?\*\//g, '')),
  )
  const modules: [string, string][] = [
    ...namespaces.map(([namespace, specifier]): [string, string] => [specifier, `* as ${namespace}`]),
    ['@callsign/contract/operation', `{ ${['BodyOf', 'QueryOf', 'ReplyOf'].filter(isUsed).join(', ')} }`],
  ]
  return [
    ...modules.toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([specifier, names]) => `import type ${names} from '${specifier}'`),
    body.includes('path`')
      ? `import { type Connection, path, type RequestOptions } from '../connection/request.ts'`
      : `import type { Connection, RequestOptions } from '../connection/request.ts'`,
    '',
  ].join('\n')
}

const ofOperation = (kind: 'BodyOf' | 'QueryOf' | 'ReplyOf', id: string, { ofOperation }: Origins): string => {
  const origin = ofOperation.get(id)
  if (!origin) throw new Error(`no module of the contract exports ${id}`)
  return `${kind}<typeof ${origin.namespace}.${origin.name}>`
}

/** An operation with the fields and items that lead to a part of its reply. */
const replyPart = /^(\w+)((?:\.\w+|\[\])*)$/
const stepsOf = (path: string): string[] => path.match(/\w+|\[\]/g) ?? []

/** The type of a name table's entry: a part of an operation's reply, or an expression. */
function typeOf(type: string, origins: Origins): string {
  const [, id, path] = replyPart.exec(type) ?? []
  if (id === undefined) return type
  return (
    ofOperation('ReplyOf', id, origins) +
    stepsOf(path ?? '')
      .map((step) => (step === '[]' ? '[number]' : `['${step}']`))
      .join('')
  )
}

/** The schema of a name table's entry; undefined for an expression. */
function schemaOf(type: string): unknown {
  const [, id, path] = replyPart.exec(type) ?? []
  if (id === undefined) return undefined
  const part = (schema: Schema, step: string) => (step === '[]' ? schema?.items : schema?.properties?.[step])
  return stepsOf(path ?? '').reduce(part, operationOf(id).reply as Schema)
}

const classSource = (printer: Printer, name: string, calls: Call[]): string => `export class ${name} {
  readonly #connection: Connection
  constructor(connection: Connection) {
    this.#connection = connection
  }

${calls.map((call) => methodSource(printer, call)).join('\n\n')}
}`

function methodSource(printer: Printer, call: Call): string {
  const { operation, name, media, isUnwrapped } = call
  const renamed = renamedReplies[operation.id]
  const reply = replyOf(printer, call)
  const signature = `${name}(${parametersOf(call, printer.origins).join(', ')}): Promise<${reply}>`
  const summary = summaryPages[operation.id]
  const overloads = summary === undefined ? [] : [`${summarySignature(signature, summary)}`, signature]
  const request = requestOf(call)
  const whole = `${ofOperation('ReplyOf', operation.id, printer.origins)}`
  const lines = renamed
    ? [
        `const { ${Object.entries(renamed.fields)
          .map(([from, to]) => (from === to ? from : `${from}: ${to}`))
          .join(', ')} } = await this.#connection.request<${whole}>(${request})`,
        `return { ${Object.values(renamed.fields).join(', ')} }`,
      ]
    : isUnwrapped
      ? [`return (await this.#connection.request<${whole}>(${request})).data`]
      : media === 'text'
        ? [`return new TextDecoder().decode(await this.#connection.requestBytes(${request}))`]
        : [`return this.#connection.${media ? 'requestBytes' : 'request'}(${request})`]
  const isAsync = lines.some((line) => line.includes('await '))
  return `${comment(call.about)}
${overloads.map((overload) => `  ${overload}\n`).join('')}  ${isAsync ? 'async ' : ''}${signature} {
    ${lines.join('\n    ')}
  }`
}

const summarySignature = (signature: string, type: string): string =>
  signature.replace(/query\?: (QueryOf<[^>]+>)/, "query: $1 & { view: 'summary' }").replace(/Promise<.*>$/, `Promise<${type}>`)

const functionSource = (printer: Printer, call: Call): string =>
  `${comment(call.about).replace(/^ {2}/gm, '')}
export const ${call.operation.id} = (connection: Connection, ${parametersOf(call, printer.origins).join(', ')}): Promise<${replyOf(printer, call)}> =>
  connection.request(${requestOf(call)})`

/** The first type of the file that names this reply, or the reply of the operation. */
function replyOf({ file, origins }: Printer, { operation, media, isUnwrapped }: Call): string {
  const renamed = renamedReplies[operation.id]
  if (renamed) return renamed.type
  if (media) return media === 'text' ? 'string' : 'Uint8Array<ArrayBuffer>'
  if (!operation.reply) return 'void'
  const schema = isUnwrapped ? (operation.reply as Schema)?.properties?.data : operation.reply
  const named = Object.entries(file.types).find(([, type]) => schemaOf(type) === schema)
  if (named) return named[0]
  const whole = ofOperation('ReplyOf', operation.id, origins)
  return isUnwrapped ? `${whole}['data']` : whole
}

const hasQuery = ({ id, query }: Operation): boolean => query !== undefined && !withoutQuery.includes(id)

function parametersOf({ operation }: Call, origins: Origins): string[] {
  const name = (key: 'query' | 'body') => parameterNames[operation.id]?.[key] ?? key
  const isOptional = operation.bodyOptional || optionalBodies.includes(operation.id)
  const { required = [] } = (operation.query ?? {}) as { required?: string[] }
  const isQueryRequired = required.length > 0 || requiredQueries.includes(operation.id)
  return [
    ...pathNames(operation.id, operation.path).map(([, parameter]) => `${parameter}: string`),
    ...(operation.body ? [`${name('body')}: ${ofOperation('BodyOf', operation.id, origins)}${isOptional ? ' = {}' : ''}`] : []),
    ...(hasQuery(operation) ? [`${name('query')}${isQueryRequired ? '' : '?'}: ${ofOperation('QueryOf', operation.id, origins)}`] : []),
    'options?: RequestOptions',
  ]
}

/** Parameters of a path with their names in TypeScript: the mailbox, the first id as `id`, and the others in camel case. */
function pathNames(id: string, path: string): [string, string][] {
  let hasId = false
  return [...path.matchAll(/\{(\w+)\}/g)].map(([, parameter = '']) => {
    const isId = /(^|_)id$/.test(parameter) && !hasId
    const chosen = parameterNames[id]?.[parameter]
    if (isId) hasId = true
    const usual = isId ? 'id' : parameter === 'email_address' && path.includes('/mailboxes/') ? 'mailbox' : camel(parameter)
    return [parameter, chosen ?? usual]
  })
}

export const camel = (name: string): string => name.replace(/[_-](\w)/g, (_, letter: string) => letter.toUpperCase())

function requestOf({ operation }: Call): string {
  const names = new Map(pathNames(operation.id, operation.path))
  const path = withoutVersion(operation.path).replace(/\{(\w+)\}/g, (_, parameter: string) => `\${${names.get(parameter)}}`)
  const input = (key: 'query' | 'body') => {
    const name = parameterNames[operation.id]?.[key] ?? key
    return (key === 'query' ? hasQuery(operation) : operation.body) ? [name === key ? key : `${key}: ${name}`] : []
  }
  return `{ ${[
    `method: '${operation.method}'`,
    `path: ${path.includes('$') ? `path\`${path}\`` : `'${path}'`}`,
    ...input('query'),
    ...input('body'),
    ...(operation.idempotent ? ['isKeyed: true'] : []),
    'options',
  ].join(', ')} }`
}

/** A doc comment of lines of at most 140 characters. */
function comment(text: string): string {
  const whole = `  /** ${text} */`
  if (whole.length <= 140) return whole
  const lines = ['  /**']
  for (const word of text.split(/\s+/)) {
    const line = lines.at(-1) as string
    if (lines.length === 1 || line.length + word.length + 1 > 140) lines.push(`   * ${word}`)
    else lines[lines.length - 1] = `${line} ${word}`
  }
  return [...lines, '   */'].join('\n')
}
