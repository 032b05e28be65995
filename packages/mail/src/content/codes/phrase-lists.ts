// Builds lists of phrases from compact text.

/** Every start with every end. An end after "+" is joined without a space. */
export const each = (starts: string, ends: string): string[] =>
  starts.split('|').flatMap((start) => ends.split('|').map((end) => (end.startsWith('+') ? start + end.slice(1) : `${start} ${end}`)))

// Characters that do not decompose into a base and a mark.
const baseForms: Record<string, string> = { đ: 'd', ł: 'l', ø: 'o', ı: 'i', ð: 'd', ß: 'ss', æ: 'ae', œ: 'oe' }

/** The phrases, and those in Latin letters also without their marks, as many text messages write them. */
export const withPlainForms = (phrases: string[]): string[] => [
  ...phrases,
  ...phrases.flatMap((phrase) => {
    const plain = phrase
      .normalize('NFD')
      .replace(/\p{M}/gu, '')
      .replace(/[đłøıðßæœ]/g, (character) => baseForms[character] ?? character)
    return plain !== phrase && plain.length >= 5 && /^[a-z ']+$/.test(plain) ? [plain] : []
  }),
]

/** The phrases of a text, which are separated by "|". */
export const list = (text: string): string[] => text.trim().split(/\s*\|\s*/)
