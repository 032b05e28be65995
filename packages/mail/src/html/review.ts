// Reads an HTML body for its approver: all its text, with marks where recipients do not see it, and the styles that may change it.
import { type DefaultTreeAdapterMap, defaultTreeAdapter, parse, parseFragment } from 'parse5'
import { cutText } from '../mime/storable-text.ts'
import { findImages } from './images.ts'
import { shownLink } from './review-links.ts'
import { findRiskyStyles, type Look, lookOf, plainLook, readSheets } from './review-styles.ts'
import type { StyleSheet } from './styles.ts'
import { HTML_CHARACTERS_MAX, isBlock } from './text.ts'

/** `hidden` are texts that recipients do not see. `styles` are properties that can hide, move or add text. Both are cut. */
export type ReviewedHtml = { text: string; hidden: string[]; styles: string[]; images: string[] }

type Node = DefaultTreeAdapterMap['node']
type Element = DefaultTreeAdapterMap['element']

/** Browsers stop nesting at this depth. Deeper HTML is shown as its source. */
const depthMax = 512
const shownMax = 10
const shownCharactersMax = 200

const unshown = new Set(['script', 'style', 'title', 'head'])

class TooDeep extends Error {}

/** All text of an HTML body as browsers parse it (HTML standard, section 13.2). Its cost is bounded by the depth of nesting. */
export function reviewHtml(source: string): ReviewedHtml {
  const html = cutText(source, HTML_CHARACTERS_MAX)
  const images = findImages(html)
  try {
    const root = parse(html, { scriptingEnabled: false, treeAdapter: boundedAdapter() })
    const reader = new Reader(readSheets(root))
    const { text, hidden, styles } = reader.read(root)
    return { text, hidden: shortened(hidden), styles: shortened(styles), images }
  } catch (error) {
    if (!(error instanceof TooDeep)) throw error
    return { text: html, hidden: [], styles: ['nested too deeply to be read'], images }
  }
}

function boundedAdapter(): typeof defaultTreeAdapter {
  let depth = 0
  return {
    ...defaultTreeAdapter,
    onItemPush: () => {
      if (++depth > depthMax) throw new TooDeep()
    },
    onItemPop: () => {
      depth--
    },
  }
}

type Step = { node: Node; look: Look } | { end: () => void }

class Reader {
  readonly #sheet: StyleSheet
  readonly #pieces: string[] = []
  readonly #hidden: string[] = []
  readonly #styles = new Set<string>()
  #isHiddenOpen = false
  #base: string | undefined

  constructor({ sheet, risky }: ReturnType<typeof readSheets>) {
    this.#sheet = sheet
    for (const one of risky) this.#styles.add(one)
  }

