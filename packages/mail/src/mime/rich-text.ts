// Converts the old formats text/enriched (RFC 1896) and text/richtext (RFC 1341 §7.1.3) to plain text.

/** The visible text of a body. Other types are returned unchanged. Linear. */
export function readMarkup(text: string, contentType: string): string {
  if (contentType === 'text/enriched') return readEnriched(text)
  return contentType === 'text/richtext' ? readRichtext(text) : text
}

const COMMAND = /<(<|\/?[a-z0-9-]{1,60}>)/gi

// One line end is a blank, and each further one a line end. Commands are dropped, and parameters with their content.
function readEnriched(text: string): string {
  const pieces: string[] = []
  let from = 0
  let parameters = 0
  let verbatim = 0
  const keep = (to: number): void => {
    if (parameters > 0) return
    const part = text.slice(from, to)
    pieces.push(verbatim > 0 ? part : part.replace(/\n+/g, (ends) => (ends.length === 1 ? ' ' : ends.slice(1))))
  }
  for (const match of text.matchAll(COMMAND)) {
    keep(match.index)
    from = match.index + match[0].length
    const command = match[1]!.toLowerCase()
    if (command === '<') {
      if (parameters === 0) pieces.push('<')
    } else if (command === 'param>') parameters++
    else if (command === '/param>') parameters = Math.max(0, parameters - 1)
    else if (command === 'nofill>') verbatim++
    else if (command === '/nofill>') verbatim = Math.max(0, verbatim - 1)
  }
  keep(text.length)
  return pieces.join('')
}

const RICHTEXT = /<(\/?[a-z0-9-]{1,60})>|\n/gi

function readRichtext(text: string): string {
  let comments = 0
  let last = 0
  const pieces: string[] = []
  for (const match of text.matchAll(RICHTEXT)) {
    if (comments === 0) pieces.push(text.slice(last, match.index))
    last = match.index + match[0].length
    const command = match[1]?.toLowerCase()
    if (command === 'comment') comments++
    else if (command === '/comment') comments = Math.max(0, comments - 1)
    else if (comments > 0) continue
    else if (command === undefined) pieces.push(' ')
    else if (command === 'lt') pieces.push('<')
    else if (command === 'nl' || command === '/paragraph') pieces.push('\n')
  }
  if (comments === 0) pieces.push(text.slice(last))
  return pieces.join('').replace(/ ?\n ?/g, '\n')
}
