// HTML as text. Every inserted value is escaped unless it is markup itself.

/** Text that is already markup. Everything else is escaped on insertion. */
export class Html {
  readonly text: string
  constructor(text: string) {
    this.text = text
  }
}

export type Piece = Html | string | number | Piece[]

const escapes: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' }
const escapeText = (text: string): string => text.replace(/[&<>"']/g, (character) => escapes[character] as string)

const render = (piece: Piece): string => {
  if (Array.isArray(piece)) return piece.map(render).join('')
  return piece instanceof Html ? piece.text : escapeText(String(piece))
}

/** Markup with inserted values. */
export const html = (strings: TemplateStringsArray, ...pieces: Piece[]): Html =>
  new Html(strings.reduce((text, string, i) => text + render(pieces[i - 1] ?? '') + string))
