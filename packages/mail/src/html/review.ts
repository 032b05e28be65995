// Reads an HTML body for a person that approves it: every text that a recipient may see, and what the text alone does not show.
import { findImages } from './images.ts'
import { scanHtml } from './scan.ts'
import { findRawEnd } from './tags.ts'
import { htmlToFullText } from './text.ts'

/** `hidden` are texts that some mail programs do not show, and `added` are texts of style sheets. Both are cut. */
export type ReviewedHtml = { text: string; hidden: string[]; added: string[]; images: string[] }

const shownMax = 10
const shownCharactersMax = 200

/** All text of an HTML body with its hidden texts, the texts that its style sheets add, and its images. Linear. */
export function reviewHtml(html: string): ReviewedHtml {
  const { hidden } = scanHtml(html)
  return {
    text: htmlToFullText(html),
    hidden: shortened(hidden.map(({ text }) => text)),
    added: shortened(findAdded(html)),
    images: findImages(html),
  }
}

/** Values of `content` in style elements (CSS Generated Content, section 2). An escape may spell any property, so it counts as one. */
function findAdded(html: string): string[] {
  const sheets = [...html.matchAll(/<style(?=[\s>/])/gi)]
    .slice(0, sheetsMax)
    .map(({ index }) => html.slice(index, Math.min(index + sheetCharactersMax, findRawEnd(html, 'style', index))))
  return sheets
    .flatMap((sheet) => [...sheet.matchAll(/(?:\bcontent\s*:|\\)\s*([^;}]{1,200})/gi)].map(([, value]) => value as string))
    .filter((value) => !/^(?:none|normal|["']{2}|(?:no-)?(?:open|close)-quote)\s*(?:!important\s*)?$/i.test(value.trim()))
}

const sheetsMax = 20
const sheetCharactersMax = 128 * 1024

const shortened = (texts: string[]): string[] =>
  [...new Set(texts.map((text) => text.replace(/\s+/g, ' ').trim()))]
    .filter((text) => text !== '')
    .slice(0, shownMax)
    .map((text) => (text.length > shownCharactersMax ? `${text.slice(0, shownCharactersMax - 1)}…` : text))
