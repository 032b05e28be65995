// The API reference, as pages of plain HTML made from the OpenAPI document. They have no scripts and load nothing.
import { createHash } from 'node:crypto'
import { errorSentences } from '@callsign/contract/error-sentences'
import { type ErrorCode, errorStatuses } from '@callsign/contract/errors'
import type { OpenApiDocument } from '@callsign/contract/openapi-types'
import { sdkPreamble } from '@callsign/contract/reference/code-samples'
import { Html, html, type Piece } from '../../../core/html.ts'
import { type Entry, jsonBox, type Language, languages, methodBadge, operationSection } from './operation-section.ts'
import { prose, slugOf } from './prose.ts'
import { fieldTable } from './schema-table.ts'
import { createSearch, type Place, searchCharactersMax } from './search.ts'
import { referenceStyle } from './style.ts'

export type ReferenceQuery = { lang?: unknown; q?: unknown }

export type Reference = {
  /** The page of this name as HTML, or null if there is none. The first page has the name ''. */
  page(name: string, query: ReferenceQuery): string | null
  /** Allows the style sheet by its hash, and the search form. */
  contentSecurityPolicy: string
}

type Resource = { name: string; slug: string; description: string; entries: Entry[] }

export function createReference(document: OpenApiDocument): Reference {
  const styleHash = createHash('sha256').update(referenceStyle).digest('base64')
  const resources = readResources(document)
  const search = createSearch(document)
  const pages = new Map<string, (at: Address) => { title: string; content: Piece }>([
    ['', (at) => ({ title: 'API reference', content: firstPage(document, resources, at) })],
    ['event-types', () => ({ title: 'Event types', content: eventTypesPage(document) })],
    ['errors', () => ({ title: 'Errors', content: errorsPage() })],
    ['schemas', (at) => ({ title: 'Schemas', content: schemasPage(document, at) })],
    ...resources.map((resource): [string, (at: Address) => { title: string; content: Piece }] => [
      resource.slug,
      (at) => ({ title: resource.name, content: resourcePage(resource, document, at) }),
    ]),
  ])
  /** Pages without a search, by name and language. There are about sixty, and each is made once. */
  const made = new Map<string, string>()

  return {
    contentSecurityPolicy: `default-src 'none'; style-src 'sha256-${styleHash}'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'`,
    page(name, query) {
      const at = new Address(name, readLanguage(query.lang))
      if (name === 'search') {
        const words = typeof query.q === 'string' ? query.q.slice(0, searchCharactersMax) : ''
        return layout(document, resources, at, { title: 'Search', content: searchPage(words, search(words), at), words })
      }
      const make = pages.get(name)
      if (!make) return null
      const key = `${at.language} ${name}`
      const text = made.get(key) ?? layout(document, resources, at, make(at))
      made.set(key, text)
      return text
    },
  }
}

const readLanguage = (text: unknown): Language => languages.find((language) => language.toLowerCase() === text) ?? 'curl'

/** The page that is shown. Its links keep the language. */
class Address {
  readonly name: string
  readonly language: Language
  constructor(name: string, language: Language) {
    this.name = name
    this.language = language
  }
  to(page: string, language = this.language): string {
    const query = language === 'curl' ? '' : `?lang=${language.toLowerCase()}`
    return `/docs${page === '' ? '' : `/${page}`}${query}`
  }
}

