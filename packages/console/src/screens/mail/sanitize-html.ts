// Reduces the HTML of mail to formatting. Scripts, forms, frames, and everything that loads or navigates by itself are removed.
import createPurifier, { type Config } from 'dompurify'
import { cleanDeclarations, cleanSheetText } from './sanitize-css.ts'

const words = (...lines: string[]): string[] => lines.join(' ').split(' ')

const allowedTags = words(
  'a abbr address article aside b bdi bdo big blockquote br caption center cite code col colgroup dd',
  'del dfn div dl dt em figcaption figure font footer h1 h2 h3 h4 h5 h6 header hr',
  'i img ins kbd li main mark nav ol p pre q s samp section small span strike',
  'strong sub sup table tbody td tfoot th thead time tr tt u ul var wbr xmp',
)

/** Removed with everything in them. Other unknown elements are replaced by their content. */
const removedTags = words(
  'applet audio base button canvas datalist dialog embed form frame frameset head iframe input keygen link map math',
  'meta meter noembed noframes noscript object optgroup option param picture portal progress script select slot source style svg template',
  'textarea title track video xml',
)

/** Their values are never addresses. */
const plainAttributes = words(
  'align alt bgcolor border cellpadding cellspacing class color colspan dir face height lang nowrap rel rowspan size span',
  'start target title type valign width',
)

const dataImage = /^data:image\/(png|jpeg|gif|webp|bmp);base64,[a-z0-9+/=\s]*$/i
const addressPattern = /^\s*(https?:|mailto:|cid:|data:image\/(png|jpeg|gif|webp|bmp);base64,)/i

export type SanitizeOptions = {
  areImagesShown: boolean
  /** Address of an attached image by its Content-ID, or null. */
  imageOf: (contentId: string) => string | null
}

export type SanitizedMail = { html: string; remoteImages: number }

/**
 * Parses without running or loading anything, and keeps allowed elements. The parsed document inherits the page's content security policy,
 * under which every style is reported as a violation. So styles have other names until the result is written.
 */
export function sanitizeMail(html: string, options: SanitizeOptions): SanitizedMail {
  const styleName = `data-${crypto.getRandomValues(new Uint32Array(2)).join('-')}`
  const found = { remoteImages: 0 }
  const purifier = createPurifier(window)
  purifier.addHook('uponSanitizeElement', (node) => {
    if (node instanceof HTMLElement && node.localName === 'xmp') cleanSheet(node, styleName)
  })
  purifier.addHook('afterSanitizeAttributes', (element) => cleanElement(element, { ...options, styleName }, found))
  const body = purifier
    .sanitize(renameStyles(html, styleName), configOf(styleName))
    .replaceAll(`<xmp ${styleName}="">`, '<style>')
    .replaceAll('</xmp>', '</style>')
    .replaceAll(styleName, 'style')
  const head = `<!doctype html><meta charset="utf-8"><meta name="viewport" content="width=device-width"><style>${frameStyle}</style>`
  return { html: `${head}<body>${body}<style>${fitStyle}</style></body>`, remoteImages: found.remoteImages }
}

const configOf = (styleName: string): Config & { RETURN_DOM?: false } => ({
  ALLOWED_TAGS: allowedTags,
  ALLOWED_ATTR: [...plainAttributes, 'href', 'src', styleName],
  ADD_URI_SAFE_ATTR: [...plainAttributes, styleName],
  ALLOWED_URI_REGEXP: addressPattern,
  ALLOWED_NAMESPACES: ['http://www.w3.org/1999/xhtml'],
  ALLOW_DATA_ATTR: false,
  ALLOW_ARIA_ATTR: false,
  FORBID_CONTENTS: removedTags,
})

/** `xmp` holds raw text, as `style` does. The random name occurs nowhere else, so that the renaming can be undone everywhere. */
const renameStyles = (html: string, styleName: string): string =>
  html
    .replace(/<style\b/gi, `<xmp ${styleName} `)
    .replace(/<\/style\b/gi, '</xmp')
    .replace(/<(\/?)base\b/gi, '<$1x-base')
    .replace(/\bstyle(\s*=)/gi, `${styleName}$1`)

type CleanOptions = SanitizeOptions & { styleName: string }

const frameStyle =
  'html{color-scheme:light;background:#fff;color:#1b1c1f;font:14px/1.5 system-ui,sans-serif}body{margin:16px;overflow-wrap:break-word}a,code{overflow-wrap:anywhere}'

/** The last style, so that the message fits into its frame whatever widths it asks for. */
const fitStyle =
  'img{max-width:100%!important;height:auto!important}pre{white-space:pre-wrap!important}' +
  'table,tbody,tr,td,th,div,p,center,section,article,blockquote{max-width:100%!important;min-width:0!important;box-sizing:border-box}'

/** A style sheet of the message, or an `xmp` element that the sender wrote. */
function cleanSheet(element: HTMLElement, styleName: string): void {
  if (!element.hasAttribute(styleName)) {
    element.remove()
    return
  }
  for (const { name } of [...element.attributes]) element.removeAttribute(name)
  element.setAttribute(styleName, '')
  element.textContent = cleanSheetText(element.textContent ?? '')
}

function cleanElement(element: Element, options: CleanOptions, found: { remoteImages: number }): void {
  const { styleName } = options
  const style = element.getAttribute(styleName)
  if (style !== null && element.localName !== 'xmp') element.setAttribute(styleName, cleanDeclarations(style))
  for (const name of ['target', 'rel']) element.removeAttribute(name)
  const href = element.getAttribute('href')
  if (href !== null) cleanLink(element, href)
  if (element.localName === 'img') cleanImage(element, options, found)
  else element.removeAttribute('src')
}

/** Links open in a new tab without a referrer. Their address is in the title. */
function cleanLink(element: Element, href: string): void {
  const isAllowed = element.localName === 'a' && URL.canParse(href) && ['http:', 'https:', 'mailto:'].includes(new URL(href).protocol)
  if (!isAllowed) {
    element.removeAttribute('href')
    return
  }
  element.setAttribute('target', '_blank')
  element.setAttribute('rel', 'noopener noreferrer nofollow')
  element.setAttribute('title', href)
}

function cleanImage(element: Element, options: SanitizeOptions, found: { remoteImages: number }): void {
  const source = (element.getAttribute('src') ?? '').trim()
  if (dataImage.test(source)) return
  if (/^cid:/i.test(source)) {
    const image = options.imageOf(safeDecode(source.slice(4)))
    if (image) element.setAttribute('src', image)
    else element.removeAttribute('src')
    return
  }
  if (/^https?:\/\//i.test(source)) found.remoteImages++
  if (!options.areImagesShown || !/^https?:\/\//i.test(source)) element.removeAttribute('src')
}

function safeDecode(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}
