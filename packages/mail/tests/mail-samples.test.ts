// Sample mail, read by us, by postal-mime and by Python: where the two agree we agree with them, and elsewhere with one of them, or we say why not.
// The samples of this repository always, with the stored readings of Python. Those of other libraries' suites from CALLSIGN_TEST_VECTORS/mime
// (mikel/mail spec/fixtures, postal-mime and mailparser test fixtures, MIT and MIT-0) need Python.
import { globSync, readFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { parseMessage } from '../src/mime/parse.ts'
import { decodeAttachment } from '../src/mime/transfer-encoding.ts'
import { digestOf, findPython, foldSpace, type Reading, readWithPostalMime } from './harness/mail-oracles.ts'
import { ownSamples, pythonReadingsFile, readAllWithPython, readSample } from './messages/write-python-readings.ts'

function readOurs(raw: Buffer): Reading {
  const message = parseMessage(raw)
  const list = (addresses: { address: string }[]) => addresses.flatMap(({ address }) => (address === '' ? [] : [address]))
  return {
    subject: foldSpace(message.subject),
    from: list(message.from),
    to: list(message.to),
    cc: list(message.cc),
    text: foldSpace(message.text),
    html: foldSpace(message.html),
    attachments: message.attachments.map(({ start, end, encoding }) => digestOf(decodeAttachment(raw.subarray(start, end), encoding))),
  }
}

type Field = keyof Reading
const fields: Field[] = ['subject', 'from', 'to', 'cc', 'text', 'html', 'attachments']

/** Case of addresses and the order of attachments are no difference; a text made from html is everybody's own. */
function comparable(field: Field, reading: Reading): string {
  const value = reading[field]
  if (field === 'attachments') return JSON.stringify([...(value as string[])].sort())
  return Array.isArray(value) ? JSON.stringify(value).toLowerCase() : value
}

/** By sample and field: why we read otherwise than both. */
const differences: Record<string, Partial<Record<Field, string>>> = {
  'flowed.eml': { text: 'quoted lines that flow are joined (RFC 3676 §4.5); the others leave their marks in the middle' },
  'mikel+mail-spec_fixtures_emails_error_emails_content_transfer_encoding_plain.eml': {
    text: 'says us-ascii and is windows-1252: we read what was meant',
  },
  'mikel+mail-spec_fixtures_emails_error_emails_missing_body.eml': { to: 'a group name where an address should be: all three guess' },
  'mikel+mail-spec_fixtures_emails_plain_emails_raw_email10.eml': {
    text: 'says x-unknown and is UTF-8: we read what was meant',
  },
  'mikel+mail-spec_fixtures_emails_plain_emails_raw_email6.eml': { text: 'says us-ascii and is UTF-8: we read what was meant' },
  'mikel+mail-spec_fixtures_emails_plain_emails_raw_email_multiple_from.eml': {
    from: 'two addresses with nothing but a blank between them: we see both',
    to: 'as from',
  },
  'nodemailer+mailparser-test_fixtures_large_text.eml': { text: 'cut at our limit of a million characters' },
  'nodemailer+mailparser-test_fixtures_outofmemory.eml': { html: 'cut at our limit of a million characters' },
  'nodemailer+mailparser-test_fixtures_mixed.eml': {
    html: 'text between html parts becomes html of its own; each parser does it in its way',
  },
  'postalsys+postal-mime-test_fixtures_mixed.eml': { html: 'the same message' },
}

async function expectAgreement(file: string, byPython: Reading): Promise<void> {
  const [name, raw] = [basename(file), readSample(file)]
  const ours = readOurs(raw)
  const others = [byPython, await readWithPostalMime(raw).catch(() => null)].flatMap((reading) => reading ?? [])
  const different = fields.filter((field) => {
    const isMadeFromHtml = field === 'text' && ours.html !== '' && others.some((reading) => reading.text === '')
    return !isMadeFromHtml && !others.some((reading) => comparable(field, reading) === comparable(field, ours))
  })
  const known = Object.keys(differences[name] ?? {}) as Field[]
  expect(
    Object.fromEntries(
      different
        .filter((field) => !known.includes(field))
        .map((field) => [field, { ours: ours[field], others: others.map((reading) => reading[field]) }]),
    ),
  ).toEqual({})
  expect(known.filter((field) => !different.includes(field))).toEqual([])
}

const stored = JSON.parse(readFileSync(pythonReadingsFile, 'utf8')) as Record<string, Reading>
test.each(ownSamples.map((file) => [basename(file), file]))('%s', (name, file) => expectAgreement(file, stored[name] as Reading))

const python = findPython()
test.skipIf(python)(`the stored readings are those of this Python${python ? ` (skipped: ${python})` : ''}`, () =>
  expect(readAllWithPython(ownSamples)).toEqual(stored),
)

const folder = process.env.CALLSIGN_TEST_VECTORS
const missing = folder === undefined ? 'CALLSIGN_TEST_VECTORS names no folder with them' : python
describe.skipIf(missing)(`samples of other libraries${missing ? ` (skipped: ${missing})` : ''}`, () => {
  test('are read as the other parsers do', async () => {
    const files = globSync('mime/*.eml', { cwd: folder as string }).map((name) => join(folder as string, name))
    const byPython = readAllWithPython(files)
    for (const file of files) await expectAgreement(file, byPython[basename(file)] as Reading)
  })
})
