// The documentation: guides, reference and search as pages of plain HTML, and each guide as Markdown.
import type { OpenApiDocument } from '@callsign/contract/openapi-types'
import { type Html, html } from '../../core/html.ts'
import { type Guide, siteAddress } from './guides.ts'
import { layout, type Page, type Section } from './layout.ts'
import { createReference } from './reference/pages.ts'
import { createSearch, type Place, searchCharactersMax } from './search.ts'

export interface Site {
  /** The page at this path below /docs as HTML, or null if there is none. The first page has the path ''. */
  page(path: string, query?: { q?: unknown }): string | null
  /** The page for a path without one, with the search and the navigation. */
  missing(): string
  /** The Markdown of a guide, by the path of its page. */
  markdown(path: string): string | null
  /** The places that a search finds, the best one first. */
  search(query: unknown): Place[]
  /** The paths of all pages except the search. */
  paths(): string[]
}

const searchPath = 'search'

/** `hasServer` is false for pages that are read as files. They have neither a search nor requests to try. */
export type SiteOptions = { hasServer: boolean }

/** Builds the pages and the index of the search. Without guides, the first page is that of the reference. */
export function createSite(document: OpenApiDocument, guides: Guide[], { hasServer }: SiteOptions = { hasServer: true }): Site {
  const frame = { product: document.info.title, hasServer }
  const reference = createReference(document)
  const find = createSearch(document, guides)
  const sections = sectionsOf(guides, reference)
  const pages = new Map<string, () => Page>([
    ...reference.map((page): [string, () => Page] => [page.path, () => ({ ...page, content: page.content(), isWide: true })]),
    ...guides.map((guide): [string, () => Page] => [guide.path, () => guidePage(guide)]),
  ])
  if (!pages.has('')) pages.set('', pages.get('api') as () => Page)
  const guideOf = new Map(guides.map((guide) => [guide.path, guide]))
  /** Each page is made once, when it is first asked for. */
  const made = new Map<string, string>()
  const search = (query: unknown) => (typeof query === 'string' ? find(query) : [])

  return {
    page(path, query = {}) {
      if (path === searchPath) {
        const words = typeof query.q === 'string' ? query.q.slice(0, searchCharactersMax) : ''
        return layout(frame, sections, { path, title: 'Search', content: searchPage(words, search(words)), words })
      }
      const make = pages.get(path)
      if (!make) return null
      const text = made.get(path) ?? layout(frame, sections, make())
      made.set(path, text)
      return text
    },
    missing: () =>
      layout(frame, sections, {
        path: '404',
        title: 'Page not found',
        content: html`<h1>Page not found</h1><p class="lead">There is no page at this address. Search for a word, or choose a page from the navigation.</p>`,
      }),
    markdown: (path) => guideOf.get(path)?.markdown ?? null,
    search,
    paths: () => [...pages.keys()],
  }
}

function sectionsOf(guides: Guide[], reference: { path: string; title: string }[]): Section[] {
  const sections: Section[] = []
  for (const { section, path, title } of guides) {
    const last = sections.at(-1)
    if (last?.title === section) last.links.push({ path, title })
    else sections.push({ title: section, links: [{ path, title }] })
  }
  return [...sections, { title: 'API', links: reference.map(({ path, title }) => ({ path, title })) }]
}

const guidePage = ({ path, title, html: content, parts }: Guide): Page => ({
  path,
  title,
  content: html`<h1>${title}</h1>${content}`,
  headings: parts.filter(({ depth, title: heading }) => depth === 2 && heading !== ''),
  hasMarkdown: true,
})

function searchPage(words: string, places: Place[]): Html {
  const found = places.map(
    ({ title, about, page, anchor, kind }) =>
      html`<dt><a href="${siteAddress(page)}${anchor === '' ? '' : `#${anchor}`}">${kind === 'guide' ? title : html`<code>${title}</code>`}</a></dt><dd>${about}</dd>`,
  )
  const none = words.trim() === '' ? 'Enter a word, such as the name of a field or an error code.' : `Nothing contains all of “${words}”.`
  return html`<h1>Search</h1>${found.length > 0 ? html`<dl>${found}</dl>` : html`<p class="lead">${none}</p>`}`
}
