// Replies by mail program and layout. The own words are found above, below and between quotations, and are never lost to an empty reply.
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { readMail } from '../src/content/reading.ts'
import { extractReplyText } from '../src/content/replies/reply-text.ts'
import { attributions, headerBlocks } from './replies/quotation-lines.ts'

const OWN = 'Sure, that works for me.\nShall we say Monday?'
const QUOTE = 'Hi Ann,\ncan you send the contract?\n\nBob'
const MARKED = QUOTE.replace(/^/gm, '> ').replace(/ $/gm, '')

describe('attributions', () => {
  test.each(attributions)('%s', (_name, attribution) => {
    expect(extractReplyText(`${OWN}\n\n${attribution}\n\n${MARKED}`)).toBe(OWN)
    expect(extractReplyText(`${OWN}\n\n${attribution}\n\n${QUOTE}`)).toBe(OWN)
    expect(extractReplyText(`${attribution}\n${MARKED}\n\n${OWN}`)).toBe(OWN)
    expect(extractReplyText(`Hi Bob,\n\n${attribution}\n${MARKED}\n\n${OWN}`)).toBe(`Hi Bob,\n\n${OWN}`)
  })

  test.each(attributions)('%s, before unmarked own words', (_name, attribution) => {
    expect(extractReplyText(`${attribution}\n\n${OWN}`)).toBe(OWN)
  })
})

describe('header blocks', () => {
  test.each(headerBlocks)('%s', (_name, block) => {
    expect(extractReplyText(`${OWN}\n\n${block}\n\n${QUOTE}`)).toBe(OWN)
    expect(extractReplyText(`${block}\n\n${MARKED}\n\n${OWN}`)).toBe(OWN)
  })
})

describe('own words on the line of the attribution', () => {
  const attribution = 'On Tue, Mar 3, 2026 at 9:15 AM, Bob <bob@x.example> wrote:'
  test.each([
    ['before it', `Thanks! ${attribution}\n${MARKED}`, 'Thanks!'],
    ['before dashes', `Thanks!--- ${attribution}\n${MARKED}`, 'Thanks!'],
    ['before dashes on both sides', `Thanks ---- ${attribution.slice(0, -1)} ----\n\n${QUOTE}`, 'Thanks'],
    ['below other words', `Fine.\nSee you then. ${attribution}\n${MARKED}`, 'Fine.\nSee you then.'],
  ])('%s', (_name, text, expected) => expect(extractReplyText(text)).toBe(expected))
})

describe('other quote marks', () => {
  test.each([
    [
      'initials',
      'Hello Bob,\n\nTuesday, March 3, 2026, 9:15:00 AM, you wrote:\n\nBD> can you come?\nBD> And when?\n\nYes, at noon.',
      'Hello Bob,\n\nYes, at noon.',
    ],
    ['bars', 'On Tue, Mar 3, 2026 at 9:15 AM Bob <bob@x.example> wrote:\n| can you come?\n| And when?\n\nYes, at noon.', 'Yes, at noon.'],
  ])('%s', (_name, text, expected) => expect(extractReplyText(text)).toBe(expected))
})

