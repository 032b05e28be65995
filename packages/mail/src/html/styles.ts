// Parses the CSS that affects the visibility of text: declarations, simple selectors of style elements, colours and sizes.

/** The declarations of one element. Undefined where it has none. */
export type Style = {
  /** The element and all its descendants are hidden, whatever their own styles. */
  isGone: boolean
  /** Inherited. Descendants can override it. */
  isInvisible: boolean | undefined
  fontSize: 'tiny' | 'normal' | 'relative' | undefined
  /** `r,g,b`, `transparent`, or `unknown`. */
  color: string | undefined
  background: string | undefined
}

export const noStyle: Style = { isGone: false, isInvisible: undefined, fontSize: undefined, color: undefined, background: undefined }

/** CSS without its comments, which may stand between any two tokens. One that is not closed goes on to the end. */
export const withoutComments = (css: string): string => (css.includes('/*') ? css.replace(/\/\*[\s\S]*?(?:\*\/|$)/g, ' ') : css)

const declarationsMax = 60
const styleCharactersMax = 4096

/** The visibility styles of a list of declarations. `display: none` is ignored for elements that a media query may show. */
export function readStyle(text: string, isResponsive = false): Style {
  if (text === '') return noStyle
  const found = new Map<string, string>()
  for (const declaration of withoutComments(text.slice(0, styleCharactersMax)).split(';', declarationsMax)) {
    const colon = declaration.indexOf(':')
    if (colon < 0) continue
    const value = declaration
      .slice(colon + 1)
      .replace(/!\s*important/i, '')
      .trim()
      .toLowerCase()
    found.set(declaration.slice(0, colon).trim().toLowerCase(), value)
  }
  const get = (name: string): string => found.get(name) ?? ''
  const isClipped = get('overflow') === 'hidden'
  const isZero = (name: string) => /^0(?:\.0+)?(?:px|pt|em|rem|%)?$/.test(get(name))
  const isFarOff = (name: string) => /^-\d{4,}(?:\.\d+)?(?:px|pt)?$|^-\d{3,}(?:em|rem|vw|vh|%)$/.test(get(name))
  const isGone =
    (get('display') === 'none' && !isResponsive) ||
    /^0?\.0*$|^0(?:\.0+\d?)?%?$/.test(get('opacity')) ||
    (isClipped && (isZero('max-height') || isZero('height') || isZero('max-width') || isZero('width')) && !isResponsive) ||
    isFarOff('text-indent') ||
    (/^(?:absolute|fixed)$/.test(get('position')) && ['left', 'top', 'right', 'bottom'].some(isFarOff)) ||
    isFarOff('margin-left') ||
    /^rect\(0(?:px)?[ ,]+0(?:px)?[ ,]+0(?:px)?[ ,]+0(?:px)?\)$/.test(get('clip'))
  const visibility = get('visibility')
  const size = get('font-size') || (/(?:^|\s)([\d.]+(?:px|pt|em|rem|%)?)(?:\/|\s|$)/.exec(get('font'))?.[1] ?? '')
  const background = get('background-color') || get('background')
  return {
    isGone,
    isInvisible: visibility === '' ? undefined : visibility === 'hidden' || visibility === 'collapse',
    fontSize: sizeOf(size),
    color: found.has('color') ? colorOf(get('color')) : undefined,
    background: background === '' ? undefined : colorOf(background),
  }
}

/** Merges declarations of one element. Later ones override earlier ones. */
export const mergeStyles = (first: Style, second: Style): Style => ({
  isGone: first.isGone || second.isGone,
  isInvisible: second.isInvisible ?? first.isInvisible,
  fontSize: second.fontSize ?? first.fontSize,
  color: second.color ?? first.color,
  background: second.background ?? first.background,
})