function readResources(document: OpenApiDocument): Resource[] {
  const entries = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ path, method: method.toUpperCase(), operation })),
  )
  return document.tags.map(({ name, description = '' }) => ({
    name,
    slug: slugOf(name),
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

function layout(
  document: OpenApiDocument,
  resources: Resource[],
  at: Address,
  { title, content, words = '' }: { title: string; content: Piece; words?: string },
): string {
  const link = (slug: string, name: string) =>
    html`<li><a href="${at.to(slug)}"${slug === at.name ? html` aria-current="page"` : ''}>${name}</a></li>`
  const open = (resource: Resource) =>
    resource.slug === at.name
      ? html`<ul>${resource.entries.map(
          ({ method, operation }) => html`<li><a href="#${operation.operationId}">${methodBadge(method)} ${operation.operationId}</a></li>`,
        )}</ul>`
      : ''
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${title} · ${document.info.title}</title>
<style>${new Html(referenceStyle)}</style>
</head>
<body>
<a class="skip" href="#content">Skip to the content</a>
<nav aria-label="Reference">
<a class="home" href="${at.to('')}">${document.info.title}</a>
<form action="/docs/search" role="search"><input type="search" name="q" value="${words}" maxlength="${searchCharactersMax}" placeholder="Search" aria-label="Search the reference">${
    at.language === 'curl' ? '' : html`<input type="hidden" name="lang" value="${at.language.toLowerCase()}">`
  }</form>
<ul>${resources.map((resource) => [link(resource.slug, resource.name), open(resource)])}</ul>
<ul>${link('event-types', 'Event types')}${link('errors', 'Errors')}${link('schemas', 'Schemas')}<li><a href="/openapi.json">OpenAPI 3.1</a></li></ul>
</nav>
<main id="content">${content}</main>
</body>
</html>
`.text
}

function firstPage(document: OpenApiDocument, resources: Resource[], at: Address): Html {
  const url = document.servers[0]?.url ?? ''
  const tabs = languages.map((language) =>
    language === at.language
      ? html`<strong aria-current="true">${language}</strong>`
      : html`<a href="${at.to('', language)}">${language}</a>`,
  )
  return html`<h1>${document.info.title} API <small>${document.info.version}</small></h1>
<p class="lead">${document.info.description} The base URL of this server is <code>${url}</code>.</p>
<section><div class="about">
<h2>Authentication</h2>
<p>Send a key with each request, as <code>Authorization: Bearer svc_live_…</code>. The first start of the server prints an organization key. Create
others with <a href="${at.to('keys')}">Keys</a>. An organization key can call everything. The key of an agent can call what belongs to its agent, and gets 403 for
everything else.</p>
<h2>Errors</h2>
<p>An error has a status, a code for programs and a message for people, such as <code>{"error": {"code": "not_found", "message": "…", "request_id": "req_…"}}</code>.
See the <a href="${at.to('errors')}">list of codes</a>.</p>
<h2>Lists</h2>
<p>A list returns <code>limit</code> items at most. If <code>has_more</code> is true, use <code>next_cursor</code> as the <code>cursor</code> of the next request.</p>
<h2>Safe retries</h2>
<p>Send an <code>Idempotency-Key</code> with each POST that creates or sends something. A repeated request with the same key and body returns the first response, with
<code>Idempotent-Replayed: true</code>, and does nothing again. Keys are remembered for 7 days.</p>
<h2>Ids and times</h2>
<p>Ids are opaque text with a prefix, such as <code>msg_…</code>. Times are in UTC, in ISO 8601 with milliseconds.</p>
</div>
<div class="example">
<figure><figcaption>${tabs}</figcaption><pre><code>${firstCode[at.language](url)}</code></pre></figure>
</div></section>
<h2>Resources</h2>
<dl>${resources.map(({ name, slug, description }) => html`<dt><a href="${at.to(slug)}">${name}</a></dt><dd>${prose(description)}</dd>`)}</dl>`
}

const firstCode: Record<Language, (url: string) => string> = {
  curl: (url) => `export CALLSIGN_API_KEY=svc_live_...\n\ncurl ${url}/api/v1/me \\\n  -H "Authorization: Bearer $CALLSIGN_API_KEY"`,
  TypeScript: () => `${sdkPreamble}\n\nconsole.log(await callsign.me())`,
  CLI: (url) => `npx callsign login --url ${url}\nnpx callsign whoami`,
}

const resourcePage = (resource: Resource, document: OpenApiDocument, at: Address): Html =>
  html`<h1>${resource.name}</h1><p class="lead">${prose(resource.description)}</p>${resource.entries.map((entry) =>
    operationSection(entry, document, (schema) => `${at.to('schemas')}#${schema}`, {
      language: at.language,
      languageLink: (language) => at.to(at.name, language),
    }),
  )}`

const eventTypesPage = (document: OpenApiDocument): Html =>
  html`<h1>Event types</h1><p class="lead">An event is the body of a webhook, an item of the list, and the data of a server-sent event. <code>data</code> is the object at
the time of the event.</p>${Object.entries(document.webhooks).map(
    ([
      type,
      { post },
    ]) => html`<section id="${type}"><div class="about"><h2><a href="#${type}">${type}</a></h2><p>${post?.summary ?? ''}</p></div>
<div class="example"><figure>${jsonBox(post?.requestBody?.content['application/json']?.example)}</figure></div></section>`,
  )}`

const errorsPage = (): Html =>
  html`<h1>Errors</h1><p class="lead">Programs read <code>code</code>. <code>message</code> is for people and can change.</p>
<table>${(Object.keys(errorStatuses) as ErrorCode[]).map(
    (code) =>
      html`<tr id="${code}"><th scope="row"><code>${code}</code></th><td>${errorStatuses[code]}</td><td>${errorSentences[code] ?? 'See the message.'}</td></tr>`,
  )}</table>`

const schemasPage = (document: OpenApiDocument, at: Address): Html =>
  html`<h1>Schemas</h1>${Object.entries(document.components.schemas).map(
    ([name, schema]) =>
      html`<section id="${name}"><div class="about"><h2><a href="#${name}">${name}</a></h2>${fieldTable(schema, (other) => `${at.to('schemas')}#${other}`)}</div></section>`,
  )}`

function searchPage(words: string, places: Place[], at: Address): Html {
  const found = places.map(
    ({ title, about, page, anchor }) => html`<dt><a href="${at.to(page)}#${anchor}"><code>${title}</code></a></dt><dd>${about}</dd>`,
  )
  const none = words.trim() === '' ? 'Enter a word, such as the name of a field or an error code.' : `Nothing contains all of “${words}”.`
  return html`<h1>Search</h1>${found.length > 0 ? html`<dl>${found}</dl>` : html`<p class="lead">${none}</p>`}`
}