  read(root: Node): { text: string; hidden: string[]; styles: string[] } {
    const steps: Step[] = [{ node: root, look: plainLook }]
    for (let step = steps.pop(); step !== undefined; step = steps.pop()) {
      if ('end' in step) step.end()
      else steps.push(...this.#enter(step.node, step.look).reverse())
    }
    this.#showAgain()
    const text = this.#pieces
      .join('')
      .replace(/[ \t]*\n[ \t]*/g, '\n')
      .replace(/\n{3,}/g, '\n\n')
      .trim()
    return { text, hidden: this.#hidden, styles: [...this.#styles] }
  }

  /** Writes the beginning of a node. Returns the steps that follow. */
  #enter(node: Node, look: Look): Step[] {
    if (node.nodeName === '#text') {
      this.#write((node as DefaultTreeAdapterMap['textNode']).value, look)
      return []
    }
    if (node.nodeName === '#comment') return this.#enterComment((node as DefaultTreeAdapterMap['commentNode']).data, look)
    if (!('tagName' in node)) return 'childNodes' in node ? childrenOf(node, look) : []
    return this.#enterElement(node, look)
  }

  /** Outlook shows the content of `<!--[if mso]>…<![endif]-->`. */
  #enterComment(data: string, look: Look): Step[] {
    const inner = /^\[if\b[^\]]*\]>([\s\S]*?)(?:<!\[endif\]|$)/i.exec(data)?.[1]
    if (inner === undefined) return []
    return childrenOf(parseFragment(inner, { scriptingEnabled: false, treeAdapter: boundedAdapter() }), { ...look, isGone: true })
  }

  #enterElement(element: Element, outer: Look): Step[] {
    const name = element.tagName
    if (name === 'base') this.#base ??= attributeOf(element, 'href')
    if (name === 'meta' && /^refresh$/i.test(attributeOf(element, 'http-equiv') ?? '')) this.#styles.add('meta refresh')
    if (name === 'bdo') this.#styles.add('bdo')
    if (unshown.has(name))
      return name === 'head' ? childrenOf(element, outer).filter((step) => 'node' in step && step.node.nodeName !== 'title') : []
    for (const one of findRiskyStyles(attributeOf(element, 'style') ?? '')) this.#styles.add(one)
    const look = lookOf(element, outer, this.#sheet)
    if (name === 'template') return childrenOf((element as DefaultTreeAdapterMap['template']).content, { ...look, isGone: true })
    const isOnOwnLine = isBlock(name) || name === 'dialog' || name === 'hr'
    if (isOnOwnLine) this.#pieces.push('\n')
    this.#mark(element, look)
    const closed = name === 'details' && attributeOf(element, 'open') === undefined
    const steps = childrenOf(element, look).map((step) =>
      closed && 'node' in step && step.node.nodeName !== 'summary' ? { ...step, look: { ...look, isGone: true } } : step,
    )
    const link = ['a', 'area', 'form'].includes(name) ? shownLink(element, this.#base) : null
    if (link !== null) steps.push({ end: () => this.#pieces.push(` <${link}>`) })
    if (isOnOwnLine) steps.push({ end: () => this.#pieces.push('\n') })
    return steps
  }

  /** Writes what stands for an element, or before its content. */
  #mark(element: Element, look: Look): void {
    const name = element.tagName
    if (name === 'br') this.#pieces.push('\n')
    else if (name === 'hr') this.#write('---', look)
    else if (name === 'td' || name === 'th') this.#pieces.push('\t')
    else if (name === 'li') this.#write(`${markerOf(element)} `, look)
    else if (name === 'img' || name === 'image')
      this.#write(`[image${attributeOf(element, 'alt') ? `: ${attributeOf(element, 'alt')}` : ''}]`, look)
    else if (name === 'input' || name === 'button') {
      const isHidden = /^hidden$/i.test(attributeOf(element, 'type') ?? '')
      this.#write(attributeOf(element, 'value') ?? attributeOf(element, 'placeholder') ?? '', isHidden ? { ...look, isGone: true } : look)
    } else if (name === 'iframe' || name === 'frame') this.#write(`[frame: ${attributeOf(element, 'src') ?? 'inline'}]`, look)
  }

  #write(value: string, look: Look): void {
    const text = look.isPre ? value.replace(/\r\n?/g, '\n') : value.replace(/[\s\u00a0]+/g, ' ')
    if (text.trim() === '') {
      if (text !== '' && !this.#isHiddenOpen) this.#pieces.push(' ')
      return
    }
    if (!isHidden(look)) this.#showAgain()
    else if (this.#isHiddenOpen) this.#hidden.push(`${this.#hidden.pop() ?? ''} ${text}`)
    else {
      this.#pieces.push('[not shown: ')
      this.#isHiddenOpen = true
      this.#hidden.push(text)
    }
    this.#pieces.push(text)
  }

  #showAgain(): void {
    if (this.#isHiddenOpen) this.#pieces.push(']')
    this.#isHiddenOpen = false
  }
}

const isHidden = ({ isGone, isInvisible, isTiny, color, background }: Look): boolean =>
  isGone || isInvisible || isTiny || color === 'transparent' || color === background

const childrenOf = (parent: DefaultTreeAdapterMap['parentNode'], look: Look): Step[] => parent.childNodes.map((node) => ({ node, look }))

const attributeOf = ({ attrs }: Element, name: string): string | undefined => attrs.find((one) => one.name === name)?.value

/** The marker of a list item. Numbers begin where the list says. */
function markerOf(item: Element): string {
  const list = item.parentNode as Element | null
  if (list?.tagName !== 'ol') return '-'
  const own = Number.parseInt(attributeOf(item, 'value') ?? '', 10)
  if (Number.isInteger(own)) return `${own}.`
  const start = Number.parseInt(attributeOf(list, 'start') ?? '1', 10)
  const before = list.childNodes.filter(({ nodeName }) => nodeName === 'li').indexOf(item)
  return `${(Number.isInteger(start) ? start : 1) + before}.`
}

const shortened = (texts: string[]): string[] =>
  [...new Set(texts.map((text) => text.replace(/\s+/g, ' ').trim()))]
    .filter((text) => text !== '')
    .slice(0, shownMax)
    .map((text) => (text.length > shownCharactersMax ? `${text.slice(0, shownCharactersMax - 1)}…` : text))
