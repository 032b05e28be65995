// Finds payment card numbers by the prefixes and lengths of their networks, the Luhn digit (ISO/IEC 7812-1), and their surroundings.

/** Runs of digits with single spaces or hyphens between groups. The groups of an IBAN are not one. */
const candidate = /(?<![A-Z]{2}\d{2} )(?<![\p{L}\d_/=#.+-])\d(?:[ -]?\d){12,24}(?![\p{L}\d_/-]|\.\d)/gu

/** The groups of one number in neighbouring cells of a row, which has no further cell of four digits beside them. */
const rowCandidate = /(?<![\p{L}\d_/=#.+-]|\d{4} ?[\t|] ?)\d{4}(?: ?[\t|] ?\d{4}){3}(?![\p{L}\d_/-]|\.\d| ?[\t|] ?\d{4}(?!\d))/gu

/** Prefix, lengths, and the groups in which people write the number. */
const networks: { prefix: RegExp; lengths: number[]; groups: RegExp }[] = [
  { prefix: /^4/, lengths: [13, 16, 19], groups: /^(?:4,4,4,4|4,4,4,4,3|4,3,3,3)$/ },
  { prefix: /^(?:5[1-5]|222[1-9]|22[3-9]|2[3-6]|27[01]|2720)/, lengths: [16], groups: /^4,4,4,4$/ },
  { prefix: /^3[47]/, lengths: [15], groups: /^4,6,5$/ },
  { prefix: /^(?:6011|64[4-9]|65)/, lengths: [16, 19], groups: /^4,4,4,4(?:,3)?$/ },
  { prefix: /^(?:30[0-5]|3095|36|38|39)/, lengths: [14, 16, 19], groups: /^(?:4,6,4|4,4,4,4(?:,3)?)$/ },
  { prefix: /^35(?:2[89]|[3-8])/, lengths: [16], groups: /^4,4,4,4$/ },
  { prefix: /^62/, lengths: [16, 17, 18, 19], groups: /^(?:4,4,4,4(?:,3)?|6,13)$/ },
]

const cardWords =
  /\b(?:card|visa|master ?card|amex|american express|discover|diners|jcb|unionpay|debit|credit|cvv|cvc|karte|kreditkarte|carte|tarjeta|carta)\b/i
const otherWords =
  /\b(?:order|tracking|track|parcel|shipment|invoice|reference|ref|ticket|booking|imei|serial|isbn|ean|upc|gtin|phone|tel|fax|mobile|account|customer|transaction|receipt|id|uuid|timestamp|version|build)\b/i
const contextCharacters = 48
/** Most groups of a written number, and most digits. */
const groupsMax = 5
const digitsMax = 19

/** The card numbers in a text, digits only. A bare number next to words such as `order` or `tracking` is not one. */
export function findCardNumbers(text: string): string[] {
  const found = new Set<string>()
  for (const match of text.matchAll(candidate)) {
    const digits = cardIn(match[0])
    if (digits === null) continue
    const around = text.slice(Math.max(0, match.index - contextCharacters), match.index + match[0].length + contextCharacters)
    const isBare = /^\d+$/.test(match[0])
    if (!isBare || !otherWords.test(around) || cardWords.test(around)) found.add(digits)
  }
  for (const digits of findInRows(text)) found.add(digits)
  return [...found]
}

/** The card numbers whose groups are cells. In a table of other numbers, some rows have the form of one by chance. */
function findInRows(text: string): string[] {
  const rows = [...text.matchAll(rowCandidate)].map((match) => ({ index: match.index, groups: match[0].split(/ ?[\t|] ?/) }))
  const cards = rows.filter(({ groups }) => isCard(groups.join(''), groups))
  const isTableOfOthers = cards.length * 2 < rows.length
  return cards
    .filter(({ index }) => !isTableOfOthers || cardWords.test(text.slice(Math.max(0, index - contextCharacters), index)))
    .map(({ groups }) => groups.join(''))
}

/** The card number among neighbouring groups of digits with one separator, or null. */
function cardIn(run: string): string | null {
  const groups = run.split(/[ -]/)
  for (let first = 0; first < groups.length; first++)
    for (let end = Math.min(groups.length, first + groupsMax); end > first; end--) {
      const some = groups.slice(first, end)
      if (isCard(some.join(''), some) && (some.length === 1 || run.includes(some.join(' ')) || run.includes(some.join('-'))))
        return some.join('')
    }
  return null
}

function isCard(digits: string, groups: string[]): boolean {
  if (digits.length < 13 || digits.length > digitsMax || new Set(digits).size < 2) return false
  const shape = groups.map((group) => group.length).join(',')
  return (
    networks.some(
      (one) => one.prefix.test(digits) && one.lengths.includes(digits.length) && (groups.length === 1 || one.groups.test(shape)),
    ) && hasLuhnDigit(digits)
  )
}

function hasLuhnDigit(digits: string): boolean {
  let sum = 0
  for (let index = 0; index < digits.length; index++) {
    const digit = Number(digits[digits.length - 1 - index])
    const doubled = digit * 2
    sum += index % 2 === 0 ? digit : doubled > 9 ? doubled - 9 : doubled
  }
  return sum % 10 === 0
}
