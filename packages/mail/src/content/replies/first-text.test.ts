// Messages that answer nothing: all of their text is new, but a real signature.
import { describe, expect, test } from 'vitest'
import { readMail } from '../reading.ts'
import { isReplySubject } from './subject-prefixes.ts'

const own = (text: string, fields = 'Subject: Request', type = 'text/plain') =>
  readMail(Buffer.from(`From: a@b.example\r\n${fields}\r\nContent-Type: ${type}; charset=utf-8\r\n\r\n${text.replaceAll('\n', '\r\n')}`))
    .extractedText
const reply = 'Subject: Request\r\nIn-Reply-To: <1@b.example>'

const form = 'New request\n\nFrom: Visitor\nTo: Sales\nDate: 3 March 2026 09:15\nSubject: Offer\n\n12 bolts, please'
const pasted = 'See what they wrote:\n\nOn Tue, Mar 3, 2026 at 9:15 AM Bob <bob@x.example> wrote:\n> The price is 500.\n\nIs that right?'
const sections = 'Part one\n--\nPart two\n--\nPart three'
const quoted = '> Rule 1: be kind\n\nThat is our rule.'

describe('a first message', () => {
  test.each([
    ['a form', form],
    ['pasted mail', pasted],
    ['sections between dashes', sections],
    ['a quotation', quoted],
    ['an original message', `Look:\n\n-----Original Message-----\nFrom: Bob <bob@x.example>\nSent: Tuesday\nTo: Ann\nSubject: x\n\nHi`],
    ['a request above a line', 'Please write your name above this line\n\n______\n\nThank you'],
  ])('keeps %s', (_, text) => expect(own(text)).toBe(text))

  test('loses a real signature, and a line of a device', () => {
    expect(own('Hello\n\n-- \nAnn Weber\nSales')).toBe('Hello')
    expect(own('Hello\n\nSent from my iPhone')).toBe('Hello')
    expect(own('-- \nAnn')).toBe('-- \nAnn'.replace('-- ', '--'))
    expect(own(`One\n-- \n${'line\n'.repeat(30)}end`)).toMatch(/^One\n--\nline\n[\s\S]*end$/)
  })
})

describe('a reply', () => {
  test('loses what its client quoted, by its fields or its subject', () => {
    for (const fields of [reply, 'Subject: x\r\nReferences: <1@b.example>', 'Subject: AW: Anfrage', 'Subject: [Ticket 5] Re[2]: x']) {
      expect(own(`Yes.\n\n${form.slice(form.indexOf('From:'))}`, fields)).toBe('Yes.')
      expect(own(`Yes.\n\n${pasted.slice(pasted.indexOf('On Tue'), pasted.indexOf('\n\nIs'))}`, fields)).toBe('Yes.')
    }
  })

  test.each([
    '##- Please type your reply above this line -##',
    '-- Reply above this line --',
    '=-=-=-= Please reply above this line =-=-=-=',
    'Write ABOVE THIS LINE to post a reply',
    '*** Bitte antworten Sie oberhalb dieser Zeile ***',
    '--- Répondez au-dessus de cette ligne ---',
    '##- Responda por encima de esta línea -##',
    '##- Antwoord boven deze regel -##',
    '##- Пожалуйста, введите ответ над этой строкой -##',
    '##- この行より上に返信を入力してください -##',
    '##- 请在此行上方回复 -##',
  ])('ends at "%s"', (line) => {
    expect(own(`It works now.\n\n${line}\n\nYour request was updated.\n\nAgent`, reply)).toBe('It works now.')
    expect(own(`${line}\n\nYour request was updated.`, reply)).toContain('Your request was updated.')
  })

  test('may speak about a line above', () =>
    expect(own('I wrote my answer above this line of the table.\nSee there.', reply)).toBe(
      'I wrote my answer above this line of the table.\nSee there.',
    ))
})

describe('a quotation that the author made with a button', () => {
  const outlook =
    '<p>They said</p><blockquote itemscope itemtype="https://schemas.microsoft.com/QuotedText" style="border-left: 3px solid rgb(200,200,200); padding-left: 10px">Five days</blockquote><p>Fine?</p>'
  const gmail =
    '<div>They said</div><blockquote style="margin: 0 0 0 40px; border: none; padding: 0px;"><div>Five days</div></blockquote><div>Fine?</div>'

  test.each([
    ['of Outlook', outlook],
    ['of Gmail', gmail],
  ])('%s stays in a reply', (_, html) => {
    expect(own(html, reply, 'text/html').replace(/\n+/g, '\n')).toBe('They said\nFive days\nFine?')
  })

  test('the mail that a client quotes does not', () => {
    const cite = '<p>Yes</p><blockquote type="cite">Old</blockquote>'
    const border =
      '<p>Yes</p><blockquote class="gmail_quote" style="margin:0 0 0 .8ex;border-left:1px #ccc solid;padding-left:1ex">Old</blockquote>'
    for (const html of [cite, border, '<p>Yes</p><blockquote>Old</blockquote>']) expect(own(html, reply, 'text/html')).toBe('Yes')
    const nested = `<p>Yes</p><blockquote type="cite"><blockquote style="margin: 0 0 0 40px; border: none">Inner</blockquote>Old</blockquote><p>End</p>`
    expect(own(nested, reply, 'text/html').replace(/\n+/g, '\n')).toBe('Yes\nEnd')
  })
})

test.each([
  ['Re: Offer', true],
  ['RE : Offer', true],
  ['回复：报价', true],
  ['SV: Tilbud', true],
  ['R: Offerta', true],
  ['[list] Re: Offer', true],
  ['Return of goods: five bolts', false],
  ['Request: offer', false],
  ['Ref: 12345', false],
  ['About Re: and its use', false],
])('the subject %s begins a reply: %s', (subject, is) => expect(isReplySubject(subject)).toBe(is))
