// Hosts in links and in visible text.
import { addressDomain } from '../../mime/addresses.ts'

const topLevels =
  'com|net|org|edu|gov|mil|int|info|biz|io|co|ai|app|dev|me|eu|uk|de|fr|nl|it|es|ch|at|be|se|no|dk|fi|pl|cz|pt|ie|us|ca|au|nz|jp|cn|in|br|ru|test|example'
const hostText = `(?:[\\p{L}\\p{N}](?:[\\p{L}\\p{N}-]{0,61}[\\p{L}\\p{N}])?\\.){1,8}[\\p{L}\\p{N}-]{2,30}`
export const wholeHost = new RegExp(`^(?:${hostText.replace('[\\p{L}\\p{N}-]{2,30}', `(?:${topLevels})`)})(?:[/?#:]\\S*)?$`, 'iu')
const urlInText = new RegExp(`(?:https?://|\\bwww\\.)(${hostText})`, 'iu')
export const addressInText = new RegExp(`[^\\s@<>"'()]{1,64}@(${hostText})`, 'iu')
const addressText = new RegExp(`^[^\\s@<>]{1,64}@(${hostText})$`, 'iu')

/** The host that a link text names, or null. */
export function shownHost(text: string): string | null {
  const url = urlInText.exec(text)
  if (url) return (url[1] as string).toLowerCase()
  if (wholeHost.test(text)) return (text.split(/[/?#:]/, 1)[0] as string).toLowerCase()
  return addressText.exec(text)?.[1]?.toLowerCase() ?? null
}

/** The host of a web or mail link, or null. */
export function hostOf(href: string): { host: string; url: URL } | null {
  const url = URL.parse(href)
  if (url?.protocol === 'mailto:') {
    const host = addressDomain(decode(url.pathname).split(',', 1)[0] as string)
    return host === '' ? null : { host: host.toLowerCase(), url }
  }
  return url && /^https?:$/.test(url.protocol) && url.hostname !== '' ? { host: url.hostname, url } : null
}

/** Decodes percent-encoding. Malformed text is returned unchanged. */
export function decode(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}

/** A host in its ASCII form. */
export const asciiHost = (host: string): string => URL.parse(`http://${host}/`)?.hostname ?? host
