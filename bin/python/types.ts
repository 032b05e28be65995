// Python types of the schemas in the OpenAPI document: TypedDicts, literals and unions.
import type { JsonSchema } from '../../packages/contract/src/openapi-types.ts'

/** Words that cannot be a name in Python. A trailing underscore makes them one. */
const keywords = new Set([
  'False',
  'None',
  'True',
  'and',
  'as',
  'assert',
  'async',
  'await',
  'break',
  'class',
  'continue',
  'def',
  'del',
  'elif',
  'else',
  'except',
  'finally',
  'for',
  'from',
  'global',
  'if',
  'import',
  'in',
  'is',
  'lambda',
  'nonlocal',
  'not',
  'or',
  'pass',
  'raise',
  'return',
  'try',
  'while',
  'with',
  'yield',
])

/** A property as the name of a parameter: `from` becomes `from_`. */
export const parameterName = (name: string): string => {
  const plain = name.replace(/\W/g, '_')
  return keywords.has(plain) ? `${plain}_` : plain
}

/** `listMailRules` becomes `list_mail_rules`. */
export const snake = (name: string): string => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)

export const pascal = (name: string): string =>
  name
    .split(/[^A-Za-z0-9]+/)
    .map((word) => word.slice(0, 1).toUpperCase() + word.slice(1))
    .join('')

export type Models = {
  /** Adds a schema of the document's components under its own name. */
  add(name: string, schema: JsonSchema): void
  /** The Python type of a schema. Objects within it become models named after `place`. */
  typeOf(schema: JsonSchema, place: string): string
  names(): string[]
  /** The source of every model, in the order of their names. */
  sources(): string[]
}

const simple: Record<string, string> = { string: 'str', integer: 'int', number: 'float', boolean: 'bool', null: 'None' }

export function createModels(): Models {
  const found = new Map<string, string>()

  function typeOf(schema: JsonSchema, place: string): string {
    if (typeof schema.$ref === 'string') return pascal(schema.$ref.split('/').at(-1) as string)
    if (Array.isArray(schema.enum)) return literalOf(schema.enum)
    if ('const' in schema) return literalOf([schema.const])
    const choices = (schema.anyOf ?? schema.oneOf) as JsonSchema[] | undefined
    if (choices) return unionOf(choices.map((choice, index) => typeOf(choice, index === 0 ? place : `${place}${index + 1}`)))
    if (Array.isArray(schema.allOf)) return typeOf((schema.allOf as JsonSchema[])[0] ?? {}, place)
    if (Array.isArray(schema.type)) return unionOf(schema.type.map((type) => typeOf({ ...schema, type }, place)))
    if (schema.type === 'array') return `List[${typeOf((schema.items ?? {}) as JsonSchema, `${place}Item`)}]`
    if (schema.type === 'object') return objectOf(schema, place)
    return simple[String(schema.type)] ?? 'Any'
  }

  function objectOf(schema: JsonSchema, place: string): string {
    const properties = Object.entries((schema.properties ?? {}) as Record<string, JsonSchema>)
    const others = schema.additionalProperties
    if (properties.length === 0)
      return `Dict[str, ${typeof others === 'object' && others ? typeOf(others as JsonSchema, `${place}Value`) : 'Any'}]`
    const required = new Set((schema.required ?? []) as string[])
    const fields = properties.map(([name, property]) => {
      const type = typeOf(property, `${place}${pascal(name)}`)
      return { name, type: required.has(name) ? type : `NotRequired[${type}]`, about: property.description }
    })
    const source = fields.every(({ name }) => parameterName(name) === name) ? classSource(place, schema, fields) : callSource(place, fields)
    const known = found.get(place)
    if (known !== undefined && known !== source) throw new Error(`two models have the name ${place}`)
    found.set(place, source)
    return place
  }

  function add(name: string, schema: JsonSchema): void {
    const type = typeOf(schema, pascal(name))
    if (type !== pascal(name)) found.set(pascal(name), `${pascal(name)}: TypeAlias = ${JSON.stringify(type)}`)
  }

  return {
    typeOf,
    add,
    names: () => [...found.keys()].toSorted(),
    sources: () => [...found].toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([, source]) => source),
  }
}

type Field = { name: string; type: string; about: unknown }

function classSource(name: string, schema: JsonSchema, fields: Field[]): string {
  const about = typeof schema.description === 'string' ? [`    ${docstring(schema.description, 4)}`, ''] : []
  const lines = fields.flatMap(({ name: field, type, about: sentence }) => [
    `    ${field}: ${type}`,
    ...(typeof sentence === 'string' ? [`    ${docstring(sentence, 4)}`] : []),
  ])
  return [`class ${name}(TypedDict):`, ...about, ...lines].join('\n')
}

/** A field named like a keyword needs the form of a call. */
const callSource = (name: string, fields: Field[]): string =>
  [
    `${name} = TypedDict(`,
    `    "${name}",`,
    '    {',
    ...fields.map(({ name: field, type }) => `        "${field}": ${JSON.stringify(type)},`),
    '    },',
    ')',
  ].join('\n')

const literalOf = (values: unknown[]): string => `Literal[${values.map(pythonLiteral).join(', ')}]`

const unionOf = (types: string[]): string => {
  const parts = [...new Set(types)]
  const others = parts.filter((type) => type !== 'None')
  return [...others, ...(parts.includes('None') ? ['None'] : [])].join(' | ')
}

/** A JSON value as Python source. */
export function pythonLiteral(value: unknown): string {
  if (value === null || value === undefined) return 'None'
  if (typeof value === 'boolean') return value ? 'True' : 'False'
  if (Array.isArray(value)) return `[${value.map(pythonLiteral).join(', ')}]`
  if (typeof value === 'object')
    return `{${Object.entries(value)
      .map(([name, item]) => `${JSON.stringify(name)}: ${pythonLiteral(item)}`)
      .join(', ')}}`
  return JSON.stringify(value)
}

/** A docstring, wrapped at 100 characters. */
export function docstring(text: string, indent: number): string {
  const space = ' '.repeat(indent)
  const lines: string[] = []
  for (const paragraph of text.replaceAll('\\', '\\\\').replaceAll('"""', "'''").split('\n')) {
    let line = ''
    for (const word of paragraph.split(' ')) {
      if (line !== '' && line.length + word.length + indent + 1 > 96) {
        lines.push(line)
        line = word
      } else line = line === '' ? word : `${line} ${word}`
    }
    lines.push(line)
  }
  if (lines.length === 1) return `"""${lines[0]}${lines[0]?.endsWith('"') ? ' ' : ''}"""`
  return `"""${lines.join(`\n${space}`)}\n${space}"""`
}
