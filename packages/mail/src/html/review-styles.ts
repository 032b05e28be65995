// The styles that a review needs: what hides the text of an element, and which properties can change what recipients read.
import type { DefaultTreeAdapterMap } from 'parse5'
import { colorOf, mergeStyles, noStyle, readStyle, readStyleSheet, type Style, type StyleSheet, withoutComments } from './styles.ts'

type Node = DefaultTreeAdapterMap['node']
type Element = DefaultTreeAdapterMap['element']

/** The look of the text of an element. Colours are `r,g,b`, or another value that equals no colour. */
export type Look = { isGone: boolean; isInvisible: boolean; isTiny: boolean; color: string; background: string; isPre: boolean }

export const plainLook: Look = { isGone: false, isInvisible: false, isTiny: false, color: '0,0,0', background: '255,255,255', isPre: false }

/** Properties that can hide, move or add text in ways that the look does not follow. */
const risky =
  /(?:^|[\s;{])((?:-webkit-)?(?:content|quotes|unicode-bidi|transform|clip(?:-path)?|mask(?:-image)?|order|writing-mode|animation(?:-name)?|text-fill-color|counter-(?:reset|set|increment)|offset-path|zoom|filter|letter-spacing|word-spacing))\s*:|(direction)\s*:\s*rtl|(position)\s*:\s*(?:absolute|fixed|sticky)|(list-style(?:-type)?)\s*:[^;}]*["']|(@import|@font-face)/gi
/** Properties of a style sheet whose selectors the look may not follow. */
const riskyInSheets = /(?:^|[\s;{])(display|visibility|opacity|overflow|font-size|max-height|text-indent)\s*:/gi
const sheetCharactersMax = 256 * 1024

/** Names of the properties, or of the rule. */
export function findRiskyStyles(text: string): string[] {
  if (text === '') return []
  return [...decoded(text).matchAll(risky)].map((match) => match.slice(1).find((group) => group !== undefined) as string)
}

/** CSS without comments and with its escapes decoded (CSS Syntax, section 4.3.7). */
const decoded = (css: string): string =>
  withoutComments(
    css
      .replace(/\\([0-9a-f]{1,6})\s?/gi, (_, hex: string) => {
        const code = Number.parseInt(hex, 16)
        return code > 0 && code <= 0x10ffff ? String.fromCodePoint(code) : '\ufffd'
      })
      .replace(/\\(?=\S)/g, ''),
  )

/** The style elements of a document in one sheet, and what they have that a review cannot follow. */
export function readSheets(root: Node): { sheet: StyleSheet; risky: string[] } {
  const sheet: StyleSheet = { rules: new Map(), responsive: new Set(), hasBackgrounds: false }
  const found = new Set<string>()
  let characters = 0
  const open: Node[] = [root]
  for (let node = open.pop(); node !== undefined; node = open.pop()) {
    if (node.nodeName === 'link') found.add('a linked style sheet')
    if (node.nodeName === 'style') {
      const css = decoded((node as Element).childNodes.map((child) => ('value' in child ? child.value : '')).join(''))
      characters += css.length
      if (characters > sheetCharactersMax) found.add('style sheets that are too long to be read')
      else {
        readStyleSheet(css, sheet)
        for (const name of findRiskyStyles(css)) found.add(name)
        for (const [, name] of css.matchAll(riskyInSheets)) found.add(name as string)
      }
    } else if ('childNodes' in node) open.push(...node.childNodes)
  }
  return { sheet, risky: [...found] }
}

/** The look of an element within another. */
export function lookOf(element: Element, outer: Look, sheet: StyleSheet): Look {
  const attribute = (name: string): string | undefined => element.attrs.find((one) => one.name === name)?.value
  const classes = (attribute('class') ?? '').split(/\s+/, 50).map((one) => `.${one}`)
  const names = [element.tagName, ...classes, `#${attribute('id') ?? ''}`]
  const ruled = names.reduce<Style>((style, name) => mergeStyles(style, sheet.rules.get(name) ?? noStyle), noStyle)
  const inline = decoded(attribute('style') ?? '')
  const style = mergeStyles(ruled, readStyle(inline))
  const display = [...inline.matchAll(/(?:^|;)\s*display\s*:\s*([a-z-]*)/gi)].at(-1)?.[1]
  const isClosed = element.tagName === 'dialog' && attribute('open') === undefined
  const isHidden = (attribute('hidden') !== undefined || isClosed) && (display === undefined || /^none$/i.test(display))
  const [color, background] = [attribute('color'), attribute('bgcolor')]
  return {
    isGone: outer.isGone || style.isGone || isHidden,
    isInvisible: style.isInvisible ?? outer.isInvisible,
    isTiny: style.fontSize === 'tiny' || (outer.isTiny && style.fontSize !== 'normal'),
    color: style.color ?? (color === undefined ? outer.color : colorOf(color)),
    background: style.background ?? (background === undefined ? outer.background : colorOf(background)),
    isPre: outer.isPre || element.tagName === 'pre' || element.tagName === 'textarea' || element.tagName === 'plaintext',
  }
}
