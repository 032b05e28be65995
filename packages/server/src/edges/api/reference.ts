// The API reference: one page of plain HTML generated from the OpenAPI document, without scripts or external resources.
import { createHash } from 'node:crypto'
import type { JsonSchema, OpenApiDocument, Parameter, PathOperation, Reference, Response } from '@callsign/contract/openapi'
import { referenceStyle } from './reference-style.ts'

/** Text that is already markup. Everything else is escaped on insertion. */
class Html {
  readonly text: string
  constructor(text: string) {
    this.text = text
  }
}

type Piece = Html | string | number | Piece[]

const escapes: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' }
const escapeText = (text: string): string => text.replace(/[&<>"']/g, (character) => escapes[character] as string)

const render = (piece: Piece): string => {
  if (Array.isArray(piece)) return piece.map(render).join('')
  return piece instanceof Html ? piece.text : escapeText(String(piece))
}

/** Markup with inserted values, each escaped unless it is markup itself. */
const html = (strings: TemplateStringsArray, ...pieces: Piece[]): Html =>
  new Html(strings.reduce((text, string, i) => text + render(pieces[i - 1] ?? '') + string))

/** The page and its content security policy, which allows only the style sheet, by its hash. */
export function referencePage(document: OpenApiDocument): { html: string; contentSecurityPolicy: string } {
  const styleHash = createHash('sha256').update(referenceStyle).digest('base64')
  const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ path, method: method.toUpperCase(), operation })),
  )
  const groups = document.tags.map(({ name }) => ({
    name,
    operations: operations.filter(({ operation }) => operation.tags.includes(name)),
  }))
  const page = html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${document.info.title} API reference</title>
<style>${new Html(referenceStyle)}</style>
</head>
<body>
<nav aria-label="Operations">
<a class="home" href="#top">${document.info.title}</a>
${groups.map(
  (group) =>
    html`<h2>${group.name}</h2><ul>${group.operations.map(
      ({ method, operation }) => html`<li><a href="#${operation.operationId}">${badge(method)} ${operation.operationId}</a></li>`,
    )}</ul>`,
)}
<h2>Schemas</h2>
<ul>${Object.keys(document.components.schemas).map((name) => html`<li><a href="#schema-${name}">${name}</a></li>`)}</ul>
</nav>
<main id="top">
<h1>${document.info.title} API <small>${document.info.version}</small></h1>
<p>${document.info.description} Base address: <code>${document.servers[0]?.url ?? ''}</code></p>
<p>Send your key as <code>Authorization: Bearer svc_live_…</code>. This page is made from <a href="/openapi.json">/openapi.json</a> (OpenAPI 3.1).</p>
${groups.map((group) => html`<h2>${group.name}</h2>${group.operations.map((entry) => operationSection(entry, document))}`)}
<h2>Schemas</h2>
${Object.entries(document.components.schemas).map(
  ([name, schema]) => html`<section id="schema-${name}"><h3>${name}</h3>${fieldTable(schema)}</section>`,
)}
</main>
</body>
</html>
`
  return {
    html: page.text,
    contentSecurityPolicy: `default-src 'none'; style-src 'sha256-${styleHash}'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`,
  }
}

const badge = (method: string): Html => html`<span class="method ${method.toLowerCase()}">${method}</span>`

type Entry = { path: string; method: string; operation: PathOperation }

function operationSection({ path, method, operation }: Entry, document: OpenApiDocument): Html {
  const parameters = (operation.parameters ?? []).map((parameter) => resolve<Parameter>(parameter, document))
  const body = operation.requestBody
  const bodySchema = body?.content['application/json']?.schema
  return html`<section id="${operation.operationId}">
<h3>${badge(method)} <code>${path}</code></h3>
<p>${operation.summary}${operation.security?.length === 0 ? ' No key needed.' : ''}</p>
${parameters.length > 0 ? html`<h4>Parameters</h4>${parameterTable(parameters)}` : ''}
${bodySchema ? html`<h4>Body ${body?.required ? '' : '(optional)'}</h4>${fieldTable(bodySchema)}` : ''}
<h4>Answers</h4>
<table>${Object.entries(operation.responses).map(([status, response]) => responseRow(status, resolve<Response>(response, document)))}</table>
</section>`
}

/** Resolves a reference into the components. */
function resolve<T extends object>(value: T | Reference, document: OpenApiDocument): T {
  if (!('$ref' in value)) return value
  const [kind, name] = value.$ref.split('/').slice(-2) as ['parameters' | 'responses', string]
  return document.components[kind][name] as unknown as T
}

const parameterTable = (parameters: Parameter[]): Html =>
  html`<table>${parameters.map(
    ({ name, in: place, required, description, schema }) =>
      html`<tr><th scope="row"><code>${name}</code>${required ? html` <em>required</em>` : ''}</th><td>${typeOf(schema)}, ${place}. ${description ?? ''} ${limitsOf(schema)}</td></tr>`,
  )}</table>`

function responseRow(status: string, response: Response): Html {
  const [type, content] = Object.entries(response.content ?? {})[0] ?? []
  const isError = Number(status) >= 400
  const shape = isError || !content ? '' : type === 'application/json' ? fieldTable(content.schema) : html` <code>${type as string}</code>`
  return html`<tr><th scope="row"><code>${status}</code></th><td>${codeWords(response.description)}${shape}</td></tr>`
}

/** A sentence in which words between backticks are code. */
const codeWords = (text: string): Piece[] => text.split('`').map((part, i) => (i % 2 === 1 ? html`<code>${part}</code>` : part))

/** The fields of an object, one row each. Any other schema by its type alone. */
function fieldTable(schema: JsonSchema): Html {
  const properties = schema.properties as Record<string, JsonSchema> | undefined
  if (!properties) return html`<p>${typeOf(schema)}</p>`
  const required = new Set((schema.required as string[] | undefined) ?? [])
  return html`<table>${Object.entries(properties).map(
    ([name, field]) =>
      html`<tr><th scope="row"><code>${name}</code>${required.has(name) ? html` <em>required</em>` : ''}</th><td>${typeOf(field)}. ${String(field.description ?? '')} ${limitsOf(field)}${nested(field)}</td></tr>`,
  )}</table>`
}

/** The fields of an unnamed object, which cannot be linked. */
function nested(field: JsonSchema): Html | '' {
  if (field.properties) return fieldTable(field)
  const items = field.items as JsonSchema | undefined
  return items?.properties ? fieldTable(items) : ''
}

/** The type in words, with links to schemas that have a name. */
function typeOf(schema: JsonSchema): Piece {
  if (typeof schema.$ref === 'string') {
    const name = schema.$ref.split('/').at(-1) as string
    return html`<a href="#schema-${name}">${name}</a>`
  }
  const choices = (schema.anyOf ?? schema.allOf) as JsonSchema[] | undefined
  if (choices) return choices.flatMap((choice, i) => (i === 0 ? [typeOf(choice)] : [' or ', typeOf(choice)]))
  if ('const' in schema) return html`<code>${JSON.stringify(schema.const)}</code>`
  if (Array.isArray(schema.enum)) {
    return schema.enum.flatMap((value, i) => [i === 0 ? '' : ', ', html`<code>${JSON.stringify(value)}</code>`])
  }
  if (schema.type === 'array') return ['list of ', typeOf((schema.items as JsonSchema | undefined) ?? {})]
  if (typeof schema.additionalProperties === 'object') return ['object of ', typeOf(schema.additionalProperties as JsonSchema)]
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
