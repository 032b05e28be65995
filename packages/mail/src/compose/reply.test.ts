// Tests of the fields and bodies that replies and forwards take over.
import { describe, expect, test } from 'vitest'
import { expectCost } from '../../tests/harness/cost.ts'
import { forwardSubject, quotedForward, replyRecipients, replyReferences, replySubject } from './reply.ts'

describe('subjects', () => {
  test.each([
    ['hello', 'Re: hello'],
    ['  hello ', 'Re: hello'],
    ['', 'Re:'],
    ['Re: hello', 'Re: hello'],
    ['RE: hello', 'RE: hello'],
    ['re:hello', 're:hello'],
    ['Re[2]: hello', 'Re[2]: hello'],
    ['Re^3: hello', 'Re^3: hello'],
    ['AW: hallo', 'AW: hallo'],
    ['SV: hej', 'SV: hej'],
    ['Antw: hoi', 'Antw: hoi'],
    ['Re\uff1a hello', 'Re\uff1a hello'],
    ['Regarding: hello', 'Re: Regarding: hello'],
    ['Fwd: hello', 'Re: Fwd: hello'],
    ['Report', 'Re: Report'],
  ])('a reply to %j is %j, and a reply to that is the same', (subject, expected) => {
    expect(replySubject(subject)).toBe(expected)
    expect(replySubject(replySubject(subject))).toBe(expected)
  })

  test.each([
    ['hello', 'Fwd: hello'],
    ['Fwd: hello', 'Fwd: hello'],
    ['FW: hello', 'FW: hello'],
    ['WG: hallo', 'WG: hallo'],
    ['TR: salut', 'TR: salut'],
    ['Re: hello', 'Fwd: Re: hello'],
    ['', 'Fwd:'],
  ])('a forward of %j is %j', (subject, expected) => {
    expect(forwardSubject(subject)).toBe(expected)
    expect(forwardSubject(expected)).toBe(expected)
  })

  test('never longer than a subject may be', () => {
    expect(replySubject('x'.repeat(998))).toHaveLength(998)
    expect(replySubject(`${'x'.repeat(993)}\u{1f600}`).isWellFormed()).toBe(true)
  })
})

describe('replyReferences', () => {
  test('the chain of the parent, then the parent', () => {
    expect(replyReferences({ messageId: '<c@x>', references: ['<a@x>', '<b@x>'], inReplyTo: ['<b@x>'] })).toEqual([
      '<a@x>',
      '<b@x>',
      '<c@x>',
    ])
    expect(replyReferences({ messageId: '<c@x>', references: [], inReplyTo: ['<b@x>'] })).toEqual(['<b@x>', '<c@x>'])
    expect(replyReferences({ messageId: '<c@x>', references: [], inReplyTo: ['<a@x>', '<b@x>'] })).toEqual(['<c@x>'])
    expect(replyReferences({ messageId: null, references: ['<a@x>'], inReplyTo: [] })).toEqual(['<a@x>'])
    expect(replyReferences({ messageId: null, references: [], inReplyTo: [] })).toEqual([])
  })

  test('a parent that refers to itself, and repetitions', () => {
    expect(replyReferences({ messageId: '<a@x>', references: ['<a@x>', '<b@x>', '<b@x>', ''], inReplyTo: [] })).toEqual(['<b@x>', '<a@x>'])
  })

  test('ids without their white space', () => {
    expect(replyReferences({ messageId: '<b@x>', references: [' <a@x>', '<a@x> ', ' '], inReplyTo: [] })).toEqual(['<a@x>', '<b@x>'])
  })

  test('at most a hundred, the first kept', () => {
    const references = Array.from({ length: 500 }, (_, i) => `<${i}@x>`)
    const chain = replyReferences({ messageId: '<new@x>', references, inReplyTo: [] })
    expect(chain).toHaveLength(100)
    expect([chain[0], chain[1], chain.at(-1)]).toEqual(['<0@x>', '<402@x>', '<new@x>'])
  })
})

