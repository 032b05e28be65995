// Separates the words of a report from the message that it quotes.

/** Limit of the scanned text. */
export const reportTextMax = 16_384

const fieldName =
  /^[\s>|]*(received|return-path|delivered-to|message-id|mime-version|content-(?:type|transfer-encoding|class)|dkim-signature|x-[\w-]+|from|to|cc|bcc|subject|date|reply-to|sender|in-reply-to|references|importance|priority|list-[\w-]+|errors-to|precedence|user-agent|organization|newsgroups|path|lines|resent-[\w-]+|delivery-date|authentication-results|received-spf|thread-[\w-]+)\s*:/i
/** Fields that summaries of a report do not have, unlike To, Subject and Date. */
const wireField =
  /^[\s>|]*(?:received|return-path|delivered-to|message-id|mime-version|content-(?:type|transfer-encoding)|dkim-signature|x-[\w-]+|list-[\w-]+|received-spf|references|in-reply-to)\s*:/i

/** Separators that mail systems write above the returned message. */
const separator =
  /^[\s>*|#=_~-]*(?:this is a copy of (?:the|your) (?:message|headers|original)|below this line is (?:a copy|the)|(?:attachment|following|here|enclosed|attached) is a copy of|(?:a )?copy of (?:the|your) (?:message|original|mail)|(?:the )?(?:original|returned|undelivered|unsent|rejected|bounced|old|forwarded) (?:e-?mail |mail )?(?:message|mail|text|e-?mail)(?:'s)?(?: \w+){0,3}[\s:.*|#=_~-]*$|(?:message|mail) (?:headers?|text|body|contents?|source)(?: (?:and|or) \w+)?(?: follows?)?[\s:.*|#=_~-]*$|start of (?:the )?returned|message header for|(?:your )?(?:original )?message (?:reads|follows|text follows|header follows)|the (?:first|following) \d+ (?:lines|bytes|characters) of|no message was collected|mensaje original|mensagem original|message d'origine|message original|messaggio originale|urspr(?:ü|ue)ngliche nachricht|kopie der nachricht|originele bericht|oryginalna wiadomo|исходное сообщение|оригинал сообщения|копия сообщения|元のメール|原始邮件|原邮件|原文)/i

/** The fields of the message that PMDF and its successors list above their reason, up to the next empty line. */
const listedFields = /^([^\n]*with the following header fields:[ \t]*\n)\s*\n(?:[^\S\n]*\S[^\n]*\n)+/im

/**
 * The report's own text, which ends at the quoted message. The summary of the message that Exchange and GroupWise write above their reason (To,
 * Subject, Sent) is left out too.
 */
export function ownText(text: string): string {
  const lines = text.slice(0, reportTextMax).replace(listedFields, '$1').split('\n')
  const end = lines.findIndex((line, at) => separator.test(line) || isQuotedHeader(lines, at))
  const own = end < 0 ? lines : lines.slice(0, end)
  return own.filter((line) => !/^\s*(?:to|cc|subject|sent|from|date|message-id)\s*:\s/i.test(line)).join('\n')
}

/** True at the first of three header fields in a row, of which at least one is never part of a summary. */
function isQuotedHeader(lines: readonly string[], at: number): boolean {
  if (!fieldName.test(lines[at] as string)) return false
  let fields = 0
  let isWire = false
  for (const line of lines.slice(at, at + 12)) {
    if (fieldName.test(line)) fields++
    else if (!/^[\s>|]*[\t ]\S/.test(line)) break
    isWire ||= wireField.test(line)
  }
  return isWire && fields >= 3
}

const blockCharactersMax = 2000

/** The blocks of a text between empty lines, and the entries of a list of recipients. */
export function blocksOf(text: string): string[] {
  const blocks: string[] = []
  let current = ''
  const close = () => {
    if (current !== '') blocks.push(current.slice(0, blockCharactersMax))
    current = ''
  }
  for (const line of text.split('\n')) {
    const isBlank = /^[\s>|*_=~#-]*$/.test(line)
    if (isBlank || /^<?[^\s<>@]+@[^\s<>@]+>?(?: \([^)]*\))?:(?:\s|$)/.test(line)) close()
    if (!isBlank) current += `${line}\n`
  }
  close()
  return blocks
}
