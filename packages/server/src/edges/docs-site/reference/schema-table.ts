// Tables of fields, parameters and types in the reference.
import type { JsonSchema, Parameter } from '@callsign/contract/openapi-types'
import { type Html, html, type Piece } from '../../../core/html.ts'
import { prose } from './prose.ts'

/** Links to a named schema, by its name. */
export type LinkTo = (schema: string) => string

export const parameterTable = (parameters: Parameter[], link: LinkTo): Html =>
  html`<table>${parameters.map(
    ({ name, in: place, required, description, schema }) =>
      html`<tr><th scope="row"><code>${name}</code>${required ? html` <em>required</em>` : ''}</th><td>${typeOf(schema, link)}, ${place}. ${prose(description ?? '')} ${limitsOf(schema)}</td></tr>`,
  )}</table>`

/** The fields of an object, one row each. Any other schema by its type alone. */
export function fieldTable(schema: JsonSchema, link: LinkTo): Html {
  const properties = schema.properties as Record<string, JsonSchema> | undefined
  if (!properties) return html`<p>${typeOf(schema, link)}</p>`
  const required = new Set((schema.required as string[] | undefined) ?? [])
  return html`<table>${Object.entries(properties).map(
    ([name, field]) =>
      html`<tr><th scope="row"><code>${name}</code>${required.has(name) ? html` <em>required</em>` : ''}</th><td>${typeOf(field, link)}. ${prose(String(field.description ?? ''))} ${limitsOf(field)}${nested(field, link)}</td></tr>`,
  )}</table>`
}

/** The fields of an unnamed object, which cannot be linked. */
function nested(field: JsonSchema, link: LinkTo): Html | '' {
  if (field.properties) return fieldTable(field, link)
  const items = field.items as JsonSchema | undefined
  return items?.properties ? fieldTable(items, link) : ''
}

/** The type in words, with links to schemas that have a name. */
export function typeOf(schema: JsonSchema, link: LinkTo): Piece {
  if (typeof schema.$ref === 'string') {
    const name = schema.$ref.split('/').at(-1) as string
    return html`<a href="${link(name)}">${name}</a>`
  }
  const choices = (schema.anyOf ?? schema.allOf) as JsonSchema[] | undefined
  if (choices) return choices.flatMap((choice, i) => (i === 0 ? [typeOf(choice, link)] : [' or ', typeOf(choice, link)]))
  if ('const' in schema) return html`<code>${JSON.stringify(schema.const)}</code>`
  if (Array.isArray(schema.enum)) {
    return schema.enum.flatMap((value, i) => [i === 0 ? '' : ', ', html`<code>${JSON.stringify(value)}</code>`])
  }
  if (schema.type === 'array') return ['list of ', typeOf((schema.items as JsonSchema | undefined) ?? {}, link)]
  if (typeof schema.additionalProperties === 'object') return ['object of ', typeOf(schema.additionalProperties as JsonSchema, link)]
  if (schema.type === undefined) return 'anything'
  return [schema.type].flat().join(' or ') + (schema.format ? ` (${schema.format})` : '')
}

const limitWords: [string, string][] = [
  ['default', 'default'],
  ['minimum', 'at least'],
  ['maximum', 'at most'],
  ['minLength', 'characters at least'],
  ['maxLength', 'characters at most'],
  ['minItems', 'items at least'],
  ['maxItems', 'items at most'],
  ['pattern', 'form'],
]

/** Limits as a list in small type. */
function limitsOf(schema: JsonSchema): Html | '' {
  const words = limitWords.filter(([key]) => key in schema).map(([key, word]) => `${word} ${schema[key]}`)
  return words.length > 0 ? html`<small>${words.join('; ')}</small>` : ''
}
