// Reduces the HTML of mail to formatting. Scripts, forms, frames, and everything that loads or navigates by itself are removed.

const words = (...lines: string[]): ReadonlySet<string> => new Set(lines.join(' ').split(' '))

const allowedTags = words(
  'a abbr address article aside b bdi bdo big blockquote br caption center cite code col colgroup dd',
  'del dfn div dl dt em figcaption figure font footer h1 h2 h3 h4 h5 h6 header hr',
  'i img ins kbd li main mark nav ol p pre q s samp section small span strike',
  'strong sub sup table tbody td tfoot th thead time tr tt u ul var wbr',
)

/** Removed with everything in them. Other unknown elements are replaced by their content. */
const removedTags = words(
  'applet audio base button canvas datalist dialog embed form frame frameset head iframe input keygen link map math',
  'meta meter noembed noframes noscript object optgroup option param picture portal progress script select slot source svg template',
  'textarea title track video xml',
)

const allowedAttributes = words(
  'align alt bgcolor border cellpadding cellspacing class color colspan dir face height href lang nowrap rowspan size span',
  'src start title type valign width',
)

const dataImage = /^data:image\/(png|jpeg|gif|webp|bmp);base64,[a-z0-9+/=\s]*$/i

export type SanitizeOptions = {
  areImagesShown: boolean
  /** Address of an attached image by its Content-ID, or null. */
  imageOf: (contentId: string) => string | null
}

export type SanitizedMail = { html: string; remoteImages: number }

/**
 * Parses without running or loading anything, and writes allowed elements again. The parsed document inherits the page's content security
 * policy, under which every style is reported as a violation. So styles have other names until the result is written.
 */
export function sanitizeMail(html: string, options: SanitizeOptions): SanitizedMail {
  const styleName = `data-${crypto.getRandomValues(new Uint32Array(2)).join('-')}`
  const source = new DOMParser().parseFromString(renameStyles(html, styleName), 'text/html')
  const found = { remoteImages: 0 }
  // Styles in the head belong to the message.
  for (const style of source.head.querySelectorAll('xmp')) source.body.prepend(style)
  clean(source.body, { ...options, styleName }, found)
  const body = source.body.innerHTML
    .replaceAll(`<xmp ${styleName}="">`, '<style>')
    .replaceAll('</xmp>', '</style>')
    .replaceAll(styleName, 'style')
  return { html: `<!doctype html><meta charset="utf-8"><style>${frameStyle}</style><body>${body}</body>`, remoteImages: found.remoteImages }
}

/** `xmp` holds raw text, as `style` does. The random name occurs nowhere else, so that the renaming can be undone everywhere. */
const renameStyles = (html: string, styleName: string): string =>
  html
    .replace(/<style\b/gi, `<xmp ${styleName} `)
    .replace(/<\/style\b/gi, '</xmp')
    .replace(/<(\/?)base\b/gi, '<$1x-base')
    .replace(/\bstyle(\s*=)/gi, `${styleName}$1`)

type CleanOptions = SanitizeOptions & { styleName: string }

const frameStyle =
  'html{color-scheme:light;background:#fff;color:#1b1c1f;font:14px/1.5 system-ui,sans-serif}body{margin:16px;overflow-wrap:anywhere}img{max-width:100%;height:auto}'

function clean(parent: Element, options: CleanOptions, found: { remoteImages: number }): void {
  for (const node of [...parent.childNodes]) {
    if (node.nodeType === Node.TEXT_NODE) continue
    if (!(node instanceof HTMLElement) || removedTags.has(node.localName)) {
      node.remove()
      continue
    }
    if (node.localName === 'xmp') {
      cleanSheet(node, options.styleName)
      continue
    }
    clean(node, options, found)
    if (!allowedTags.has(node.localName)) {
      node.replaceWith(...node.childNodes)
      continue
    }
    cleanAttributes(node, options, found)
  }
}

/** A style sheet of the message, or an `xmp` element that the sender wrote. */
function cleanSheet(element: HTMLElement, styleName: string): void {
  if (!element.hasAttribute(styleName)) {
    element.remove()
    return
  }
  for (const { name } of [...element.attributes]) element.removeAttribute(name)
  element.setAttribute(styleName, '')
  element.textContent = cleanCss(element.textContent ?? '')
}

function cleanAttributes(element: HTMLElement, options: CleanOptions, found: { remoteImages: number }): void {
  const { styleName } = options
  for (const { name } of [...element.attributes]) if (name !== styleName && !allowedAttributes.has(name)) element.removeAttribute(name)
  const style = element.getAttribute(styleName)
  if (style !== null) element.setAttribute(styleName, cleanCss(style))
  const href = element.getAttribute('href')
  if (href !== null) cleanLink(element, href)
  if (element.localName === 'img') cleanImage(element, options, found)
  else element.removeAttribute('src')
}

/** Links open in a new tab without a referrer. Their address is in the title. */
function cleanLink(element: HTMLElement, href: string): void {
  const isAllowed = element.localName === 'a' && URL.canParse(href) && ['http:', 'https:', 'mailto:'].includes(new URL(href).protocol)
  if (!isAllowed) {
    element.removeAttribute('href')
    return
  }
  element.setAttribute('target', '_blank')
  element.setAttribute('rel', 'noopener noreferrer nofollow')
  element.setAttribute('title', href)
}

function cleanImage(element: HTMLElement, options: SanitizeOptions, found: { remoteImages: number }): void {
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

/** Removes everything with which a style sheet loads or covers other parts. The frame's policy rejects loads as well. */
export function cleanCss(css: string): string {
  return css
    .replace(/\/\*[\s\S]*?(\*\/|$)/g, '')
    .replace(/@(import|font-face|namespace|charset)[^;{]*(;|\{[^}]*\}|$)/gi, '')
    .replace(/[^;{}]*(\\|url\s*\(|image-set|expression\s*\(|-moz-binding|behavior\s*:|javascript:)[^;{}]*/gi, '')
    .replace(/position\s*:\s*(fixed|sticky)/gi, 'position:static')
    .replace(/</g, '')
}
