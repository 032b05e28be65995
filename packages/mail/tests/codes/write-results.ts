// Writes results.json, the complete result for each sample and the codes of its variants. Run it with `sh bin/run packages/mail/tests/codes/write-results.ts`
// after a change that is meant, and read the differences. A test compares the file with its output.
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { findCodes } from '../../src/content/codes/codes.ts'
import { appHashes, clearLinks, languages, nameLikeCodes, names } from './families.ts'
import { mailsWithLinks } from './mails-with-links.ts'
import { messagesWithoutCodes } from './messages-without-codes.ts'
import type { Sample } from './sample.ts'
import { textsWithCodes } from './texts-with-codes.ts'
import { unseen } from './unseen.ts'

export const resultsFile = join(import.meta.dirname, 'results.json')

const families = [appHashes, clearLinks, languages, nameLikeCodes, names]
export const samples = [textsWithCodes, mailsWithLinks, messagesWithoutCodes, unseen, ...families].flat()

type Message = { subject?: string; text: string }

const filler = 'We write to you about the garden, the weather and the trains of this week. '.repeat(28)
const quoted = (text: string): string => text.replace(/^/gm, '> ')
const numbers = /(?<![\p{L}\d])\d{4,8}(?![\p{L}\d])/gu

const links = /https:\/\/[^?\s]+(?=\s|$)/g

