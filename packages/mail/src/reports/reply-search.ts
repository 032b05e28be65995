// Finds the reason of a failure in the own text of a report, as an SMTP reply or a sentence.
import { deadDomainPhrases, deadPhrases, livingPhrases, refusalPhrases, vaguePhrases } from './refusal-phrases.ts'
import { foldReply, wordsOf } from './reply-words.ts'
import { blocksOf } from './report-text.ts'

const reasonCharactersMax = 1000

/** An SMTP reply after the start of a line, a colon, a bracket, a quotation mark or a word that announces it. Numbers of things are not replies. */
const replyStart =
  /(?:^|[:#(<>"'\][=]|\b(?:said|error|code|reply|response|status|returned|smtp;))[\s"'(]*([45][0-5]\d)[ \n-]\s*(?=["'(<[#]?(?:[245]\.\d{1,3}\.\d{1,3}\b|\p{L}|[<[(#"']|[45]\d\d[ -]))(?!(?:[kmg]?b|bytes|days|hours|minutes|seconds|lines|messages|characters)\b)/imu

/** An enhanced status code (RFC 3463) of a failure, but not a version number such as "v4.6.1" or "Exim 4.9.2". */
const statusCode =
  /(?:^|[^\d.\w])(?<!\b(?:exim|sendmail|version|release|build|server|service|postfix|mta|smtp|esmtp|qmail|domino|notes)[ /])([45]\.[0-7]\.\d{1,3})(?![\d.]\d|\d)/i

/** The first status code of a failure in a text, or null. */
export const statusIn = (text: string): string | null => statusCode.exec(text)?.[1] ?? null

/** The SMTP reply in a block, folded to one line. Null without one. */
function replyIn(block: string): string | null {
  const found = replyStart.exec(block)
  if (!found) return null
  const code = found[1] as string
  const start = found.index + found[0].lastIndexOf(code)
  const rest = block.slice(start)
  // The reply ends at the next command of a transcript, and at its reply.
  const next = new RegExp(`\\n\\s*(?:>>>|<<<|\\.\\.\\. while|(?!${code})[245][0-5]\\d[ -][\\w<#])|\\n<?[^\\s<>@]+@[^\\s<>@]+:`)
  return tidy(foldReply(rest.split(next, 1)[0] as string))
}

/** Removes a bracket or quotation mark that was opened before the reason. */
function tidy(text: string): string {
  const open = text.split('(').length
  const closed = text.split(')').length
  return (closed > open ? text.replace(/\)[.\s]*$/, '') : text).replace(/^["']|["']$/g, '').slice(0, reasonCharactersMax)
}

const label =
  /^[\s*>-]*(?:the )?(?:technical details|reason|error|cause|diagnostic|problem|because|details?|explanation|failure|response|err(?:or)?msg|details|motivo|razon|causa|raison|cause|grund|fehler|ursache|erreur|errore|причина|ошибка|原因|理由|エラー)(?!\p{L})[^:：=\n]{0,60}[:：=]\s*/imu
const greeting =
  /^(?:hi\b|hello|dear|sorry to have to inform|i'm (?:sorry|afraid)|this is a (?:mime|multi)|portions of this|this is (?:the|an?) (?:mail|qmail|postfix|automat|e-?mail|system|message)|this (?:message|mail|e-?mail) (?:was|is) (?:created|generated|automat)|this (?:report|delivery status)|for (?:further|more) (?:assistance|information)|if you do so|do not reply|please do not reply|the mail system|no action is required|(?:(?:you|please) )?do not (?:need to )?re-?send|this is (?:only |just )?a warning|a message that you (?:have )?sent(?! has not yet)|the original message was received|your message$)/i

/** Text without the address in front and without decoration. */
const bare = (text: string): string => text.replace(/\s+/g, ' ').replace(/^[\s*>#=|_~-]+|[\s*>#=|_~-]+$/g, '')

/** The number of words beside codes and addresses. */
export const wordCount = (text: string): number => text.replace(/\S+@\S+/g, '').match(/\p{L}{2,}/gu)?.length ?? 0

const addressAtStart = /^[\s*>•-]*<?[^\s<>@:]+@[^\s<>@:]+/
/** Machine-readable fields that some gateways leave in the text, and the preamble of a multipart. */
const noise =
  /^\s*(?:(?:reporting-mta|(?:final|original)-recipient|action|status|remote-mta|arrival-date|last-attempt-date|received-from-mta)\s*:.*|--[^\s-].*|content-[a-z-]+:.*|\s+(?:charset|boundary)=.*|the (?:message identifier|subject of the message|date of the message) is:.*)$/gim

/** The text after the address in a block about it. */
function afterAddress(block: string): string {
  return bare(
    block
      .replace(/^[\s\S]*?[^\s<>@:"'(]@[^\s<>@"')][^\s<>"')]*/, '')
      .replace(exchangeDate, '')
      .replace(/The MTS-ID of the original message[\s\S]*/, '')
      .replace(
        /^[>"'\])]*(?:\s*\((?:expanded from|generated from|original|was addressed to|ultimately generated)[^)]*\))?[>"'\])]*[\s:.…,-]*/i,
        '',
      ),
  )
}
const exchangeDate = /^[>"'\])]*\s*on \w{3}, [\w ]{8,14}\d\d:\d\d(?::\d\d)?(?: [+-]\d{4})?/

/** Longer texts, and those about secrecy, are advice and legal notices. */
const reasonWordsMax = 60
const adviceCharactersMin = 200
const notice =
  /\b(?:confidential|privileged|disclaimer|notify the sender|(?:received|have) this (?:e-?mail|message) in error|intended (?:only |solely )?for the (?:use|addressee)|only by the addressee)\b/i

/** True for words that give a reason, and do more than announce one. */
function isReason(text: string): boolean {
  if (notice.test(text) || wordCount(text) > reasonWordsMax) return false
  const words = wordsOf(text)
  return [...livingPhrases, ...deadPhrases, deadDomainPhrases, vaguePhrases, refusalPhrases].some((phrase) => phrase.test(words))
}

/** A line that announces the addresses below it. */
const heading = /\b(?:following|these|this|one or more|recipients?|destinations?|address(?:es|\(es\))?)\b[^:]{0,80}[:.]?$/i

/**
 * The reason that a report gives for one address, from its own text only. Null when it gives none. `isProse` is false for a report with machine-readable
 * fields, whose text is a reason only beside the address or a label.
 */
export function reasonFor(text: string, address: string, isProse: boolean): string | null {
  const blocks = blocksOf(text.replace(noise, ''))
  const own = address === '' ? [] : blocks.filter((block) => block.toLowerCase().includes(address.toLowerCase()))
  // An alias is reported under its target.
  const about = own.length > 0 ? own : blocks.filter((block) => addressAtStart.test(block))
  const next = about[0] === undefined ? [] : blocks.slice(blocks.indexOf(about[0]) + 1).slice(0, 2)
  for (const block of [...about, ...next, ...blocks]) {
    const reply = replyIn(block)
    if (reply !== null && reply.length > 3) return reply
  }
  for (const [index, block] of blocks.entries()) {
    const found = label.exec(block)
    const value = found ? bare(block.slice(found.index + found[0].length)) || bare(blocks[index + 1] ?? '') : ''
    if (wordCount(value) >= 2) return tidy(value)
  }
  const after = about.map(afterAddress).filter((rest) => wordCount(rest) >= 2)
  const others = isProse ? [...next, ...blocks].map(bare).filter((block) => !greeting.test(block)) : []
  const found =
    [...after, ...others].find(isReason) ??
    after.find((rest) => isProse || (own.length > 0 && rest.length <= adviceCharactersMin && !notice.test(rest)))
  return found === undefined ? null : tidy(found)
}

/** The first block that is neither a greeting, a heading nor a legal notice. '' without one. */
export function firstSentence(text: string): string {
  const blocks = blocksOf(text.replace(noise, '')).map(bare)
  const telling = blocks.filter((block) => wordCount(block) >= 3 && !greeting.test(block))
  const own = telling.filter((block) => !notice.test(block))
  return (own.find((block) => !heading.test(block)) ?? own[0] ?? blocks.find((block) => !notice.test(block)) ?? '').slice(0, 300)
}