describe('replyRecipients', () => {
  const at = (...addresses: string[]) => addresses.map((address) => ({ name: '', address }))
  const from = at('ann@x.test')
  const base = {
    from,
    replyTo: at(),
    to: at('me@here.test', 'bob@x.test'),
    cc: at('cy@x.test'),
    ownAddresses: ['me@here.test'],
    isSent: false,
    replyAll: false,
  }
  const flat = ({ to, cc }: ReturnType<typeof replyRecipients>) => [to.map((one) => one.address), cc.map((one) => one.address)]

  test('goes to the sender, or where Reply-To says', () => {
    expect(flat(replyRecipients(base))).toEqual([['ann@x.test'], []])
    expect(flat(replyRecipients({ ...base, replyTo: at('list@x.test', 'desk@x.test') }))).toEqual([['list@x.test', 'desk@x.test'], []])
    expect(flat(replyRecipients({ ...base, replyTo: at('me@here.test') }))).toEqual([['ann@x.test'], []])
  })

  test('goes to every author, and has no recipient without an author', () => {
    expect(flat(replyRecipients({ ...base, from: at('ann@x.test', 'bob@x.test') }))).toEqual([['ann@x.test', 'bob@x.test'], []])
    expect(flat(replyRecipients({ ...base, from: [] }))).toEqual([[], []])
  })

  test('reply-all keeps the others, without ourselves in any form and without repetitions', () => {
    expect(flat(replyRecipients({ ...base, replyAll: true }))).toEqual([['ann@x.test', 'bob@x.test'], ['cy@x.test']])
    const messy = {
      to: at('ME+tag@HERE.test', 'Bob@X.test', 'bob@x.test', 'ANN@x.test'),
      cc: at('bob@x.test', 'me@here.test', 'cy@x.test', 'CY@X.TEST', ''),
    }
    expect(flat(replyRecipients({ ...base, ...messy, replyAll: true }))).toEqual([['ann@x.test', 'Bob@X.test'], ['cy@x.test']])
  })

  test('our address with a tag is ours, and a longer name is not', () => {
    const to = at('me+sales@here.test', 'me2@here.test', 'me@elsewhere.test')
    expect(flat(replyRecipients({ ...base, ownAddresses: ['me+news@here.test'], to, cc: at(), replyAll: true }))).toEqual([
      ['ann@x.test', 'me2@here.test', 'me@elsewhere.test'],
      [],
    ])
  })

  test('a local part that begins with a plus sign has no tag', () => {
    expect(flat(replyRecipients({ ...base, ownAddresses: ['+a@here.test'], from: at('+b@here.test') }))).toEqual([['+b@here.test'], []])
  })

  test('a reply to our own message goes to its recipients', () => {
    const ours = {
      ...base,
      isSent: true,
      from: [{ name: 'Me', address: 'Me@here.test' }],
      replyTo: at('desk@x.test'),
      to: at('bob@x.test'),
    }
    expect(flat(replyRecipients(ours))).toEqual([['bob@x.test'], []])
    expect(flat(replyRecipients({ ...ours, replyAll: true }))).toEqual([['bob@x.test'], ['cy@x.test']])
    expect(flat(replyRecipients({ ...ours, to: at('me@here.test'), cc: at() }))).toEqual([['me@here.test'], []])
    expect(flat(replyRecipients({ ...ours, to: at(), replyAll: true }))).toEqual([['cy@x.test'], []])
    expect(flat(replyRecipients({ ...ours, to: at(), cc: at() }))).toEqual([['Me@here.test'], []])
  })

  test('a received message that names us as its author is answered to its Reply-To, and without one to its recipients', () => {
    const form = { ...base, from: at('me@here.test'), replyTo: at('visitor@x.test'), to: at('me@here.test'), cc: at() }
    expect(flat(replyRecipients(form))).toEqual([['visitor@x.test'], []])
    expect(flat(replyRecipients({ ...form, replyAll: true, cc: at('cy@x.test') }))).toEqual([['visitor@x.test'], ['cy@x.test']])
    expect(flat(replyRecipients({ ...form, replyTo: at(), to: at('bob@x.test') }))).toEqual([['bob@x.test'], []])
    expect(flat(replyRecipients({ ...form, replyTo: at('me+form@here.test') }))).toEqual([['me@here.test'], []])
  })
})