/** The same words in other places, and words beside them that change their meaning. */
const variants: Record<string, (sample: Sample) => Message> = {
  quoted: ({ subject = '', text }) => ({ subject, text: quoted(text) }),
  'quoted twice': ({ subject = '', text }) => ({ subject, text: `Hello,\n\n>${quoted(text)}` }),
  'in a reply': ({ subject = '', text }) => ({ subject: `Re: ${subject}`, text: `Thanks!\n\n${quoted(text)}` }),
  'in the subject': ({ text }) => ({ subject: text.replaceAll('\n', ' '), text: 'See above.' }),
  'with the text as the subject too': ({ text }) => ({ subject: text.replaceAll('\n', ' '), text }),
  'in a long text': ({ subject = '', text }) => ({ subject, text: `${filler}\n\n${text}\n\n${filler}` }),
  'numbers alone': ({ subject = '', text }) => ({ subject, text: text.replace(numbers, '\n\n$&\n\n') }),
  'numbers in groups': ({ subject = '', text }) => ({ subject, text: text.replace(/(?<!\d)(\d{3})(\d{3})(?!\d)/g, '$1-$2') }),
  'numbers as prices': ({ subject = '', text }) => ({ subject, text: text.replace(numbers, '$$$& ') }),
  'numbers as a year': ({ subject = '', text }) => ({ subject, text: text.replace(numbers, '2026') }),
  'letters for numbers': ({ subject = '', text }) => ({ subject, text: text.replace(numbers, 'QXKZRT') }),
  'names for numbers': ({ subject = '', text }) => ({ subject, text: text.replace(numbers, 'ZX4810') }),
  'numbers in a list': ({ subject = '', text }) => ({ subject, text: text.replace(numbers, '$&, 771204') }),
  'of a shop': ({ subject = '', text }) => ({ subject, text: `${text}\nFree shipping and 20% off.` }),
  'of a journey': ({ subject = '', text }) => ({ subject, text: `${text}\nYour flight and hotel.` }),
  'of a meeting': ({ subject = '', text }) => ({ subject, text: `${text}\nJoin the meeting by dial-in.` }),
  'for a payment': ({ subject = '', text }) => ({ subject, text: `${text}\nIt approves your payment of 12 EUR.` }),
  'behind a question': ({ subject = '', text }) => ({ subject, text: `Did you get this? ${text}` }),
  'with plain http': ({ subject = '', text }) => ({ subject, text: text.replaceAll('https://', 'http://') }),
  'with other paths': ({ subject = '', text }) => ({ subject, text: text.replace(/(https:\/\/[^/\s]+)\/[^?\s]*/g, '$1/news') }),
  'without queries': ({ subject = '', text }) => ({ subject, text: text.replace(/\?[^\s>)]*/g, '') }),
  'numbers as decimals': ({ subject = '', text }) => ({ subject, text: text.replace(numbers, '$&.50') }),
  'numbers as a date': ({ subject = '', text }) => ({ subject, text: text.replace(numbers, '20260311') }),
  'numbers behind a hash': ({ subject = '', text }) => ({ subject, text: text.replace(numbers, '#$&') }),
  'numbers of a telephone': ({ subject = '', text }) => ({ subject, text: text.replace(numbers, '+49 $& or ($&) $&') }),
  'numbers in single digits': ({ subject = '', text }) => ({ subject, text: text.replace(numbers, (digits) => [...digits].join(' ')) }),
  'numbers far behind': ({ subject = '', text }) => ({
    subject,
    text: text.replace(numbers, `as you know from our last letter${' very'.repeat(12)} $&`),
  }),
  'numbers behind a sentence': ({ subject = '', text }) => ({ subject, text: text.replace(numbers, 'here. We thank you. $&') }),
  'numbers before a name': ({ subject = '', text }) => ({ subject, text: text.replace(numbers, '$& Order number') }),
  'two numbers': ({ subject = '', text }) => ({ subject, text: text.replace(numbers, '$& 51827') }),
  'in capitals': ({ subject = '', text }) => ({ subject: subject.toUpperCase(), text: text.toUpperCase() }),
  'bound to a site': ({ subject = '', text }) => ({ subject, text: text.replace(numbers, '$&\n\n@shop.example #$&') }),
  'in short lines': ({ subject = '', text }) => ({ subject, text: text.replaceAll(' ', '\n') }),
  'with a long text behind': ({ subject = '', text }) => ({ subject, text: `${text}\n${filler.slice(0, 220)}` }),
  'without its words': ({ subject = '', text }) => ({ subject, text: (text.match(/https:\/\/\S+|\d{4,8}/g) ?? []).join('\n') }),
  'with tracking': ({ subject = '', text }) => ({ subject, text: text.replace(links, '$&?utm_source=a&utm_medium=b') }),
  'with a fragment': ({ subject = '', text }) => ({ subject, text: text.replace(links, '$&#/mode/code=9f8a7c6b5d4e') }),
  'with pages for paths': ({ subject = '', text }) => ({ subject, text: text.replace(/(https:\/\/[^/\s]+\/)[^?\s]*/g, '$1verify.html') }),
  'with pictures for paths': ({ subject = '', text }) => ({ subject, text: text.replace(/(https:\/\/[^/\s]+\/)[^?\s]*/g, '$1verify.png') }),
  'with names for tokens': ({ subject = '', text }) => ({ subject, text: text.replace(/=[\w.~-]{6,}/g, '=start-page-2026') }),
  'with tokens in the path': ({ subject = '', text }) => ({ subject, text: text.replace(/\?\w+=([\w.~-]+)\S*/g, '/$1') }),
  'with short tokens': ({ subject = '', text }) => ({ subject, text: text.replace(/=([\w.~-]{6})[\w.~-]*/g, '=$1') }),
  'between other links': ({ subject = '', text }) => ({
    subject,
    text: `Help https://help.example/a\n${text}\nUnsubscribe https://a.example/unsubscribe?token=9f8a7c6b5d4e3f2a`,
  }),
  'with links below long labels': ({ subject = '', text }) => ({ subject, text: text.replace(links, `${filler.slice(0, 300)}\n$&`) }),
  'with links below short lines': ({ subject = '', text }) => ({ subject, text: text.replace(links, 'Hello\n\nSee below\n--\n$&') }),
  'in angle brackets': ({ subject = '', text }) => ({ subject, text: text.replace(/https:\/\/\S+/g, 'here <$&>') }),
  'in brackets': ({ subject = '', text }) => ({ subject, text: text.replace(/https:\/\/\S+/g, '(<$&>).') }),
}

/** One line of the file. A variant is listed when its codes differ from those of the sample. */
export function resultOf(sample: Sample): string {
  const codes = findCodes(sample)
  const own = codes.map(({ value }) => value).join(' ')
  const others = Object.entries(variants).flatMap(([name, vary]) => {
    const values = findCodes(vary(sample)).map(({ value }) => value)
    return values.join(' ') === own ? [] : [[name, values]]
  })
  return JSON.stringify({ text: sample.text.slice(0, 60), codes, others: Object.fromEntries(others) })
}

if (import.meta.main) writeFileSync(resultsFile, `[\n${samples.map(resultOf).join(',\n')}\n]\n`)
