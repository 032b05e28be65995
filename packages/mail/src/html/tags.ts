// Finds tags, their ends and their attributes in HTML, without a tree.

// Elements with raw content, which extends to the end tag and is not displayed.
const RAW = new Set([
  'script',
  'style',
  'title',
  'textarea',
  'xmp',
  'iframe',
  'noembed',
  'noframes',
  'template',
  'svg',
  'math',
  'object',
  'select',
])
/** True for an element with raw content, which extends to its end tag. */
export function isRawElement(name: string): boolean {
  return RAW.has(name)
}

/** The offset after the next `character`, or the end of the HTML. */
export function findAfter(html: string, character: string, from: number): number {
  const index = html.indexOf(character, from)
  return index < 0 ? html.length : index + 1
}

/** True when a `<` before this character code starts markup. */
export function isMarkup(code: number): boolean {
  return isLetter(code) || code === 0x21 || code === 0x2f || code === 0x3f
}

/** True for the character code of an ASCII letter. */
function isLetter(code: number): boolean {
  return (code >= 0x61 && code <= 0x7a) || (code >= 0x41 && code <= 0x5a)
}

/** True for a character code of a tag name, which ends at white space, "/" or ">" (HTML standard, tag name state). */
function isNameCharacter(code: number): boolean {
  return code > 0x20 && code !== 0x2f && code !== 0x3e
}

/** The offset after a comment, or the end of the HTML. `<!-->` and `<!--->` are whole ones, and `--!>` ends one too (HTML standard, section 13.2.5). */
export function findCommentEnd(html: string, open: number): number {
  commentEnd.lastIndex = open + 2
  for (let match = commentEnd.exec(html); match !== null; match = commentEnd.exec(html))
    if (match[0] === '-->' || match.index >= open + 4) return commentEnd.lastIndex
  return html.length
}
const commentEnd = /--!?>/g

/** The offset of the `>` that ends a tag, outside quoted attribute values, or the end of the HTML (HTML standard, sections 13.2.5.32 to 13.2.5.39). */
function findTagEnd(html: string, from: number): number {
  let at = from
  let state: 'before name' | 'name' | 'after name' | 'before value' | 'value' = 'before name'
  while (at < html.length) {
    const code = html.charCodeAt(at)
    if (code === 0x3e) return at
    const isSpace = code <= 0x20
    if (state === 'before value') {
      if (code === 0x22 || code === 0x27) {
        at = html.indexOf(code === 0x22 ? '"' : "'", at + 1)
        if (at < 0) return html.length
        state = 'before name'
      } else if (!isSpace) state = 'value'
    } else if (state === 'value') {
      if (isSpace) state = 'before name'
    } else if (code === 0x2f) state = 'before name'
    else if (code === 0x3d && state !== 'before name') state = 'before value'
    else if (!isSpace) state = 'name'
    else if (state === 'name') state = 'after name'
    at++
  }
  return html.length
}

/** A tag: its name in lower case, the raw text after the name, and the offset of its `>`. */
export type Tag = { name: string; isEnd: boolean; attributes: string; tagEnd: number }

/** The tag at a `<` that starts markup other than a comment. For a declaration or a bogus end tag, the offset after it. */
export function readTag(html: string, open: number): Tag | number {
  const code = html.charCodeAt(open + 1)
  if (code === 0x21 || code === 0x3f) return findAfter(html, '>', open)
  const isEnd = code === 0x2f
  const nameStart = open + (isEnd ? 2 : 1)
  if (isEnd && !isLetter(html.charCodeAt(nameStart))) return findAfter(html, '>', open)
  let nameEnd = nameStart
  while (isNameCharacter(html.charCodeAt(nameEnd))) nameEnd++
  const name = html.slice(nameStart, Math.min(nameEnd, nameStart + 30)).toLowerCase()
  const tagEnd = findTagEnd(html, nameEnd)
  return { name, isEnd, attributes: html.slice(nameEnd, tagEnd), tagEnd }
}

const RAW_ENDS = new Map([...RAW].map((name) => [name, new RegExp(`</${name}(?=[\\s/>])`, 'gi')]))

/** The end of an element with raw content: after its end tag, or at the end of the HTML. */
export function findRawEnd(html: string, name: string, from: number): number {
  const pattern = RAW_ENDS.get(name)!
  pattern.lastIndex = from
  const match = pattern.exec(html)
  return match === null ? html.length : findAfter(html, '>', match.index)
}

const attributesMax = 8192

/** The attributes of a tag by lower-case name, with raw values. The first of a repeated name counts. Text after 8 KB is ignored. */
export function readAttributes(attributes: string): Map<string, string> {
  const found = new Map<string, string>()
  for (const [, name, double, single, bare] of attributes.slice(0, attributesMax).matchAll(attributePattern)) {
    const key = (name as string).toLowerCase()
    if (!found.has(key)) found.set(key, double ?? single ?? bare ?? '')
  }
  return found
}

/** The raw value of one attribute, or null. */
export function readAttribute(attributes: string, wanted: string): string | null {
  for (const [, name, double, single, bare] of attributes.slice(0, attributesMax).matchAll(attributePattern))
    if ((name as string).toLowerCase() === wanted) return double ?? single ?? bare ?? ''
  return null
}

const attributePattern = /([^\s=/"'>]+)(?:\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s"'>]+)))?/g

/** True for attributes that hide an element: a style whose last `display` is `none`, or `hidden` without a `display`. */
export function isHidden(attributes: string): boolean {
  if (!/hidden|none/i.test(attributes)) return false
  const style = (readAttribute(attributes, 'style') ?? '').slice(0, 4096)
  const display = [...style.matchAll(/(?:^|;)\s*display\s*:\s*([a-z-]*)/gi)].at(-1)?.[1]
  return display === undefined ? readAttribute(attributes, 'hidden') !== null : /^none$/i.test(display)
}

/**
 * True for a blockquote that its author wrote: the quotation and indentation buttons of Outlook and Gmail. Mail programs mark quoted mail by `cite`, a
 * class or a border.
 */
export function isIndent(attributes: string): boolean {
  if (!/quotedtext|border|margin/i.test(attributes) || readAttribute(attributes, 'cite') !== null) return false
  if (/^cite$/i.test(readAttribute(attributes, 'type') ?? '') || readAttribute(attributes, 'class') !== null) return false
  if (/QuotedText$/i.test(readAttribute(attributes, 'itemtype') ?? '')) return true
  const style = (readAttribute(attributes, 'style') ?? '').slice(0, 1000)
  return /(?:^|;)\s*border(?:-width)?\s*:\s*(?:none|0(?:px)?)\b/i.test(style) && !/border-left\s*:/i.test(style)
}