function sizeOf(text: string): Style['fontSize'] {
  const match = /^(\d*\.?\d+)(px|pt|em|rem|%|)$/.exec(text)
  if (!match) return text === '' ? undefined : 'normal'
  const size = Number(match[1])
  if (match[2] === 'em' || match[2] === '%') return size < (match[2] === '%' ? 10 : 0.1) ? 'tiny' : 'relative'
  if (match[2] === 'rem') return size < 0.1 ? 'tiny' : 'normal'
  return size <= 1 ? 'tiny' : 'normal'
}

const namedColors: Record<string, string> = {
  white: '255,255,255',
  black: '0,0,0',
  snow: '255,250,250',
  ivory: '255,255,240',
  whitesmoke: '245,245,245',
  ghostwhite: '248,248,255',
  transparent: 'transparent',
}

/** A colour as `r,g,b`, `transparent`, or `unknown`. */
export function colorOf(text: string): string {
  const value = text.trim().toLowerCase()
  const named = namedColors[value]
  if (named !== undefined) return named
  const hex = /^#([0-9a-f]{3,8})\b/.exec(value)?.[1]
  if (hex !== undefined) {
    const wide = hex.length <= 4 ? [...hex].map((digit) => digit + digit).join('') : hex
    if (wide.length === 8 && wide.endsWith('00')) return 'transparent'
    return [0, 2, 4].map((at) => Number.parseInt(wide.slice(at, at + 2), 16)).join(',')
  }
  const rgb = /^rgba?\(\s*(\d{1,3})[\s,]+(\d{1,3})[\s,]+(\d{1,3})(?:[\s,/]+([\d.]+%?))?\s*\)/.exec(value)
  if (!rgb) return 'unknown'
  if (Number.parseFloat(rgb[4] as string) === 0) return 'transparent'
  return `${rgb[1]},${rgb[2]},${rgb[3]}`
}

/** True when two colours of `colorOf` are indistinguishable on a screen. */
export function isSameColor(one: string, other: string): boolean {
  // Other words than numbers are not a number, which equals nothing.
  const [a, b] = [one.split(',').map(Number), other.split(',').map(Number)]
  return a.every((value, index) => Math.abs(value - (b[index] as number)) <= 6)
}

/** The rules of the style elements of a message with a single class, id or element name as selector. */
export type StyleSheet = {
  rules: Map<string, Style>
  /** Classes in media queries. A hidden element with such a class may be visible on another screen. */
  responsive: Set<string>
  /** True when any background is declared, so that an undeclared background may not be white. */
  hasBackgrounds: boolean
}

const sheetCharactersMax = 128 * 1024
const rulesMax = 2000

/** Adds the rules of one style element. Linear. */
export function readStyleSheet(css: string, sheet: StyleSheet): void {
  const text = withoutComments(css.slice(0, sheetCharactersMax))
  if (/background/i.test(text)) sheet.hasBackgrounds = true
  let depth = 0
  let start = 0
  let mediaStart = -1
  let selector = ''
  for (let at = 0; at < text.length && sheet.rules.size < rulesMax; at++) {
    const character = text[at]
    if (character === '{') {
      if (depth === 0) {
        selector = text.slice(start, at).trim()
        mediaStart = selector.startsWith('@') ? at + 1 : -1
        start = at + 1
      }
      depth++
    } else if (character === '}' && depth > 0) {
      depth--
      if (depth > 0) continue
      if (mediaStart >= 0)
        for (const [, name] of text.slice(mediaStart, at).matchAll(/\.([\w-]{1,100})/g)) sheet.responsive.add(name as string)
      else addRule(selector, text.slice(start, at), sheet)
      start = at + 1
    }
  }
}

function addRule(selectors: string, declarations: string, sheet: StyleSheet): void {
  const simple = selectors
    .split(',', 50)
    .map((one) => one.trim())
    .filter((one) => /^[.#]?[\w-]{1,100}$/.test(one))
  if (simple.length === 0) return
  const style = readStyle(declarations)
  for (const one of simple) sheet.rules.set(one, mergeStyles(sheet.rules.get(one) ?? noStyle, style))
}
