// Writes readings.json, the complete reading of each sample message and a digest of the reading of each of its variants. Run it with
// `sh bin/run packages/mail/tests/messages/write-readings.ts` after a change that is meant, and read the differences. A test compares the file with its output.
import { createHash } from 'node:crypto'
import { globSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { readMail } from '../../src/content/reading.ts'
import { decodeAttachment } from '../../src/mime/transfer-encoding.ts'

const tests = join(import.meta.dirname, '..')
export const readingsFile = join(import.meta.dirname, 'readings.json')
export const sampleFiles = globSync(['messages/*.eml', 'returned/*.eml', 'deception/*.eml'], { cwd: tests }).sort()

type Vary = (raw: string) => string
const within =
  (pattern: RegExp, replacement: string): Vary =>
  (raw) =>
    raw.replace(pattern, replacement)

/** Damage of mail systems, other ways to write the same, and other meanings of the same bytes. */
const variants: Record<string, Vary> = {
  'LF line ends': within(/\r\n/g, '\n'),
  'CR line ends': within(/\r?\n/g, '\r'),
  'CRLF line ends': within(/\r?\n/g, '\r\n'),
  'no last line end': (raw) => raw.trimEnd(),
  'first half': (raw) => raw.slice(0, raw.length / 2),
  'first third': (raw) => raw.slice(0, raw.length / 3),
  'four fifths': (raw) => raw.slice(0, raw.length * 0.8),
  'an mbox line first': (raw) => `From a@b.example Mon Apr  6 10:00:00 2026\r\n${raw}`,
  'an empty line first': (raw) => `\r\n${raw}`,
  'folded fields': within(/^([A-Z][\w-]+:(?: \S+){2}) (?=\S)/gm, '$1\r\n\t'),
  'names in capitals': (raw) => raw.replace(/^[A-Z][\w-]+:/gm, (name) => name.toUpperCase()),
  'space before colons': within(/^([A-Z][\w-]+):/gm, '$1 :'),
  'no From': within(/^From:.*\r?\n/im, ''),
  'two From': within(/^(From:.*\r?\n)/im, '$1From: "Eve" <eve@evil.example>\r\n'),
  'no Content-Type': within(/^Content-Type:[^\n]*\n(?:[ \t][^\n]*\n)*/im, ''),
  'no encodings': within(/^Content-Transfer-Encoding:[^\n]*\n/gim, ''),
  'base64 throughout': within(/^(Content-Transfer-Encoding:)[^\r\n]*/gim, '$1 base64'),
  'quoted-printable throughout': within(/^(Content-Transfer-Encoding:)[^\r\n]*/gim, '$1 quoted-printable'),
  'an unknown encoding': within(/^(Content-Transfer-Encoding:)[^\r\n]*/gim, '$1 x-none'),
  'koi8-r throughout': within(/charset="?[\w-]+"?/gi, 'charset=koi8-r'),
  'an unknown charset': within(/charset="?[\w-]+"?/gi, 'charset=x-none'),
  'utf-16': within(/charset="?[\w-]+"?/gi, 'charset="utf-16le"'),
  'flowed text': within(/text\/plain;?/gi, 'text/plain; format=flowed; delsp=yes;'),
  'plain text as HTML': within(/text\/plain/gi, 'text/html'),
  'HTML as plain text': within(/text\/html/gi, 'text/plain'),
  'HTML only': within(/text\/plain/gi, 'application/x-none'),
  'alternatives as mixed': within(/multipart\/alternative/gi, 'multipart/mixed'),
  'mixed as alternatives': within(/multipart\/mixed/gi, 'multipart/alternative'),
  'a digest': within(/multipart\/\w+/gi, 'multipart/digest'),
  'bare boundaries': within(/boundary="([^"]+)"/gi, 'boundary=$1'),
  'no boundaries': within(/boundary="?[^";\r\n]+"?/gi, 'x=y'),
  'no closing boundaries': within(/^(--\S+)--\r?$/gm, ''),
  'spaces behind boundaries': within(/^(--\S{6,})(\r?)$/gm, '$1 \t$2'),
  'no dispositions': within(/^Content-Disposition:[^\n]*\n(?:[ \t][^\n]*\n)*/gim, ''),
  'everything attached': within(/^(Content-Type:)/gim, 'Content-Disposition: attachment; filename="../a\u0000b.txt"\r\n$1'),
  'inline throughout': within(/^(Content-Disposition:) *attachment/gim, '$1 inline'),
  'encoded subject': within(/^Subject: .*$/im, 'Subject: =?utf-8?Q?Gr=C3=BC=C3=9Fe?= =?utf-8?B?IGF1cyBL?= =?iso-8859-1?Q?=F6ln?='),
  'raw bytes in the subject': within(/^Subject:/im, 'Subject: \xc3\xa9\xff'),
  'a forward': within(/^Subject:/im, 'Subject: Fwd:'),
  'names in comments': within(/^From: .*$/im, 'From: eve@evil.example (Eve (the "bad") one), <ada@shop.example>'),
  'a group of recipients': within(/^To: .*$/im, 'To: friends: a@x.example, "B, C" <b@x.example>;, undisclosed:;'),
  'a bad date': within(/^Date: .*$/im, 'Date: Thirsday, 99 Foo 26 25:61'),
  'an old date': within(/^Date: .*$/im, 'Date: 6 Apr 26 10:00 EST'),
  'hidden HTML': within(/<(div|p|td|span)\b/gi, '<$1 style="font-size:0;color:#fff"'),
  'hidden attributes': within(/<(p|td)\b/gi, '<$1 hidden'),
  'tags in capitals': (raw) => raw.replace(/<\/?[a-z]+/g, (tag) => tag.toUpperCase()),
  'no quotes in tags': within(/(<[^>]*=)3?D?"([^" ]*)"/g, '$1$2'),
  'links elsewhere': within(/href=(3D)?"https?:\/\/[^/"]+/gi, 'href=$1"https://evil.example'),
  'lists for paragraphs': within(/<(\/?)p\b/gi, '<$1li'),
  'quotations for blocks': within(/<(\/?)div\b/gi, '<$1blockquote'),
  'preformatted blocks': within(/<(\/?)div\b/gi, '<$1pre'),
  'entities twice': within(/&/g, '&amp;'),
}

const digest = (text: string): string => createHash('sha256').update(text).digest('base64').slice(0, 8)

function reading(raw: string): string {
  const bytes = Buffer.from(raw, 'latin1')
  const { parsed, ...rest } = readMail(bytes)
  const contents = parsed.attachments.map((attachment) =>
    digest(decodeAttachment(bytes.subarray(attachment.start, attachment.end), attachment.encoding).toString('latin1')),
  )
  return JSON.stringify({ parsed, contents, ...rest })
}

/** One line of the file. */
export function readingOf(file: string): string {
  const raw = readFileSync(join(tests, file), 'latin1')
  const digests = Object.entries(variants).map(([name, vary]) => [name, digest(reading(vary(raw)))])
  return JSON.stringify({ file, reading: JSON.parse(reading(raw)), variants: Object.fromEntries(digests) })
}

if (import.meta.main) writeFileSync(readingsFile, `[\n${sampleFiles.map(readingOf).join(',\n')}\n]\n`)
