// Renders Markdown of this repository as HTML. Raw HTML in it is shown as text, and every value is escaped.
import { marked, type Token, type Tokens } from 'marked'
import { type Html, html, type Piece } from '../../core/html.ts'
import { type CodeBlock, codeFigure, isSample, sampleGroup } from './code.ts'

/** A heading with the text and the code below it, up to the next heading. The part before the first heading has an empty title. */
export type Part = { anchor: string; title: string; depth: number; text: string; code: string }

export type Rendered = { html: Html; parts: Part[] }

/** The address for the target of a link or an image. */
export type Resolve = (target: string) => string

export const parseMarkdown = (markdown: string): Token[] => marked.lexer(markdown)

/** The page without its first heading, which the layout shows. */
export function renderMarkdown(tokens: Token[], resolve: Resolve): Rendered {
  const anchors = new Map<string, number>()
  const parts: Part[] = [{ anchor: '', title: '', depth: 1, text: '', code: '' }]
  const pieces: Piece[] = []
  for (const block of joinSamples(tokens)) {
    if (Array.isArray(block)) {
      pieces.push(sampleGroup(block))
      for (const sample of block) addText(parts, sample)
    } else if (block.type === 'heading') {
      const { depth, text: title } = plain(block as Tokens.Heading)
      const anchor = nextAnchor(title, anchors)
      if (depth === 1) continue
      parts.push({ anchor, title, depth, text: '', code: '' })
      const tag = `h${Math.min(depth, 4)}`
      pieces.push(html`<${tag} id="${anchor}"><a href="#${anchor}">${inline((block as Tokens.Heading).tokens, resolve)}</a></${tag}>`)
    } else {
      pieces.push(renderBlock(block, resolve))
      addText(parts, block)
    }
  }
  return { html: html`${pieces}`, parts }
}

const plain = ({ depth, tokens }: Tokens.Heading) => ({ depth, text: tokens.map(textOf).join('') })

function addText(parts: Part[], token: Token): void {
  const last = parts.at(-1) as Part
  const kind = token.type === 'code' ? 'code' : 'text'
  last[kind] = `${last[kind]} ${textOf(token)}`.trim()
}

/** The anchor that GitHub gives the heading. */
function nextAnchor(title: string, taken: Map<string, number>): string {
  const slug = title
    .toLowerCase()
    .replace(/[^\p{L}\p{N}\s_-]/gu, '')
    .trim()
    .replace(/\s/g, '-')
  const times = taken.get(slug) ?? 0
  taken.set(slug, times + 1)
  return times === 0 ? slug : `${slug}-${times}`
}

/** Code blocks of several languages that follow each other are one group. */
function joinSamples(tokens: Token[]): (Token | CodeBlock[])[] {
  const joined: (Token | CodeBlock[])[] = []
  for (const token of tokens) {
    if (token.type === 'space') continue
    const last = joined.at(-1)
    if (!isSample(token)) joined.push(token)
    else if (Array.isArray(last) && last.every(({ lang }) => lang !== token.lang)) last.push(token)
    else joined.push([token])
  }
  return joined
}

function renderBlock(token: Token, resolve: Resolve): Piece {
  switch (token.type) {
    case 'paragraph':
      return html`<p>${inline(token.tokens ?? [], resolve)}</p>`
    case 'text':
      return token.tokens ? inline(token.tokens, resolve) : token.text
    case 'code':
      return codeFigure(token as CodeBlock)
    case 'list':
      return list(token as Tokens.List, resolve)
    case 'table':
      return table(token as Tokens.Table, resolve)
    case 'blockquote':
      return html`<blockquote>${(token.tokens ?? []).map((inner) => renderBlock(inner, resolve))}</blockquote>`
    case 'hr':
      return html`<hr>`
    case 'space':
    case 'def':
      return ''
    case 'html':
      return token.raw.startsWith('<!--') ? '' : html`<p>${token.raw}</p>`
    default:
      return inline([token], resolve)
  }
}

function list({ ordered, items }: Tokens.List, resolve: Resolve): Html {
  const content = items.map((item) => html`<li>${item.tokens.map((inner) => renderBlock(inner, resolve))}</li>`)
  return ordered ? html`<ol>${content}</ol>` : html`<ul>${content}</ul>`
}

const table = ({ header, rows }: Tokens.Table, resolve: Resolve): Html =>
  html`<div class="table" tabindex="0"><table><thead><tr>${header.map((cell) => html`<th>${inline(cell.tokens, resolve)}</th>`)}</tr></thead><tbody>${rows.map(
    (row) => html`<tr>${row.map((cell) => html`<td>${inline(cell.tokens, resolve)}</td>`)}</tr>`,
  )}</tbody></table></div>`

const inline = (tokens: Token[], resolve: Resolve): Piece[] => tokens.map((token) => renderInline(token, resolve))

function renderInline(token: Token, resolve: Resolve): Piece {
  switch (token.type) {
    case 'strong':
      return html`<strong>${inline(token.tokens ?? [], resolve)}</strong>`
    case 'em':
      return html`<em>${inline(token.tokens ?? [], resolve)}</em>`
    case 'del':
      return html`<del>${inline(token.tokens ?? [], resolve)}</del>`
    case 'codespan':
      return html`<code>${token.text}</code>`
    case 'link':
      // An address without brackets is an example, such as that of a local server.
      if (!token.raw.startsWith('[')) return decode(token.text)
      return html`<a href="${safeAddress(resolve(token.href))}">${inline(token.tokens ?? [], resolve)}</a>`
    case 'image':
      return html`<img src="${safeAddress(resolve(token.href))}" alt="${token.text}" loading="lazy">`
    case 'br':
      return html`<br>`
    default:
      return textOf(token)
  }
}

/** Links lead to web pages, mail and places in this site. Any other scheme is dropped. */
const safeAddress = (address: string): string => (/^(https?:|mailto:|[/#])/i.test(address) ? address : '#')

/** The text that a reader sees, for the search and for descriptions. */
export function textOf(token: Token): string {
  if (token.type === 'table') {
    const { header, rows } = token as Tokens.Table
    return [header, ...rows].map((row) => row.map((cell) => cell.tokens.map(textOf).join('')).join(' ')).join('\n')
  }
  if (token.type === 'list') return (token as Tokens.List).items.map((item) => item.tokens.map(textOf).join(' ')).join('\n')
  if ('tokens' in token && token.tokens) return token.tokens.map(textOf).join('')
  if (token.type === 'text') return decode(token.text)
  return 'text' in token ? token.text : ''
}

const decode = (text: string): string => text.replace(/&(lt|gt|amp|quot);/g, (_, name: string) => entities[name] as string)

const entities: Record<string, string> = { lt: '<', gt: '>', amp: '&', quot: '"' }
