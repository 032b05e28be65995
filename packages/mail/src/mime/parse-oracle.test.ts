// Our parser against postal-mime, on our fixtures and on generated mail: bodies, people and attachment bytes agree.
import { readFileSync } from 'node:fs'
import fc from 'fast-check'
import MailComposer from 'nodemailer/lib/mail-composer'
import PostalMime, { type Address } from 'postal-mime'
import { describe, expect, it } from 'vitest'
import { parseMessage } from './parse.ts'
import { decodeAttachment } from './transfer-encoding.ts'

type Reading = {
  subject: string
  people: Record<string, string[]>
  text: string
  html: string
  attachments: { name: string | null; type: string; bytes: string }[]
}

const collapse = (text: string | null | undefined) => (text ?? '').replace(/\s+/g, ' ').trim()

function readOurs(raw: Buffer): Reading {
  const message = parseMessage(raw)
  const list = (addresses: { name: string; address: string }[]) => addresses.map(({ name, address }) => `${name}|${address}`)
  return {
    subject: message.subject,
    people: { from: list(message.from), to: list(message.to), cc: list(message.cc), replyTo: list(message.replyTo) },
    text: collapse(message.text),
    html: collapse(message.html),
    attachments: message.attachments.map((part) => ({
      name: part.filename,
      type: part.contentType,
      bytes: decodeAttachment(raw.subarray(part.start, part.end), part.encoding).toString('latin1'),
    })),
  }
}

async function readTheirs(raw: Buffer): Promise<Reading> {
  const email = await PostalMime.parse(raw, { forceRfc822Attachments: true, attachmentEncoding: 'arraybuffer' })
  const list = (addresses: Address[] | undefined): string[] =>
    (addresses ?? []).flatMap((entry) => (entry.group === undefined ? [`${entry.name}|${lowerDomain(entry.address)}`] : list(entry.group)))
  return {
    subject: email.subject ?? '',
    people: {
      from: list(email.from === undefined ? [] : [email.from]),
      to: list(email.to),
      cc: list(email.cc),
      replyTo: list(email.replyTo),
    },
    text: collapse(email.text),
    html: collapse(email.html),
    attachments: email.attachments.map(({ filename, mimeType, content }) => ({
      name: filename,
      type: mimeType,
      bytes: Buffer.from(content as ArrayBuffer).toString('latin1'),
    })),
  }
}

function lowerDomain(address: string): string {
  const at = address.lastIndexOf('@')
  return address.slice(0, at) + address.slice(at).toLowerCase()
}

describe('fixtures', () => {
  // Left out: `broken` (postal-mime gives up on it differently), `newsletter-html` (its text from html has another layout), `flowed` (it keeps
  // no quote depth). `calendar` differs in line ends, which postal-mime rewrites inside calendar parts.
  it.each(['gmail-reply', 'outlook-related', 'apple-mixed', 'bounce', 'japanese-iso-2022-jp', 'signed-list', 'continued-parameters'])(
    '%s',
    async (name) => {
      const file = readFileSync(new URL(`../../tests/messages/${name}.eml`, import.meta.url))
      const raw = Buffer.from(file.toString('latin1').replace(/\r?\n/g, '\r\n'), 'latin1')
      const [ours, theirs] = [readOurs(raw), await readTheirs(raw)]
      // postal-mime names nothing where the sender did not, and rewrites the line ends of parts that are not encoded.
      const comparable = (reading: Reading) => ({
        ...reading,
        attachments: reading.attachments.map((part, index) => ({
          ...part,
          name: theirs.attachments[index]?.name === null ? null : part.name,
          bytes: part.bytes.replaceAll('\r\n', '\n').trimEnd(),
        })),
      })
      expect(comparable(ours)).toEqual(comparable(theirs))
    },
  )
})

const word = fc
  .string({ unit: fc.constantFrom(...'abcXYZ019äöß€日本😀 .-'), minLength: 1, maxLength: 12 })
  .map((text) => text.trim().replace(/\s+/g, ' ') || 'x')
const line = fc.string({ unit: fc.constantFrom(...'abc =.>-äß€日😀\t<&'), maxLength: 120 })
const body = fc.array(line, { minLength: 1, maxLength: 8 }).map((lines) => `x${lines.join('\n')}`)
const address = fc.tuple(word, fc.constantFrom('ann', 'bob.b', "o'neil", 'a+tag'), fc.constantFrom('x.example', 'mail.y.example'))
const bytes = fc.uint8Array({ maxLength: 300 }).map((array) => Buffer.from(array))

