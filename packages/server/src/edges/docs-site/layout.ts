// The frame of every page of the documentation: header, navigation, content and the list of its headings.
import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Html, html, type Piece } from '../../core/html.ts'
import { languages } from './code.ts'
import { siteAddress } from './guides.ts'
import { searchCharactersMax } from './search.ts'

/** One page. `path` is its address below /docs. `headings` is shown beside the content. */
export type Page = {
  path: string
  title: string
  content: Piece
  headings?: { anchor: string; title: string }[]
  /** The search that the page answers. */
  words?: string
  /** The Markdown of the page, for readers that are programs. */
  hasMarkdown?: boolean
  /** True for pages with examples beside the text, which need the whole width. */
  isWide?: boolean
}

/** Links below one title. `open` are the places of the page that is shown. */
export type Section = { title: string; links: { path: string; title: string }[] }

const read = (name: string): string => readFileSync(join(import.meta.dirname, name), 'utf8')
const style = read('docs.css')
const script = read('browser.js')
const hashOf = (text: string): string => `'sha256-${createHash('sha256').update(text).digest('base64')}'`

/** The style sheet and the script are allowed by their hashes. The script calls this server only. */
export const contentSecurityPolicy = [
  "default-src 'none'",
  `style-src ${hashOf(style)}`,
  `script-src ${hashOf(script)}`,
  "img-src 'self'",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'self'",
  "frame-ancestors 'none'",
].join('; ')

/** The icon of the pages in tabs and bookmarks, the same as that of the console. */
export const iconSource = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32"><title>Callsign</title><rect width="32" height="32" rx="8" fill="#4353d9"/><path d="M8 20.5a8 8 0 0 1 16 0M12.3 20.5a3.7 3.7 0 0 1 7.4 0" fill="none" stroke="#fff" stroke-width="2.6" stroke-linecap="round"/><circle cx="16" cy="22" r="1.6" fill="#fff"/></svg>`

const icon = (paths: string): Html =>
  new Html(
    `<svg viewBox="0 0 24 24" width="18" height="18" fill="none" stroke="currentColor" stroke-width="1.8" stroke-linecap="round" stroke-linejoin="round" aria-hidden="true">${paths}</svg>`,
  )

const themeIcon = icon('<circle cx="12" cy="12" r="8.5"/><path d="M12 3.5a8.5 8.5 0 0 1 0 17z" fill="currentColor"/>')
const menuIcon = icon('<path d="M4 7h16M4 12h16M4 17h16"/>')

/** `hasServer` is false for pages that are read as files. */
export type Frame = { product: string; hasServer: boolean }

export function layout({ product, hasServer }: Frame, sections: Section[], page: Page): string {
  return html`<!doctype html>
<html lang="en"${hasServer ? html` data-server` : ''}>
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${page.title === product ? product : `${page.title} · ${product}`}</title>
${page.hasMarkdown ? html`<link rel="alternate" type="text/markdown" href="${markdownAddress(page.path)}">` : ''}
<link rel="icon" href="/docs/icon.svg" type="image/svg+xml">
<style>${new Html(style)}</style>
<script>${new Html(script)}</script>
</head>
<body>
<a class="skip" href="#content">Skip to the content</a>
${header(product, page, hasServer)}
<div class="columns">
<input type="checkbox" id="menu" class="unseen" aria-label="Show the navigation">
${navigation(sections, page)}
<main id="content"${page.isWide ? html` class="wide"` : ''}>${withContents(page)}${nextLink(sections, page)}</main>
${aside(page)}
</div>
</body>
</html>
`.text
}

/** The address of the Markdown of a page. */
export const markdownAddress = (path: string): string => `/docs/${path === '' ? 'index' : path}.md`

const header = (product: string, page: Page, hasServer: boolean): Html => html`<header>
<label for="menu" class="menu">${menuIcon}<span class="unseen">Navigation</span></label>
<a class="home" href="/docs">${product} <span>docs</span></a>
${hasServer ? html`<form action="/docs/search" role="search"><input type="search" name="q" value="${page.words ?? ''}" maxlength="${searchCharactersMax}" placeholder="Search" autocomplete="off" aria-label="Search the documentation"><div class="found" role="listbox" hidden></div></form>` : ''}
<fieldset class="languages"><legend class="unseen">Language of the examples</legend>${languages.map(
  ({ id, label }, index) =>
    html`<input type="radio" class="unseen" name="language" id="lang-${id}"${index === 0 ? html` checked` : ''}><label for="lang-${id}">${label}</label>`,
)}</fieldset>
<button type="button" class="theme" hidden>${themeIcon}<span class="unseen">Switch between light and dark</span></button>
</header>`

const navigation = (sections: Section[], page: Page): Html =>
  html`<nav aria-label="Documentation">${sections.map(
    ({ title, links }) =>
      html`<h2>${title}</h2><ul>${links.map(
        (link) =>
          html`<li><a href="${siteAddress(link.path)}"${link.path === page.path ? html` aria-current="page"` : ''}>${link.title}</a></li>`,
      )}</ul>`,
  )}</nav>`

/** The content, with a list of its headings below the title for screens without the list beside it. */
function withContents({ content, headings = [], isWide }: Page): Piece {
  if (headings.length < 2) return content
  const links = headings.map(({ anchor, title }) => html`<li><a href="#${anchor}">${title}</a></li>`)
  const list = html`<details class="contents${isWide ? ' always' : ''}"><summary>On this page</summary><ul>${links}</ul></details>`
  const [before, after] = splitAfterTitle(html`${content}`.text)
  return html`${new Html(before)}${list}${new Html(after)}`
}

/** The text up to the end of the first heading and of a lead below it, and the rest. */
function splitAfterTitle(text: string): [string, string] {
  const end = /^\s*<h1>[\s\S]*?<\/h1>(?:\s*<p class="lead">[\s\S]*?<\/p>)?/.exec(text)?.[0].length ?? 0
  return [text.slice(0, end), text.slice(end)]
}

const aside = ({ headings = [], hasMarkdown, path, isWide }: Page): Html | '' =>
  isWide
    ? ''
    : html`<aside>${
        headings.length > 1
          ? html`<h2>On this page</h2><ul>${headings.map(({ anchor, title }) => html`<li><a href="#${anchor}">${title}</a></li>`)}</ul>`
          : ''
      }${hasMarkdown ? html`<p><a href="${markdownAddress(path)}">This page as Markdown</a></p>` : ''}</aside>`

/** A link to the page that follows in the navigation. */
function nextLink(sections: Section[], page: Page): Html | '' {
  const links = sections.flatMap((section) => section.links)
  const place = links.findIndex(({ path }) => path === page.path)
  const next = place < 0 ? undefined : links[place + 1]
  return next && page.hasMarkdown ? html`<p class="next"><a href="${siteAddress(next.path)}"><span>Next</span> ${next.title}</a></p>` : ''
}
