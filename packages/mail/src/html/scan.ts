// Scans HTML in one pass for visible text, hidden text, links and comments. No tree. Linear in the input.
import { decodeEntities } from './entities.ts'
import { colorOf, isSameColor, mergeStyles, noStyle, readStyle, readStyleSheet, type Style, type StyleSheet } from './styles.ts'
import { findAfter, findCommentEnd, findRawEnd, isMarkup, isRawElement, readAttribute, readAttributes, readTag } from './tags.ts'

export type ScannedHtml = {
  visible: string
  /** Hidden texts. `isFirst` is true when hardly any visible text precedes it, as for the previews of newsletters. */
  hidden: { text: string; isFirst: boolean }[]
  links: { href: string; text: string }[]
  comments: string
}

const htmlCharactersMax = 1024 * 1024
const hiddenCharactersMax = 64 * 1024
const hiddenTextsMax = 100
const linksMax = 500
const linkTextMax = 300
const commentsMax = 32 * 1024
const depthMax = 400
const previewCharactersMax = 60

const white = '255,255,255'
const voidElements = new Set('area base br col embed hr img input link meta param source track wbr'.split(' '))
// Elements that end an open paragraph.
const endsParagraph = new Set(
  'address article aside blockquote center details div dl fieldset figure footer form h1 h2 h3 h4 h5 h6 header hr main nav ol p pre section table ul'.split(
    ' ',
  ),
)

/** Cache limits: parsed styles, looks, and characters of a cached style. The elements of a message repeat a few styles. */
const stylesMax = 500
const looksMax = 2_000
const styledCharactersMax = 500

/** The look of the text of an element, with inherited styles. `inside` caches the looks of its children by their own style. */
type Look = {
  isGone: boolean
  isInvisible: boolean
  isTiny: boolean
  color: string
  background: string
  isHidden: boolean | null
  inside: Map<Style, Look> | null
}

type Open = { name: string; look: Look }

/** Scans an HTML body. Never throws. */
export function scanHtml(html: string): ScannedHtml {
  return new Scanner(html.slice(0, htmlCharactersMax)).scan()
}