describe('generated mail', () => {
  it('both parsers return the original text of messages by nodemailer', async () => {
    const mail = fc.record({
      from: address,
      to: fc.array(address, { minLength: 1, maxLength: 5 }),
      cc: fc.array(address, { maxLength: 3 }),
      subject: word,
      text: body,
      html: fc.option(body, { nil: undefined }),
      encoding: fc.constantFrom('base64', 'quoted-printable', undefined),
      attachments: fc.array(fc.record({ filename: word.map((name) => `${name.replace(/^[.\s]+/, '') || 'f'}.bin`), content: bytes }), {
        maxLength: 3,
      }),
    })
    await fc.assert(
      fc.asyncProperty(mail, async ({ from, to, cc, encoding, ...rest }) => {
        const box = ([name, local, domain]: [string, string, string]) => ({ name, address: `${local}@${domain}` })
        const options = {
          ...rest,
          from: box(from),
          to: to.map(box),
          cc: cc.map(box),
          ...(encoding === undefined ? {} : { textEncoding: encoding as 'base64' }),
        }
        const raw = await new MailComposer(options).compile().build()
        const ours = readOurs(raw)
        const theirs = await readTheirs(raw)
        expect(ours).toEqual(theirs)
        expect(ours.subject).toBe(rest.subject)
        expect(ours.people.to).toEqual(to.map(([name, local, domain]) => `${name}|${local}@${domain}`))
        expect(ours.text).toBe(collapse(rest.text))
        expect(ours.attachments.map(({ name, bytes: content }) => [name, content])).toEqual(
          rest.attachments.map(({ filename, content }) => [filename, content.toString('latin1')]),
        )
      }),
      { numRuns: 150 },
    )
  })

  it('any tree of parts in any encoding', async () => {
    await fc.assert(
      fc.asyncProperty(tree, fc.boolean(), async (parts, isBareLf) => {
        const text = `From: a@b.example\r\nSubject: x\r\n${render(parts, { next: 0 })}`
        const raw = Buffer.from(isBareLf ? text.replaceAll('\r\n', '\n') : text, 'latin1')
        const [ours, theirs] = [readOurs(raw), await readTheirs(raw)]
        expect(ours.text).toBe(theirs.text)
        expect(ours.html).toBe(theirs.html)
        expect(ours.attachments).toEqual(theirs.attachments)
      }),
      { numRuns: 400 },
    )
  })
})

type Part = { type: string; encoding: string; content: Buffer; name?: string } | { kind: string; parts: Part[]; preamble: string }

const encoding = fc.constantFrom('base64', 'quoted-printable', '8bit')
const plain: fc.Arbitrary<Part> = fc.record({
  type: fc.constant('text/plain; charset=utf-8'),
  encoding,
  content: body.map((text) => Buffer.from(text.replaceAll('\t', ' '))),
})
const html: fc.Arbitrary<Part> = fc.record({
  type: fc.constant('text/html; charset=utf-8'),
  encoding,
  content: word.map((text) => Buffer.from(`<p>${text}</p>`)),
})
const file: fc.Arbitrary<Part> = fc.record({
  type: fc.constantFrom('application/pdf', 'image/png'),
  encoding: fc.constant('base64'),
  content: bytes,
  name: fc.constantFrom('a.pdf', 'b c.png'),
})
const preamble = fc.constantFrom('', 'old readers see this\r\n')
const related: fc.Arbitrary<Part> = fc.record({ kind: fc.constant('related'), parts: fc.tuple(html, file), preamble })
const alternative: fc.Arbitrary<Part> = fc.record({
  kind: fc.constant('alternative'),
  parts: fc.tuple(plain, fc.oneof(html, related)),
  preamble,
})
const mixed: fc.Arbitrary<Part> = fc.letrec<{ mixed: Part }>((tie) => ({
  mixed: fc.record({
    kind: fc.constantFrom('mixed', 'signed', 'x-unknown'),
    parts: fc.array(fc.oneof({ depthSize: 'small' }, file, alternative, tie('mixed')), { minLength: 1, maxLength: 4 }),
    preamble,
  }),
})).mixed
const tree = fc.oneof(plain, alternative, mixed)

// Boundaries with a common prefix.
function render(part: Part, counter: { next: number }): string {
  if ('parts' in part) {
    const boundary = `b${'-'.repeat(counter.next % 3)}${counter.next++}`
    const inner = part.parts.map((child) => `--${boundary}\r\n${render(child, counter)}\r\n`).join('')
    return `Content-Type: multipart/${part.kind}; boundary="${boundary}"\r\n\r\n${part.preamble}${inner}--${boundary}--`
  }
  const disposition = part.name === undefined ? '' : `Content-Disposition: attachment; filename="${part.name}"\r\n`
  return `Content-Type: ${part.type}\r\n${disposition}Content-Transfer-Encoding: ${part.encoding}\r\n\r\n${encode(part.content, part.encoding)}`
}

function encode(content: Buffer, name: string): string {
  if (name === 'base64') return content.toString('base64').replace(/.{76}/g, '$&\r\n')
  if (name === '8bit') return content.toString('latin1').replace(/\r?\n/g, '\r\n').replace(/^--/gm, '..')
  return content
    .toString('latin1')
    .replace(/[^\n -<>-~]|[ \t]$/gm, (byte) => `=${byte.charCodeAt(0).toString(16).toUpperCase().padStart(2, '0')}`)
    .replace(/\n/g, '\r\n')
    .replace(/^--/gm, '=2D-')
}
