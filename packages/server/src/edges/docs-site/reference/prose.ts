// Sentences and names of the reference.
import { html, type Piece } from '../../../core/html.ts'

/** A sentence in which words between backticks are code. */
export const prose = (text: string): Piece[] => text.split('`').map((part, i) => (i % 2 === 1 ? html`<code>${part}</code>` : part))

/** A name as part of an address, such as `phone-numbers`. */
export const slugOf = (name: string): string =>
  name
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-|-$/g, '')