describe('forwards keep the forwarded message', () => {
  const forwarded = 'From: Bob <bob@x.example>\nDate: Tue\nSubject: x\nTo: Ann\n\nHi Ann,\n> old'
  test.each([
    ['Gmail', `FYI, please handle.\n\n---------- Forwarded message ---------\n${forwarded}`],
    ['Gmail, German', `Zur Info\n\n---------- Forwarded message ---------\nVon: Bob <bob@x.example>\n\nHallo`],
    ['Thunderbird, French', `Voici\n\n-------- Message transféré --------\n${forwarded}`],
    ['Zoho', `FYI\n\n============ Forwarded message ============\n${forwarded}`],
    ['Apple Mail', 'See below\n\nBegin forwarded message:\n\n> From: Bob <bob@x.example>\n> Subject: x\n>\n> Hi'],
    ['Apple Mail, Danish', `Se her\n\nStart på videresendt besked:\n\n${forwarded}`],
  ])('%s', (_name, text) => expect(extractReplyText(text)).toBe(text))

  test('a forward of Outlook is known by its subject', () => {
    const block = 'From: Bob <bob@x.example>\nSent: Tuesday, March 3, 2026 9:15 AM\nTo: Ann <ann@x.example>\nSubject: Contract\n\nHi Ann'
    const read = (subject: string) =>
      readMail(Buffer.from(`From: a@x.example\r\nSubject: ${subject}\r\n\r\nFYI\r\n\r\n${block.replaceAll('\n', '\r\n')}\r\n`))
        .extractedText
    for (const subject of ['FW: Contract', 'Fwd: Contract', 'WG: Vertrag', 'TR : Contrat', 'Contract'])
      expect(read(subject)).toBe(`FYI\n\n${block}`)
    for (const subject of ['RE: Contract', 'RE: FW: Contract']) expect(read(subject)).toBe('FYI')
  })

  test('a forward inside a quotation is quoted', () =>
    expect(extractReplyText(`Thanks.\n\n-----Original Message-----\n\nFYI\n\n---------- Forwarded message ----------\n${forwarded}`)).toBe(
      'Thanks.',
    ))
})

describe('device signatures', () => {
  test.each([
    'Sent from my iPhone',
    'Sent from my Verizon Wireless BlackBerry',
    'Sent from my phone, please excuse typos.',
    'Sent from my mobile. Sorry for the brevity!',
    'Sent from my Galaxy S26 Ultra, powered by Example Mobile',
    'Von meinem iPhone gesendet',
    'Get Outlook for iOS<https://aka.ms/x>',
    'Verzonden vanuit Outlook voor iOS',
    'Enviado do iPhone',
    'Gesendet mit iPhone',
    'Az iPhone-omról küldve',
    'Trimis de pe iPhone-ul meu',
    '\u202bأُرسلت من الـ iPhone\u202c',
  ])('%s', (signature) => expect(extractReplyText(`Fine with me.\n\n${signature}`)).toBe('Fine with me.'))

  test('a signature alone is better than nothing', () => {
    expect(extractReplyText(`Sent from my iPhone\n\nOn Mar 3, 2026, at 9:15 AM, Bob <bob@x.example> wrote:\n\n${MARKED}`)).toBe(
      'Sent from my iPhone',
    )
    expect(extractReplyText('-- \nAnn Example')).toBe('-- \nAnn Example'.replace('-- ', '--'))
  })
})

describe('unquoted text is never lost to an empty reply', () => {
  const words = fc.constantFrom(
    'Yes.',
    'Thanks, Ann',
    'I wrote: no',
    '10:30 works',
    'ok',
    '-- ',
    '--',
    'Sent from my iPhone',
    'Begin forwarded message:',
  )
  const quoted = fc.constantFrom(MARKED, '> Hi', '>', '____', '> On Tue, Mar 3, 2026 at 9:15 AM Bob <bob@x.example> wrote:\n> > Hi')
  const mark = fc.constantFrom('-----Original Message-----', ...attributions.map(([, attribution]) => attribution))
  const block = fc.constantFrom(...headerBlocks.map(([, text]) => text), '---------- Forwarded message ---------')
  const piece = fc.oneof(
    fc.record({ kind: fc.constant('own'), text: words }),
    fc.record({ kind: fc.constant('own'), text: block }),
    fc.record({ kind: fc.constant('quoted'), text: quoted }),
    fc.record({ kind: fc.constant('quoted'), text: mark }),
    fc.record({ kind: fc.constant('quoted'), text: fc.constant('') }),
  )

  test('any order of words, quotations, attributions and blocks', () => {
    fc.assert(
      fc.property(fc.array(piece, { minLength: 1, maxLength: 9 }), fc.constantFrom('\n', '\n\n'), (pieces, separator) => {
        const source = pieces.map(({ text }) => text).join(separator)
        const reply = extractReplyText(source)
        if (pieces.some(({ kind }) => kind === 'own')) expect(reply).not.toBe('')
        // Nothing is invented.
        const lines = source.split('\n')
        for (const line of reply.split('\n')) expect(lines.some((one) => one.includes(line))).toBe(true)
      }),
      { numRuns: 3000 },
    )
  })
})
