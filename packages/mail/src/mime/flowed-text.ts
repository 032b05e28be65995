// Joins the lines of format=flowed text (RFC 3676) into paragraphs.

/** So many pieces are put together at a time: a text of very short lines would take many times its size as a list of them. */
const piecesMax = 1024

/** Text of `format=flowed` with soft line breaks joined (and their space dropped when `isDelSp`), space-stuffing undone and quote marks kept. LF line ends. */
export function joinFlowedLines(text: string, isDelSp: boolean): string {
  const joined: string[] = []
  let pieces: string[] = []
  let openDepth = 0
  let isOpen = false
  let isFirst = true
  const begin = (paragraph: string) => {
    pieces.push(isFirst ? paragraph : `\n${paragraph}`)
    isFirst = false
  }
  for (let start = 0; start <= text.length; ) {
    const lineEnd = text.indexOf('\n', start)
    const end = lineEnd < 0 ? text.length : lineEnd
    const line = text.slice(start, end)
    start = end + 1
    if (pieces.length >= piecesMax) {
      joined.push(pieces.join(''))
      pieces = []
    }
    // Most lines are whole paragraphs without marks; they need no joining.
    if (!isOpen && !line.endsWith(' ') && !line.startsWith('>') && !line.startsWith(' ')) {
      begin(line)
      continue
    }
    const depth = quoteDepth(line)
    const isStuffed = line.charCodeAt(depth) === 0x20
    const content = line.slice(isStuffed ? depth + 1 : depth)
    const isSignature = content === '-- '
    const isSoft = content.endsWith(' ') && !isSignature
    const piece = isSoft && isDelSp ? content.slice(0, -1) : content
    // A change of quote depth or a signature line ends an open paragraph (RFC 3676 §4.5, §4.3).
    if (isOpen && depth === openDepth && !isSignature) pieces.push(piece)
    else begin(depth === 0 ? piece : `${'>'.repeat(depth)} ${piece}`)
    openDepth = depth
    isOpen = isSoft
  }
  joined.push(pieces.join(''))
  return joined.join('')
}

// How many quote marks a line begins with; counting stops at 100, so that re-writing them stays cheap.
function quoteDepth(line: string): number {
  let depth = 0
  while (depth < 100 && line.charCodeAt(depth) === 0x3e) depth++
  return depth
}
