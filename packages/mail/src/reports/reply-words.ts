// Folds an SMTP reply, or the reason of a report, to the words that say why mail was refused.

const reasonCharactersMax = 4000
/** Letters that Unicode does not decompose. */
const unaccented: Record<string, string> = { ı: 'i', ł: 'l', ø: 'o', đ: 'd', ß: 'ss' }

/** Joins the lines of a reply. Removes the code that multi-line replies repeat (RFC 5321 §4.2.1), which reports often leave in the middle. */
export function foldReply(text: string): string {
  const folded = text.slice(0, reasonCharactersMax).replace(/\s+/g, ' ').trim()
  const [head, code, enhanced] = /^([245]\d\d)[ -]'?#?([245]\.\d{1,3}\.\d{1,3})?/.exec(folded) ?? []
  if (head === undefined) return folded
  const again = enhanced ? `(?:#?${enhanced.replaceAll('.', '\\.')}(?=\\s|$))?` : ''
  const repeated = new RegExp(`\\s${code}[ -]${again}`, 'g')
  const rest = ` ${folded.slice(head.length)}`.replace(repeated, ' ')
  return (head + rest)
    .replace(/^([245]\d\d)-/, '$1 ')
    .replace(/ {2,}/g, ' ')
    .trim()
}

/**
 * The words of a reply in lower case, without addresses, URLs, hosts and the program that relayed the reply.
 * Latin letters lose their accents, since servers often drop them.
 */
export function wordsOf(text: string): string {
  return foldReply(text)
    .normalize('NFKD')
    .replace(/([A-Za-z])\p{M}+/gu, '$1')
    .normalize('NFC')
    .toLowerCase()
    .replace(/[ıłøđß]/g, (letter) => unaccented[letter] as string)
    .replace(/^.{0,200}? said: /, '')
    .replace(/https?:\/\/\S+/g, '')
    .replace(/<?[^\s<>()"':;,]+@[^\s<>()"':;,]+>?/g, ' ')
    .replace(/\b[a-z0-9-]+(?:\.[a-z0-9-]+){2,}\b/g, ' ')
    .replaceAll('_', ' ')
    .replace(/[\u2018\u2019`´]/g, "'")
    .replace(/\s+/g, ' ')
    .trim()
}
