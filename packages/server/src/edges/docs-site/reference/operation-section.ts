// One operation in the reference, with its request and its responses beside its example.
import type { OpenApiDocument, Parameter, PathOperation, Reference, Response } from '@callsign/contract/openapi-types'
import { type Html, html } from '../../../core/html.ts'
import { highlight, languages, sampleFigure } from '../code.ts'
import type { Entry } from './entry.ts'
import { prose } from './prose.ts'
import { fieldTable, type LinkTo, parameterTable, typeOf } from './schema-table.ts'
import { tryForm } from './try-it.ts'

export const methodBadge = (method: string): Html => html`<span class="method ${method.toLowerCase()}">${method}</span>`

export function operationSection({ path, method, operation }: Entry, document: OpenApiDocument, link: LinkTo): Html {
  const parameters = (operation.parameters ?? []).map((parameter) => resolve<Parameter>(parameter, document))
  const body = operation.requestBody
  const schema = body?.content['application/json']?.schema
  const responses = Object.entries(operation.responses).map(
    ([status, response]) => [status, resolve<Response>(response, document)] as const,
  )
  const succeeds = responses.filter(([status]) => Number(status) < 400)
  const fails = responses.filter(([status]) => Number(status) >= 400)
  return html`<section id="${operation.operationId}">
<div class="about">
<h2><a href="#${operation.operationId}">${operation.summary}</a></h2>
<p class="route">${methodBadge(method)} <code>${path}</code></p>
<p class="keys">${keysOf(operation)}</p>
${operation.description ? html`<p>${prose(operation.description)}</p>` : ''}
${parameters.length > 0 ? html`<h3>Parameters</h3>${parameterTable(parameters, link)}` : ''}
${schema ? html`<h3>Body${body?.required ? '' : ' (optional)'}</h3>${fieldTable(schema, link)}` : ''}
${succeeds.map(([status, response]) => html`<h3>Response ${status}</h3>${responseBody(response, link)}`)}
<details><summary>Errors</summary><table>${fails.map(
    ([status, response]) => html`<tr><th scope="row"><code>${status}</code></th><td>${prose(response.description)}</td></tr>`,
  )}</table></details>
</div>
<div class="example">${codeBox(operation)}${replyBox(succeeds)}${tryForm({ path, method, operation }, parameters)}</div>
</section>`
}

function keysOf(operation: PathOperation): string {
  if (operation.security?.length === 0) return 'No key needed.'
  const keys = operation['x-callsign-keys'] === 'organization' ? 'Organization keys only.' : 'Organization keys, and the key of the agent.'
  const scopes = operation['x-callsign-scopes'] ?? []
  return scopes.length === 0 ? keys : `${keys} Scope: ${scopes.join(' or ')}.`
}

/** Resolves a reference into the components. */
function resolve<T extends object>(value: T | Reference, document: OpenApiDocument): T {
  if (!('$ref' in value)) return value
  const [kind, name] = value.$ref.split('/').slice(-2) as ['parameters' | 'responses', string]
  return document.components[kind][name] as unknown as T
}

function responseBody(response: Response, link: LinkTo): Html {
  const [type, content] = Object.entries(response.content ?? {})[0] ?? []
  if (!content) return html`<p>${prose(response.description)}</p>`
  if (type !== 'application/json') return html`<p><code>${type as string}</code></p>`
  return '$ref' in content.schema ? html`<p>${typeOf(content.schema, link)}</p>` : fieldTable(content.schema, link)
}

function codeBox(operation: PathOperation): Html | '' {
  const samples = operation['x-codeSamples']
  if (!samples) return ''
  const known = languages.flatMap(({ id, label }) => {
    const sample = samples.find((one) => one.label === label)
    return sample ? [{ id, text: sample.source }] : []
  })
  return sampleFigure(known, (label) =>
    label === 'CLI' ? 'The CLI has no command for this.' : `The ${label} client has no method for this.`,
  )
}

function replyBox(succeeds: (readonly [string, Response])[]): Html | '' {
  const [status, response] = succeeds[0] ?? []
  const example = response?.content?.['application/json']?.example
  if (example === undefined) return ''
  return html`<figure class="code"><figcaption><span>Response ${status as string}</span></figcaption>${jsonBox(example)}</figure>`
}

/** A value as indented JSON. */
export const jsonBox = (value: unknown): Html =>
  html`<pre tabindex="0"><code>${highlight('json', JSON.stringify(value, null, 2) ?? '')}</code></pre>`