class Scanner {
  readonly #html: string
  readonly #sheet: StyleSheet = { rules: new Map(), responsive: new Set(), hasBackgrounds: false }
  readonly #open: Open[] = []
  #skipped = 0
  readonly #styles = new Map<string, Style>()
  #looks = 0
  readonly #visible: string[] = []
  #visibleCharacters = 0
  readonly #hidden: { text: string; isFirst: boolean }[] = []
  #run: string[] = []
  #runIsFirst = false
  #hiddenCharacters = 0
  readonly #links: { href: string; text: string }[] = []
  #link: { href: string; text: string } | null = null
  readonly #comments: string[] = []
  #commentCharacters = 0
  #look: Look = {
    isGone: false,
    isInvisible: false,
    isTiny: false,
    color: '0,0,0',
    background: white,
    isHidden: null,
    inside: null,
  }

  constructor(html: string) {
    this.#html = html
  }

  scan(): ScannedHtml {
    const html = this.#html
    // Style elements first, because they may follow the elements that they style.
    for (const match of html.matchAll(/<style(?=[\s>])/gi)) {
      const end = findRawEnd(html, 'style', match.index)
      readStyleSheet(html.slice(findAfter(html, '>', match.index), end), this.#sheet)
      if (end === html.length) break
    }
    let at = 0
    while (at < html.length) {
      let open = html.indexOf('<', at)
      while (open >= 0 && !isMarkup(html.charCodeAt(open + 1))) open = html.indexOf('<', open + 1)
      if (open < 0) open = html.length
      this.#text(html.slice(at, open))
      at = open < html.length ? this.#markup(open) : open
    }
    this.#endRun()
    this.#endLink()
    return { visible: this.#visible.join(''), hidden: this.#hidden, links: this.#links, comments: this.#comments.join('\n') }
  }

  #markup(open: number): number {
    const html = this.#html
    if (html.startsWith('<!--', open)) {
      const end = findCommentEnd(html, open)
      if (this.#commentCharacters < commentsMax) {
        const comment = html
          .slice(open + 4, end)
          .replace(/(?:^-?>|--!?>)$/, '')
          .slice(0, commentsMax - this.#commentCharacters)
        this.#comments.push(comment)
        this.#commentCharacters += comment.length
      }
      return end
    }
    const tag = readTag(html, open)
    if (typeof tag === 'number') return tag
    const { name, isEnd, attributes, tagEnd } = tag
    if (isEnd) this.#end(name)
    else {
      if (isRawElement(name) && !attributes.endsWith('/')) return findRawEnd(html, name, tagEnd + 1)
      this.#start(name, attributes)
    }
    return tagEnd + 1
  }

  #start(name: string, attributes: string): void {
    if (endsParagraph.has(name) && this.#open.at(-1)?.name === 'p') this.#pop()
    if (name === 'br' || endsParagraph.has(name) || name === 'td' || name === 'tr' || name === 'li') this.#text(' ')
    if (name === 'img') this.#text(decodeEntities(readAttribute(attributes, 'alt') ?? ''))
    if (voidElements.has(name)) return
    if (this.#open.length >= depthMax) {
      this.#skipped++
      return
    }
    this.#open.push({ name, look: this.#look })
    const style = name === 'a' ? linkStyleOf(this.#styleOf(name, attributes)) : this.#knownStyleOf(name, attributes)
    if (style !== noStyle) this.#enter(this.#inside(style))
    if (name === 'a') {
      this.#endLink()
      const href = decodeEntities((readAttribute(attributes, 'href') ?? '').trim())
      if (href !== '') this.#link = { href: href.slice(0, 2000), text: '' }
    }
  }

  #knownStyleOf(name: string, attributes: string): Style {
    return this.#keep(`${name} ${attributes}`, () => this.#styleOf(name, attributes))
  }

  #keep(key: string, read: () => Style): Style {
    const known = this.#styles.get(key)
    if (known) return known
    const style = read()
    if (key.length <= styledCharactersMax && this.#styles.size < stylesMax) this.#styles.set(key, style)
    return style
  }

  #styleOf(name: string, written: string): Style {
    const { rules, responsive } = this.#sheet
    let style = rules.get(name) ?? noStyle
    if (!/[a-z]/i.test(written)) return style
    const attributes = readAttributes(written)
    const classes = (attributes.get('class') ?? '').split(/\s+/, 50)
    const isResponsive = classes.some((one) => responsive.has(one))
    for (const one of classes) {
      const rule = rules.get(`.${one}`)
      if (rule && !(isResponsive && rule.isGone)) style = mergeStyles(style, rule)
    }
    const byId = rules.get(`#${attributes.get('id')}`)
    if (byId && attributes.has('id')) style = mergeStyles(style, byId)
    const [color, background] = [name === 'font' ? attributes.get('color') : undefined, attributes.get('bgcolor')]
    if (color !== undefined) style = mergeStyles(style, { ...noStyle, color: colorOf(color) })
    if (background !== undefined) style = mergeStyles(style, { ...noStyle, background: colorOf(background) })
    if (attributes.has('background')) style = mergeStyles(style, { ...noStyle, background: 'unknown' })
    const inline = attributes.get('style')
    if (inline !== undefined) style = mergeStyles(style, this.#readInline(inline, isResponsive))
    if (attributes.has('hidden') && !isResponsive) style = mergeStyles(style, { ...noStyle, isGone: true })
    return style
  }

  #readInline(text: string, isResponsive: boolean): Style {
    return this.#keep(`${isResponsive ? 'style?' : 'style'}=${text}`, () => readStyle(decodeEntities(text), isResponsive))
  }

  #inside(style: Style): Look {
    const outer = this.#look
    const known = outer.inside?.get(style)
    if (known) return known
    const { fontSize } = style
    const look: Look = {
      isGone: outer.isGone || style.isGone,
      isInvisible: style.isInvisible ?? outer.isInvisible,
      isTiny: fontSize === undefined || (fontSize === 'relative' && outer.isTiny) ? outer.isTiny : fontSize === 'tiny',
      color: style.color ?? outer.color,
      background: style.background === undefined || style.background === 'transparent' ? outer.background : style.background,
      isHidden: null,
      inside: null,
    }
    if (this.#looks < looksMax) {
      this.#looks++
      outer.inside ??= new Map()
      outer.inside.set(style, look)
    }
    return look
  }

  #end(name: string): void {
    if (name === 'a') this.#endLink()
    if (endsParagraph.has(name) || name === 'td' || name === 'tr' || name === 'li') this.#text(' ')
    if (this.#skipped > 0) {
      this.#skipped--
      return
    }
    // Searched near the top of the stack only. An end tag without a start tag is ignored.
    for (let index = this.#open.length - 1, seen = 0; index >= 0 && seen < 40; index--, seen++) {
      if (this.#open[index]?.name !== name) continue
      while (this.#open.length > index) this.#pop()
      return
    }
  }

  #pop(): void {
    this.#enter((this.#open.pop() as Open).look)
  }

  #enter(look: Look): void {
    const [was, is] = [this.#isHidden(this.#look), this.#isHidden(look)]
    this.#look = look
    if (was && !is) this.#endRun()
  }

  #isHidden(look: Look): boolean {
    look.isHidden ??= this.#hides(look)
    return look.isHidden
  }

  #hides(look: Look): boolean {
    if (look.isGone || look.isInvisible || look.isTiny || look.color === 'transparent') return true
    if (look.background === white && this.#sheet.hasBackgrounds && look.color === white) return false
    return isSameColor(look.color, look.background)
  }

  #text(raw: string): void {
    if (raw === '') return
    const text = decodeEntities(raw)
    if (!this.#isHidden(this.#look)) {
      this.#visible.push(text)
      this.#visibleCharacters += text.trim().length
      if (this.#link && this.#link.text.length < linkTextMax) this.#link.text = (this.#link.text + text).slice(0, linkTextMax)
      return
    }
    if (this.#hiddenCharacters >= hiddenCharactersMax) return
    this.#runIsFirst = this.#visibleCharacters <= previewCharactersMax
    this.#run.push(text)
    this.#hiddenCharacters += text.length
  }

  #endRun(): void {
    const text = this.#run.join('').replace(/\s+/g, ' ').trim()
    this.#run = []
    if (text !== '' && this.#hidden.length < hiddenTextsMax) this.#hidden.push({ text, isFirst: this.#runIsFirst })
  }

  #endLink(): void {
    if (this.#link && this.#links.length < linksMax) this.#links.push({ ...this.#link, text: this.#link.text.replace(/\s+/g, ' ').trim() })
    this.#link = null
  }
}

/** Mail programs show links without a declared colour in a colour of their own. */
const linkStyleOf = (style: Style): Style =>
  style.color === undefined ? (style === noStyle ? linkStyle : { ...style, color: 'unknown' }) : style
const linkStyle: Style = { ...noStyle, color: 'unknown' }
