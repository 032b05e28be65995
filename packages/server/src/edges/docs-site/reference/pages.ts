// The pages of the API reference, made from the OpenAPI document.
import { errorSentences } from '@callsign/contract/error-sentences'
import { type ErrorCode, errorStatuses } from '@callsign/contract/errors'
import type { OpenApiDocument } from '@callsign/contract/openapi-types'
import { sdkPreamble } from '@callsign/contract/reference/code-samples'
import { pythonPreamble } from '@callsign/contract/reference/python-samples'
import { type Html, html, type Piece } from '../../../core/html.ts'
import { sampleFigure } from '../code.ts'
import type { Entry } from './entry.ts'
import { jsonBox, methodBadge, operationSection } from './operation-section.ts'
import { prose, slugOf } from './prose.ts'
import { fieldTable } from './schema-table.ts'
import { keyField } from './try-it.ts'

/** A page of the reference. `path` is its address below /docs. */
export type ReferencePage = { path: string; title: string; content: () => Piece; headings: { anchor: string; title: string }[] }

type Resource = { name: string; path: string; description: string; entries: Entry[] }

/** The pages in the order of the navigation. The first one is the introduction. */
export function createReference(document: OpenApiDocument): ReferencePage[] {
  const resources = readResources(document)
  return [
    { path: 'api', title: 'API reference', content: () => firstPage(document, resources), headings: firstHeadings },
    ...resources.map((resource) => ({
      path: resource.path,
      title: resource.name,
      content: () => resourcePage(resource, document),
      headings: [],
    })),
    { path: 'api/event-types', title: 'Event types', content: () => eventTypesPage(document), headings: namesOf(document.webhooks) },
    { path: 'api/errors', title: 'Errors', content: errorsPage, headings: namesOf(errorStatuses) },
    { path: 'api/schemas', title: 'Schemas', content: () => schemasPage(document), headings: namesOf(document.components.schemas) },
  ]
}

const namesOf = (places: object) => Object.keys(places).map((name) => ({ anchor: name, title: name }))

const firstHeadings = ['Authentication', 'Errors', 'Lists', 'Safe retries', 'Ids and times', 'Resources'].map((title) => ({
  anchor: slugOf(title),
  title,
}))

const schemaLink = (name: string): string => `/docs/api/schemas#${name}`

function readResources(document: OpenApiDocument): Resource[] {
  const entries = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ path, method: method.toUpperCase(), operation })),
  )
  return document.tags.map(({ name, description = '' }) => ({
    name,
    path: `api/${slugOf(name)}`,
    description,
    entries: entries.filter(({ operation }) => operation.tags.includes(name)).toSorted(inReadingOrder),
  }))
}

const methodOrder = ['GET', 'POST', 'PATCH', 'PUT', 'DELETE']

/** Collections before their items, and reading before writing. */
const inReadingOrder = (a: Entry, b: Entry): number =>
  a.path.split('/').length - b.path.split('/').length ||
  a.path.localeCompare(b.path, 'en') ||
  methodOrder.indexOf(a.method) - methodOrder.indexOf(b.method)

function firstPage(document: OpenApiDocument, resources: Resource[]): Html {
  const url = document.servers[0]?.url ?? ''
  return html`<h1>${document.info.title} API <small>${document.info.version}</small></h1>
<p class="lead">${document.info.description} The base URL of this server is <code>${url}</code>.</p>
<section><div class="about">
<h2 id="authentication">Authentication</h2>
<p>Send a key with each request, as <code>Authorization: Bearer svc_live_…</code>. The first start of the server prints an organization key. Create
others with <a href="/docs/api/keys">Keys</a>. An organization key can call everything. The key of an agent can call what belongs to its agent, and gets 403 for
everything else.</p>
<h2 id="errors">Errors</h2>
<p>An error has a status, a code for programs and a message for people, such as <code>{"error": {"code": "not_found", "message": "…", "request_id": "req_…"}}</code>.
See the <a href="/docs/api/errors">list of codes</a>.</p>
<h2 id="lists">Lists</h2>
<p>A list returns <code>limit</code> items at most, the newest first unless its description names another order. If <code>has_more</code> is true, use <code>next_cursor</code> as the
<code>cursor</code> of the next request. The <a href="/docs/clients#pagination">clients</a> have helpers that ask for all pages.</p>
<h2 id="safe-retries">Safe retries</h2>
<p>Send an <code>Idempotency-Key</code> with each POST that creates or sends something. A repeated request with the same key and body returns the first response, with
<code>Idempotent-Replayed: true</code>, and does nothing again. Keys are remembered for 7 days.</p>
<h2 id="ids-and-times">Ids and times</h2>
<p>Ids are opaque text with a prefix, such as <code>msg_…</code>. Times are in UTC, in ISO 8601 with milliseconds.</p>
</div>
<div class="example">
${sampleFigure(firstSamples(url))}
</div></section>
<h2 id="resources">Resources</h2>
<dl>${resources.map(({ name, path, description }) => html`<dt><a href="/docs/${path}">${name}</a></dt><dd>${prose(description)}</dd>`)}</dl>`
}

const firstSamples = (url: string) => [
  { id: 'curl', text: `export CALLSIGN_API_KEY=svc_live_...\n\ncurl ${url}/api/v1/me \\\n  -H "Authorization: Bearer $CALLSIGN_API_KEY"` },
  { id: 'ts', text: `${sdkPreamble}\n\nconsole.log(await callsign.me())` },
  { id: 'python', text: `${pythonPreamble}\n\nprint(callsign.me())` },
  { id: 'cli', text: `callsign login --url ${url}\ncallsign whoami` },
]

const resourcePage = (resource: Resource, document: OpenApiDocument): Html =>
  html`<h1>${resource.name}</h1><p class="lead">${prose(resource.description)}</p>
<ul class="operations">${resource.entries.map(
    ({ method, path, operation }) =>
      html`<li><a href="#${operation.operationId}">${methodBadge(method)} <code>${path}</code></a> ${operation.summary}</li>`,
  )}</ul>${keyField}${resource.entries.map((entry) => operationSection(entry, document, schemaLink))}`

const eventTypesPage = (document: OpenApiDocument): Html =>
  html`<h1>Event types</h1><p class="lead">An event is the body of a webhook, an item of the list, and the data of a server-sent event. <code>data</code> is the object at
the time of the event.</p>${Object.entries(document.webhooks).map(
    ([
      type,
      { post },
    ]) => html`<section id="${type}"><div class="about"><h2><a href="#${type}">${type}</a></h2><p>${post?.summary ?? ''}</p></div>
<div class="example"><figure class="code">${jsonBox(post?.requestBody?.content['application/json']?.example)}</figure></div></section>`,
  )}`

const errorsPage = (): Html =>
  html`<h1>Errors</h1><p class="lead">Programs read <code>code</code>. <code>message</code> is for people and can change.</p>
<table>${(Object.keys(errorStatuses) as ErrorCode[]).map(
    (code) =>
      html`<tr id="${code}"><th scope="row"><code>${code}</code></th><td>${errorStatuses[code]}</td><td>${errorSentences[code] ?? 'See the message.'}</td></tr>`,
  )}</table>`

const schemasPage = (document: OpenApiDocument): Html =>
  html`<h1>Schemas</h1>${Object.entries(document.components.schemas).map(
    ([name, schema]) =>
      html`<section id="${name}"><div class="about"><h2><a href="#${name}">${name}</a></h2>${fieldTable(schema, schemaLink)}</div></section>`,
  )}`
