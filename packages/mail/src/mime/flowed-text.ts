// Joins the lines of format=flowed text (RFC 3676) into paragraphs.

/** Pieces per join. A list of all pieces would take many times the size of a text of very short lines. */
const piecesMax = 1024

/** Joins soft line breaks of `format=flowed`, without their space when `isDelSp`. Removes space-stuffing and keeps quote marks. LF line ends. */
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
    // Fast path: most lines are complete paragraphs without quote marks.
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

// The number of quote marks at the start of a line. Counting stops at 100, which bounds the cost of writing them.
function quoteDepth(line: string): number {
  let depth = 0
  while (depth < 100 && line.charCodeAt(depth) === 0x3e) depth++
  return depth
}
