// The windows of three letters or digits in a text: the trigrams that an index of substrings has in every locale.

/** Longer texts are rare and selective by themselves. */
const windowsMax = 60

const isWord = (text: string): boolean => /^[a-z0-9]+$/.test(text)

/** Every window of the text in lower case, once. */
export function windowsOf(text: string): string[] {
  const folded = text.toLowerCase()
  const windows = new Set<string>()
  for (let i = 0; i + 3 <= folded.length && windows.size < windowsMax; i++) {
    const window = folded.slice(i, i + 3)
    if (isWord(window)) windows.add(window)
  }
  return [...windows]
}

/** The longest parts of the text that consist of these windows. */
export function runsOf(text: string, windows: ReadonlySet<string>): string[] {
  const folded = text.toLowerCase()
  const runs = new Set<string>()
  for (let start = 0; start + 3 <= folded.length; ) {
    let end = start
    while (windows.has(folded.slice(end, end + 3))) end++
    if (end > start) runs.add(folded.slice(start, end + 2))
    start = end + 1
  }
  return [...runs]
}
