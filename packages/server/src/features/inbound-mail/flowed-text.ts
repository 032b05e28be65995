// Joins the lines of format=flowed text (RFC 3676) into paragraphs.

/** Text of `format=flowed` with soft line breaks joined (and their space dropped when `isDelSp`), space-stuffing undone and quote marks kept. LF line ends. */
export function joinFlowedLines(text: string, isDelSp: boolean): string {
  const paragraphs: string[] = []
  let pieces: string[] = []
  let pieceDepth = 0
  let isOpen = false
  const finish = () => {
    if (isOpen) paragraphs.push(pieces.join(''))
    pieces = []
    isOpen = false
  }
  for (const line of text.split('\n')) {
    // Most lines are whole paragraphs without marks; they need no joining.
    if (!isOpen && !line.endsWith(' ') && !line.startsWith('>') && !line.startsWith(' ')) {
      paragraphs.push(line)
      continue
    }
    const depth = quoteDepth(line)
    const stuffed = line.charCodeAt(depth) === 0x20
    const content = line.slice(stuffed ? depth + 1 : depth)
    const isSignature = content === '-- '
    // A change of quote depth or a signature line ends an open paragraph (RFC 3676 §4.5, §4.3).
    if (isOpen && (depth !== pieceDepth || isSignature)) finish()
    if (!isOpen) {
      pieces.push(depth === 0 ? '' : `${'>'.repeat(depth)} `)
      pieceDepth = depth
      isOpen = true
    }
    const isSoft = content.endsWith(' ') && !isSignature
    pieces.push(isSoft && isDelSp ? content.slice(0, -1) : content)
    if (!isSoft) finish()
  }
  finish()
  return paragraphs.join('\n')
}

// How many quote marks a line begins with; counting stops at 100, so that re-writing them stays cheap.
function quoteDepth(line: string): number {
  let depth = 0
  while (depth < 100 && line.charCodeAt(depth) === 0x3e) depth++
  return depth
}
