// The target of a link for the person that approves it, as browsers resolve it.
import type { DefaultTreeAdapterMap } from 'parse5'
import { isSameAddress } from './text.ts'

const linkCharactersMax = 300

/** The address that a link, an area or a form leads to. Null without one, for a place in the same mail, and when its text is the address. */
export function shownLink({ attrs, childNodes, tagName }: DefaultTreeAdapterMap['element'], base: string | undefined): string | null {
  const href = attrs.find(({ name }) => name === (tagName === 'form' ? 'action' : 'href') || name === 'xlink:href')?.value
  if (href === undefined || /^\s*#/.test(href)) return null
  const address = resolved(href, base)
  const first = childNodes.length === 1 ? childNodes[0] : undefined
  const text = first?.nodeName === '#text' ? (first as DefaultTreeAdapterMap['textNode']).value : ''
  return isSameAddress(text.trim(), address) ? null : cut(address)
}

/** Without the user before the host, which looks like a host. */
function resolved(href: string, base: string | undefined): string {
  try {
    const url = new URL(href, base && URL.canParse(base) ? base : 'https://relative.invalid/')
    url.username = ''
    url.password = ''
    return url.host === 'relative.invalid' ? href.trim() : url.href
  } catch {
    return href.trim()
  }
}

const cut = (text: string): string => {
  const line = text.replace(/\s+/g, ' ')
  return line.length > linkCharactersMax ? `${line.slice(0, linkCharactersMax - 1)}…` : line
}
