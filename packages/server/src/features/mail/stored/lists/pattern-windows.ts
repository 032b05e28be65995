// The windows of three characters in a text that an index of substrings has as trigrams in every locale.

/** Longer texts are rare and selective by themselves. */
const windowsMax = 60

/** Three ASCII letters or digits, or two of them at the end or the beginning of a word, which pg_trgm pads with blanks. */
const isWindow = (text: string): boolean => /^(?:[a-z0-9]{3}|[a-z0-9]{2}[ -/:-@[-`{-~]|[ -/:-@[-`{-~][a-z0-9]{2})$/.test(text)

/** The signs of a window as pg_trgm has them. All of them end a word, so `.ex` and `@ex` are the same trigram. */
const toTrigram = (window: string): string => window.replace(/[^a-z0-9]/, ' ')

/** Folds ASCII letters only. Others fold by locale, and some, such as the Kelvin sign, fold to ASCII letters. */
const fold = (text: string): string => text.replace(/[A-Z]+/g, (part) => part.toLowerCase())

/** The trigrams of all windows of the text, once. */
export function windowsOf(text: string): string[] {
  const folded = fold(text)
  const windows = new Set<string>()
  for (let i = 0; i + 3 <= folded.length && windows.size < windowsMax; i++) {
    const window = folded.slice(i, i + 3)
    if (isWindow(window)) windows.add(toTrigram(window))
  }
  return [...windows]
}

/** The longest parts of the text of which every window is one of these trigrams. */
export function runsOf(text: string, windows: ReadonlySet<string>): string[] {
  const folded = fold(text)
  const isChosen = (window: string): boolean => isWindow(window) && windows.has(toTrigram(window))
  const runs = new Set<string>()
  for (let start = 0; start + 3 <= folded.length; ) {
    let end = start
    while (isChosen(folded.slice(end, end + 3))) end++
    if (end > start) runs.add(folded.slice(start, end + 2))
    start = end + 1
  }
  return [...runs]
}
