// Makes a request for any operation of the OpenAPI document, with the values that a test knows in the places that are named so.
import type { Json } from './start.ts'

export type ExampleRequest = { path: string; body: unknown }

/** Returns values by the name of a path parameter, query parameter or body field. A value may depend on the operation's path. */
export type Known = (name: string, template: string) => unknown

/**
 * Builds the path and body of one operation. Parameters and fields with a value from `known` are given even when optional. Other required ones are
 * made from their schemas.
 */
export function exampleRequest(document: Json, template: string, operation: Json, known: Known): ExampleRequest {
  const resolve = (node: Json): Json =>
    node?.$ref
      ? resolve(
          (node.$ref as string)
            .slice(2)
            .split('/')
            .reduce((at, step) => at[step], document),
        )
      : node

  const query = new URLSearchParams()
  const make = (schema: Json, name: string): unknown => {
    const value = known(name, template)
    if (value !== undefined) return value
    const {
      type,
      enum: choices,
      const: constant,
      anyOf,
      allOf,
      properties = {},
      required = [],
      items,
      minItems = 0,
      ...rest
    } = resolve(schema)
    if (constant !== undefined) return constant
    if (choices) return choices[0]
    if (anyOf ?? allOf) return make((anyOf ?? allOf)[0], name)
    switch (Array.isArray(type) ? type[0] : type) {
      case 'object': {
        const wanted = Object.keys(properties).filter(
          (field) => required.includes(field) || (known(field, template) !== undefined && !query.has(field)),
        )
        const given = wanted.length < (rest.minProperties ?? 0) ? Object.keys(properties).slice(0, rest.minProperties) : wanted
        return Object.fromEntries(given.map((field) => [field, make(properties[field], field)]))
      }
      case 'array':
        return Array.from({ length: minItems }, () => make(items, name))
      case 'integer':
      case 'number':
        return rest.minimum ?? 1
      case 'boolean':
        return true
      case 'null':
        return null
      default: {
        if (rest.format === 'date-time') return '2026-01-31T09:30:00.000Z'
        if (rest.examples) return rest.examples[0]
        const prefix = /^\^([a-z]+_)/.exec(rest.pattern ?? '')?.[1]
        return prefix ? `${prefix}01h455vb4pex5vsknk084sn02q` : 'a'.repeat(Math.max(rest.minLength ?? 1, 2))
      }
    }
  }

  let path = template
  for (const parameter of (operation.parameters ?? []).map(resolve)) {
    const { name, in: place, required, schema } = parameter
    if (place === 'path') path = path.replace(`{${name}}`, encodeURIComponent(String(make(schema, name))))
    if (place === 'query' && (required || known(name, template) !== undefined)) query.set(name, String(make(schema, name)))
  }
  const content = operation.requestBody?.content['application/json']
  return { path: query.size > 0 ? `${path}?${query}` : path, body: content ? make(content.schema, '') : undefined }
}
