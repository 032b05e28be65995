// Writes results.json, the replies read from variants of each attribution and header block. Run it with
// `sh bin/run packages/mail/tests/replies/write-results.ts` after a change that is meant, and read the differences. A test compares the file with its output.
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { extractReplyText } from '../../src/content/replies/reply-text.ts'
import { attributions, headerBlocks } from './quotation-lines.ts'

export const resultsFile = join(import.meta.dirname, 'results.json')
export const blocks = [...attributions, ...headerBlocks]

const own = 'Sure, that works for me.\nShall we say Monday?'
const quote = 'Hi Ann,\ncan you send the contract?\n\nBob'
const marked = quote.replace(/^/gm, '> ')
const inReply = (block: string): string => `${own}\n\n${block}\n\n${marked}`
const lineOf = (block: string, at: number): string => block.split('\n').at(at) as string
const half = (block: string): number => block.indexOf(' ', block.length / 2)
const atHalf = (block: string, text: string): string => `${block.slice(0, half(block))}${text}${block.slice(half(block) + 1)}`

/** Changes of the block inside a reply. */
const changes: Record<string, (block: string) => string> = {
  'on one line': (block) => block.replaceAll('\n', ' '),
  'broken in the middle': (block) => atHalf(block, '\n'),
  'with an empty line in the middle': (block) => atHalf(block, '\n\n'),
  'with a line of words in the middle': (block) => atHalf(block, '\nI think so.\n'),
  'with an empty line below each line': (block) => block.replaceAll('\n', '\n\n'),
  'broken at each blank': (block) => block.replaceAll(' ', '\n'),
  'broken before its end': (block) => block.replace(/ (\S+)$/, '\n$1'),
  quoted: (block) => block.replace(/^/gm, '> '),
  'quoted twice': (block) => block.replace(/^/gm, '>> '),
  'quoted by initials': (block) => block.replace(/^/gm, 'BD> '),
  'quoted in its second half': (block) => atHalf(block, '\n> '),
  indented: (block) => block.replace(/^/gm, '    '),
  'indented by a tab': (block) => block.replace(/^/gm, '\t'),
  'in bold letters': (block) => block.replace(/^.+$/gm, '*$&*'),
  'with bold labels': (block) => block.replace(/^[^:\n]+:/gm, '*$&*'),
  'with blanks behind it': (block) => block.replace(/$/gm, ' \u200e'),
  'without its last character': (block) => block.slice(0, -1),
  'with a period at its end': (block) => `${block.slice(0, -1)}.`,
  'with a wide colon': (block) => block.replace(/:$/, '\uff1a'),
  'in lower case': (block) => block.toLowerCase(),
  'in upper case': (block) => block.toUpperCase(),
  'with wide blanks': (block) => block.replaceAll(' ', '\u00a0'),
  'without digits': (block) => block.replace(/\d/g, ''),
  'without times': (block) => block.replace(/\d+[:.]\d\d/g, ''),
  'without addresses': (block) => block.replace(/ ?<[^>]*>/g, ''),
  'without brackets': (block) => block.replace(/[<>]/g, ''),
  'with a long name': (block) => block.replaceAll('Bob', 'Bob'.repeat(30)),
  'with a very long name': (block) => block.replaceAll('Bob', 'Bob'.repeat(150)),
  'behind words': (block) => `Thanks for that. ${block}`,
  'behind dashes': (block) => `Thanks --- ${block}`,
  'before words': (block) => `${block} Fine with me.`,
  twice: (block) => `${block}\n${block}`,
  'under a rule': (block) => `________________________________\n${block}`,
  'under two rules': (block) => `-----\n\n_____\n${block}`,
  'under a heading': (block) => `-----Original Message-----\n${block}`,
  'under a signature': (block) => `-- \nAnn Example\n\n${block}`,
  'under a device': (block) => `Sent from my phone\n\n${block}`,
  'its first line': (block) => lineOf(block, 0),
  'its last line': (block) => lineOf(block, -1),
  'without its first line': (block) => block.slice(block.indexOf('\n') + 1),
}

/** Other places of the block in a reply. */
const places: Record<string, (block: string) => string> = {
  'without empty lines': (block) => `${own}\n${block}\n${marked}`,
  'before an unmarked quotation': (block) => `${own}\n\n${block}\n\n${quote}`,
  'before a quotation with bars': (block) => `${own}\n\n${block}\n${quote.replace(/^/gm, '| ')}`,
  'before a quotation with initials': (block) => `${block}\n${quote.replace(/^/gm, 'BD> ')}\n${own}`,
  'at the start': (block) => `${block}\n\n${marked}\n\n${own}`,
  'at the start, unmarked': (block) => `${block}\n\n${quote}`,
  'at the end': (block) => `${own}\n\n${block}`,
  alone: (block) => block,
  'above nothing else': (block) => `${block}\n\n${marked}`,
  'between two quotations': (block) => `${marked}\n\n${block}\n\n${marked}\n\n${own}`,
  'twice with own words between': (block) => `${own}\n\n${block}\n${marked}\n\nAlso this.\n\n${block}\n${marked}\n\n-- \nAnn`,
  'below a forward': (block) => `${own}\n\n---------- Forwarded message ----------\n${block}\n\n${quote}`,
}

/** A reply with the fixed texts as names. */
const short = (reply: string): string =>
  reply.replaceAll(own, '(own)').replaceAll(marked, '(marked)').replaceAll(quote, '(quote)').slice(0, 120)

/** One line of the file. Only replies are listed that are not the own words alone. */
export function resultOf([name, block]: readonly [string, string]): string {
  const texts = [
    ...Object.entries(changes).map(([change, make]) => [change, inReply(make(block))] as const),
    ...Object.entries(places).map(([place, make]) => [place, make(block)] as const),
  ]
  const replies = texts.map(([variant, text]) => [variant, short(extractReplyText(text))] as const)
  const forward = short(extractReplyText(inReply(block), true))
  return JSON.stringify({ name, forward, others: Object.fromEntries(replies.filter(([, reply]) => reply !== '(own)')) })
}

if (import.meta.main) writeFileSync(resultsFile, `[\n${blocks.map(resultOf).join(',\n')}\n]\n`)