describe('quotedForward', () => {
  const message = {
    from: [{ name: 'Ann <b>', address: 'ann@x.test' }],
    to: [{ name: '', address: 'me@here.test' }],
    cc: [],
    subject: 'One\r\nTwo & <three>',
    date: new Date('2026-01-02T03:04:05Z'),
    text: 'the text',
    html: '',
    introText: 'Look & see:\n<this>',
    introHtml: '',
  }
  const head = 'From: Ann <b> <ann@x.test>\nDate: Fri, 02 Jan 2026 03:04:05 +0000\nSubject: One Two & <three>\nTo: me@here.test'

  test('plain text stays plain text', () => {
    expect(quotedForward(message)).toEqual({
      text: `Look & see:\n<this>\n\n---------- Forwarded message ----------\n${head}\n\nthe text`,
      html: '',
    })
    expect(quotedForward({ ...message, introText: '' }).text.startsWith('----------')).toBe(true)
  })

  test('every recipient is shown, and the own text ends at its last letter', () => {
    const cc = [
      { name: 'Cy', address: 'cy@x.test' },
      { name: '', address: 'di@x.test' },
    ]
    const { text } = quotedForward({ ...message, cc, subject: ' \t', introText: '  Look\n \n' })
    expect(text).toBe(
      `  Look\n\n---------- Forwarded message ----------\n${head.replace('One Two & <three>', '')}\nCc: Cy <cy@x.test>, di@x.test\n\nthe text`,
    )
  })

  test('html without an own text, octet by octet', () => {
    const from = [{ name: '"Ann"', address: 'ann@x.test' }]
    const { html } = quotedForward({ ...message, from, text: '', html: '<p>hi</p>', introText: '' })
    expect(html).toBe(
      `<div>---------- Forwarded message ----------<br>
<b>From:</b> &quot;Ann&quot; &lt;ann@x.test&gt;<br>
<b>Date:</b> Fri, 02 Jan 2026 03:04:05 +0000<br>
<b>Subject:</b> One Two &amp; &lt;three&gt;<br>
<b>To:</b> me@here.test</div>
<br>
<div><p>hi</p></div>`,
    )
    expect(quotedForward({ ...message, text: '', introHtml: '<p>own</p>' }).html).toMatch(/<br>\n<div><\/div>$/)
  })

  test.each([
    ['<p>hi</p></body>', '<p>hi</p></body>'],
    ['</body><body>hi', 'hi'],
    ['<body></body>', ''],
    ['<body>a</body>b</BODY>', 'a</body>b'],
    ['<bodyguard>hi', '<bodyguard>hi'],
  ])('the body of %j is %j', (html, body) => {
    expect(quotedForward({ ...message, html }).html.endsWith(`<br>\n<div>${body}</div>`)).toBe(true)
  })

  test("html is quoted without its document, its headers escaped, one's own text made html", () => {
    const { html } = quotedForward({ ...message, html: '<html><head><title>t</title></head><BODY class="a"><p>hi</p></body></html>' })
    expect(html).toContain('<div>Look &amp; see:<br>\n&lt;this&gt;</div>')
    expect(html).toContain('<b>From:</b> Ann &lt;b&gt; &lt;ann@x.test&gt;<br>')
    expect(html).toContain('<div><p>hi</p></div>')
    expect(html).not.toMatch(/<title|<html/)
  })

  test("html of one's own above a plain message", () => {
    expect(quotedForward({ ...message, introHtml: '<p>own</p>' }).html).toMatch(/^<p>own<\/p>[\s\S]*<div>the text<\/div>/)
  })

  test.each(['<body ', '</body', '<body', '&'])('hostile html of %j takes time in proportion to its size', async (piece) => {
    const text = piece.repeat(200_000)
    await expectCost(() => quotedForward({ ...message, html: text, text }), 1000)
  })
})
