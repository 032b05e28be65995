// Finds the images that an HTML body shows, for people that see its text only.
import { cutText } from '../mime/storable-text.ts'
import { decodeEntities } from './entities.ts'
import { HTML_CHARACTERS_MAX } from './text.ts'

const sourceCharactersMax = 200

const element = /<(?:img|image|input|video|object|embed|source)\b[^>]{0,8000}/gi
const source = /\b(?:src|srcset|href|poster|data|xlink:href)\s*=\s*(?:"([^"]*)|'([^']*)|([^\s"'>]+))/i
const alternative = /\balt\s*=\s*(?:"([^"]*)|'([^']*)|([^\s"'>]+))/i
const styled = /url\(\s*["']?([^"')]{1,2000})|\bbackground\s*=\s*["']?([^"'\s>]{1,2000})/gi

/** The sources of images in order, cut to 200 characters, each with its alternative text. An inline picture is `data:`. */
export function findImages(html: string): string[] {
  const text = cutText(html, HTML_CHARACTERS_MAX)
  const shown = [...text.matchAll(element)].flatMap(([tag]) => {
    const address = groupOf(source.exec(tag))
    if (address === null) return []
    const words = groupOf(alternative.exec(tag))
    return [words ? `${shortened(address)} (${words.slice(0, sourceCharactersMax)})` : shortened(address)]
  })
  const painted = [...text.matchAll(styled)].map((match) => shortened(groupOf(match) ?? ''))
  const drawn = text.match(/<svg\b/gi)?.map(() => 'a drawing in SVG') ?? []
  return [...shown, ...painted, ...drawn]
}

function groupOf(match: RegExpExecArray | RegExpMatchArray | null): string | null {
  const found = match?.slice(1).find((group) => group !== undefined)
  return found === undefined ? null : decodeEntities(found.slice(0, 4000)).trim()
}

const shortened = (address: string): string => (/^data:/i.test(address) ? 'data:' : address.slice(0, sourceCharactersMax))
