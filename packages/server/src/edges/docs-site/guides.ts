// Reads the pages of the documentation from `docs/`, in the order of `docs/site/pages.json`.
import { existsSync, readFileSync } from 'node:fs'
import { join, posix } from 'node:path'
import type { Token } from 'marked'
import type { Html } from '../../core/html.ts'
import { type Part, parseMarkdown, renderMarkdown, textOf } from './markdown.ts'

/** One page. `path` is its address below /docs, empty for the first one. */
export type Guide = {
  path: string
  section: string
  title: string
  /** Its first paragraph as plain text. */
  description: string
  /** Its source, with links that work at /docs. */
  markdown: string
  html: Html
  parts: Part[]
}

type Section = { section: string; pages: string[] }

const documents = join(import.meta.dirname, '..', '..', '..', '..', '..', 'docs')
const siteFolder = 'site'
const contents = join(documents, siteFolder, 'pages.json')

/** Files that no page shows are read in the repository. */
const repositoryUrl = 'https://github.com/callsign/callsign/blob/main/docs'

/** Every page, or none for an installation without the folder. */
export function readGuides(): Guide[] {
  if (!existsSync(contents)) return []
  const sections = JSON.parse(readFileSync(contents, 'utf8')) as Section[]
  const files = sections.flatMap(({ section, pages }) => pages.map((page) => ({ section, file: posix.join(siteFolder, page) })))
  const paths = new Map(files.map(({ file }) => [file, pathOf(file)]))
  return files.map(({ section, file }) => readGuide(section, file, paths))
}

const pathOf = (file: string): string =>
  file
    .replace(/^site\//, '')
    .replace(/\.md$/, '')
    .replace(/^index$/, '')

function readGuide(section: string, file: string, paths: Map<string, string>): Guide {
  const source = readFileSync(join(documents, file), 'utf8')
  const tokens = parseMarkdown(source)
  const resolve = (extension: string) => (target: string) => addressOf(target, file, paths, extension)
  return {
    path: pathOf(file),
    section,
    title: titleOf(tokens),
    description: descriptionOf(tokens),
    markdown: withLinks(source, resolve('.md')),
    ...renderMarkdown(tokens, resolve('')),
  }
}

/** The text with other targets of its links. Code stays as it is. */
const withLinks = (source: string, resolve: (target: string) => string): string =>
  source
    .split(/^(```[\s\S]*?^```)$/m)
    .map((part, index) => (index % 2 === 1 ? part : part.replace(/\]\(([^)\s]+)\)/g, (_, target: string) => `](${resolve(target)})`)))
    .join('')

const titleOf = (tokens: Token[]): string => {
  const heading = tokens.find(({ type }) => type === 'heading')
  return heading ? textOf(heading) : ''
}

const descriptionOf = (tokens: Token[]): string => {
  const paragraph = tokens.find(({ type }) => type === 'paragraph')
  return paragraph ? textOf(paragraph).replace(/\s+/g, ' ') : ''
}

/** The address at /docs of a target that is relative to `file`. Addresses with a scheme or a leading slash stay as they are. */
function addressOf(target: string, file: string, paths: Map<string, string>, extension: string): string {
  if (/^([a-z][a-z0-9+.-]*:|[/#])/i.test(target)) return target
  const [name = '', anchor] = target.split('#')
  const path = posix.join(posix.dirname(file), name)
  const suffix = anchor === undefined ? '' : `#${anchor}`
  const page = paths.get(path)
  if (page !== undefined) return `${siteAddress(page === '' && extension ? 'index' : page)}${extension}${suffix}`
  return path.startsWith('images/') ? `/docs/${path}` : `${repositoryUrl}/${path}${suffix}`
}

/** Pages that moved, by their earlier path. */
const moved: Record<string, string> = {
  'waking-an-agent': 'events',
  'guides/approval': 'drafts',
  ...Object.fromEntries(
    ['codes', 'domains', 'events', 'guardrails', 'imessage', 'keys', 'mail', 'mcp', 'phone', 'threads', 'tunnels', 'vault'].map((name) => [
      `guides/${name}`,
      name,
    ]),
  ),
}

/** The present path of a page, by an earlier one, with or without `.md`. Null for any other path. */
export function movedTo(path: string): string | null {
  const [, name = '', extension = ''] = /^(.*?)(\.md)?$/.exec(path) ?? []
  return Object.hasOwn(moved, name) ? `${moved[name]}${extension}` : null
}

/** The earlier paths of pages. */
export const movedPaths = (): string[] => Object.keys(moved)

/** The address of a page. */
export const siteAddress = (path: string): string => (path === '' ? '/docs' : `/docs/${path}`)

/** A file of `docs/images`, or null. Only names without a folder are looked up. */
export function readImage(name: string): Buffer | null {
  const file = join(documents, 'images', name)
  return /^[\w-]+\.png$/.test(name) && existsSync(file) ? readFileSync(file) : null
}
