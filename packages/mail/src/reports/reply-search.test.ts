// The reason that a report gives, block by block.
import { describe, expect, test } from 'vitest'
import { firstSentence, reasonFor, statusIn } from './reply-search.ts'
import { foldReply, wordsOf } from './reply-words.ts'
import { blocksOf, ownText, reportTextMax } from './report-text.ts'

const address = 'ada@gone.example'
const prose = (text: string, about = address) => reasonFor(text, about, true)
const strict = (text: string, about = address) => reasonFor(text, about, false)

describe('reasonFor', () => {
  test('of several recipients the reason of this one, in any letters', () => {
    const text = '<bob@gone.example>: 550 quota exceeded\n\n<Ada@Gone.example>: 550 user unknown\n\n<cy@gone.example>: 550 spam\n'
    expect(prose(text)).toBe('550 user unknown')
    expect(prose(text, 'BOB@GONE.EXAMPLE')).toBe('550 quota exceeded')
    expect(strict(text)).toBe('550 user unknown')
  })
  test('an alias has the reason of the first address of the report', () => {
    const text = 'Failed:\n\n<inner@gone.example>: 550 user unknown\n\nSome 554 is no reply.\n'
    expect(prose(text, 'alias@gone.example')).toBe('550 user unknown')
    expect(prose('inner@gone.example: mailbox full', 'alias@gone.example')).toBe('mailbox full')
    expect(prose('user unknown', '')).toBe('user unknown')
  })
  test('the two blocks below the address come before others, and the third does not', () => {
    const below = (count: number) => `550 first reply\n\n${address}\n\n${'words without a reason\n\n'.repeat(count)}550 second reply\n`
    expect(prose(below(1))).toBe('550 second reply')
    expect(prose(below(2))).toBe('550 first reply')
  })
  test('a reply ends where the transcript goes on', () => {
    for (const next of [
      '>>> DATA',
      '<<< 503 Need RCPT',
      '... while talking to mx',
      '503 5.5.0 Need RCPT',
      'Reporting-MTA: dns; mx',
      'FINAL-RECIPIENT: rfc822; x',
    ])
      expect(prose(`${address}\n550 5.1.1 unknown\nuser here\n${next}\n`)).toBe('550 5.1.1 unknown user here')
  })
  test('numbers of things are not replies', () => {
    for (const text of ['500 KB were sent', '450 bytes', 'after 552 minutes', 'call 480-624-2500 please', 'in 550 days'])
      expect([text, prose(`${text}\n`, '')]).toEqual([text, null])
  })
  test('a code without words is passed over for one with words', () => {
    expect(prose(`${address}\n\nsaid: 550 x\n\nsaid: 550 user unknown\n`)).toBe('550 x')
    expect(prose('Reason: disk problem of the host\n', '')).toBe('disk problem of the host')
  })
  test('labels, with the value on their line or in the next block', () => {
    for (const label of ['Reason', 'The error was', 'Diagnostic information', 'Motivo', 'Grund', 'Raison', 'Причина', '原因'])
      expect([label, prose(`Failed.\n\n${label}: disk of host broken\n`)]).toEqual([label, 'disk of host broken'])
    expect(prose('The reason for the problem:\n\ndisk broken\n')).toBe('disk broken')
    expect(prose('Reason:\n\n\n')).toBeNull()
    expect(prose('Reason: one\n\nNothing else\n')).toBeNull()
  })
  test('white space and decoration around a value are removed', () => {
    expect(prose('Reason: ==  disk   of host broken **\n', '')).toBe('disk of host broken')
    expect(prose('Reason: disk of host broken) .\n', '')).toBe('disk of host broken')
    expect(prose('Reason: gone ada.b@gone.example\n', '')).toBeNull()
  })
  test('a code alone is not a reply', () => {
    expect(prose(`${address}\n\n550 5.1.1\n`)).toBe('550 5.1.1')
    expect(prose(`${address}\n550\n503 5.5.0 Need RCPT\n\n550 user unknown\n`)).toBe('550 user unknown')
  })
  test('greetings and advice are not reasons', () => {
    expect(prose('Hello, the mailbox is full of greetings.\n\nThe mailbox is full.\n', '')).toBe('The mailbox is full.')
    expect(prose(`Sorry.\n\nThe mailbox is full. ${'word '.repeat(60)}\n`, '')).toBeNull()
    expect(prose(`The mailbox is full. ${'word '.repeat(50)}\n`, '')).toMatch(/^The mailbox is full/)
    expect(prose('This is confidential, and spam is unwanted.\n', '')).toBeNull()
  })
  test('an unknown reason beside the address counts, elsewhere it does not', () => {
    expect(prose(`${address}: the moon was in the way\n`)).toBe('the moon was in the way')
    expect(prose('the moon was in the way\n', '')).toBeNull()
    expect(strict(`${address}: the moon was in the way\n`)).toBe('the moon was in the way')
    expect(strict(`other@gone.example: the moon was in the way\n`)).toBeNull()
    expect(strict(`${address}: ${'the moon was in the way '.repeat(10)}\n`)).toBeNull()
    expect(strict(`${address}: this moon is privileged\n`)).toBeNull()
    expect(strict(`Failed:\n\n${address}\n\nThe mailbox is full.\n`)).toBeNull()
    expect(prose(`Failed:\n\n${address}\n\nThe mailbox is full.\n`)).toBe('The mailbox is full.')
  })
  test('brackets, quotation marks and aliases around a reason are removed', () => {
    expect(prose(`<${address}>\n    (reason: 550 user (ada) unknown)\n`)).toBe('550 user (ada) unknown')
    expect(prose(`${address} (expanded from <alias@gone.example>): mailbox is full\n`)).toBe('mailbox is full')
    expect(prose(`Error: "disk of host broken"\n`)).toBe('disk of host broken')
    for (const [behind, reason] of [
      ['>(expanded from <alias@gone.example>): mailbox is full', 'mailbox is full'],
      [')  (generated from alias@gone.example) , mailbox is full', 'mailbox is full'],
      ['> mailbox is full (original: alias)', 'mailbox is full (original: alias)'],
      ['> on Tue, 6 Apr 2021 10:00:00 +0200 mailbox is full', 'mailbox is full'],
      ['> mailbox is full. The MTS-ID of the original message is: c=us;\na=x', 'mailbox is full.'],
    ])
      expect([behind, prose(`<${address}${behind}\n`)]).toEqual([behind, reason])
  })
  test('a reason has at most 1,000 characters', () => expect(prose(`550 ${'unknown '.repeat(240)}`)?.length).toBe(1000))
  test('fields of a machine-readable part are not a reason', () => {
    expect(prose(`Final-Recipient: rfc822; ${address}\nAction: failed\nStatus: 5.1.1\nRemote-MTA: dns; user unknown\n`)).toBeNull()
  })
})

describe('firstSentence', () => {
  test('passes over greetings and headings', () => {
    expect(firstSentence('Hi there\n\nIt failed for the following addresses:\n\nThe moon was in the way.\n')).toBe(
      'The moon was in the way.',
    )
    expect(firstSentence('Hi there\n\nIt failed for the following addresses:\n')).toBe('It failed for the following addresses:')
    expect(firstSentence('Hi there\n\nFailed now\n')).toBe('Hi there')
    for (const advice of [
      'YOU DO NOT NEED TO RESEND YOUR MESSAGE.',
      'No action is required on your part.',
      'This is a warning message only.',
    ])
      expect([advice, firstSentence(`${advice}\n\nMessage will be retried for 2 days\n`)]).toEqual([
        advice,
        'Message will be retried for 2 days',
      ])
    expect(firstSentence('A message that you sent could not be delivered.\n\nall is lost')).toBe('all is lost')
    expect(firstSentence('A message that you sent has not yet been delivered to ada.\n\nall is lost')).toMatch(/delivered to ada/)
    expect(firstSentence('Three short words\n')).toBe('Three short words')
    expect(firstSentence('Oh dear\n\nall is lost\n\nmore words of text')).toBe('all is lost')
    expect(firstSentence('This text may be read only by the addressee.\n\nThe moon was in the way.\n')).toBe('The moon was in the way.')
    expect(firstSentence('If you have this message in error, please delete it and its copies.\n')).toBe('')
    expect(firstSentence('')).toBe('')
    expect(firstSentence('word '.repeat(100)).length).toBe(300)
  })
})

describe('statusIn', () => {
  test('codes of failures, and not version numbers', () => {
    expect(['(#5.1.1)', '550 5.7.26 no', 'Status: 4.4.7', '[5.2.2]'].map(statusIn)).toEqual(['5.1.1', '5.7.26', '4.4.7', '5.2.2'])
    for (const text of ['v4.6.1', 'Exim 4.92.1', 'Postfix 4.5.1', '2.1.5', '5.9.1', '5.1.1234', '5.1.1.1', '192.5.1.1', 'x5.1.1'])
      expect([text, statusIn(text)]).toEqual([text, null])
  })
})

describe('ownText', () => {
  const header = ['Received: from a by b', 'Message-ID: <1@x>', 'Subject: Hi', '', 'quoted'].join('\n')
  test('ends at a header, also of quoted lines, and with folded fields', () => {
    expect(ownText(`It failed.\n\n${header}`)).toBe('It failed.\n')
    expect(ownText(`It failed.\n${header.replace(/^/gm, '> ')}`)).toBe('It failed.')
    expect(ownText('It failed.\nReceived: from a\n\tby b\nMessage-ID: <1@x>\nSubject: Hi')).toBe('It failed.')
    expect(ownText(header)).toBe('')
  })
  test('two fields, or three of a summary, are no header', () => {
    expect(ownText('Received: x\nMessage-ID: <1@x>\nIt failed.')).toContain('It failed.')
    expect(ownText('To: x\nSubject: Hi\nSent: now\nIt failed.')).toBe('It failed.')
    expect(ownText('To: x\nSubject: Hi\nDate: now\nIt failed.')).toBe('It failed.')
    expect(ownText('  To : x\nThe mail sent: to: you')).toBe('The mail sent: to: you')
    expect(ownText(`It failed.\n  indented words\n${header}`)).toBe('It failed.\n  indented words')
    expect(ownText('Received: x\nIt failed.\nMessage-ID: <1@x>\nSubject: Hi')).toContain('It failed.')
  })
  test('ends at a separator in several languages', () => {
    for (const line of [
      '--- Below this line is a copy of the message.',
      '------ This is a copy of the message, including all the headers. ------',
      '   ----- Original message -----',
      'Original message follows.',
      'Ursprüngliche Nachricht',
      'Mensaje original',
      '元のメール',
    ])
      expect([line, ownText(`It failed.\n${line}\nquoted`)]).toEqual([line, 'It failed.'])
  })
  test('fields of the message that precede the reason are left out, up to the next empty line', () => {
    const listed =
      'This report relates to a message you sent with the following header fields:\n\n  Message-id: <1@x>\n  Date: now\n  From: a@x\n'
    const reason = '\nIt cannot be delivered:\n\n  Recipient address: ada@gone.example\n  Reason: recipient reached disk quota\n'
    expect(ownText(listed + reason)).toBe(`${listed.slice(0, listed.indexOf('\n') + 1)}${reason}`)
    expect(ownText(`${listed}${reason}\n${header}`)).not.toContain('quoted')
    expect(prose(ownText(listed + reason))).toBe('recipient reached disk quota')
  })
  test('is limited', () => expect(ownText('x'.repeat(reportTextMax + 10)).length).toBe(reportTextMax))
})

test('blocks are between empty lines, and entries of recipients', () => {
  expect(blocksOf('a\nb\n\n \n---\nc\n<x@y>: d\n  e\n')).toEqual(['a\nb\n', 'c\n', '<x@y>: d\n  e\n'])
  for (const line of ['ada@host.example: x', '<ada@host.example>:', 'ada@host.example (alias of bob): x'])
    expect(blocksOf(`a\n${line}\n`)).toEqual(['a\n', `${line}\n`])
  expect(blocksOf('a\nto ada@host.example: x\nada@host.example:x\n')).toHaveLength(1)
  expect(blocksOf('\n\n')).toEqual([])
  expect(blocksOf('x'.repeat(3000))[0]?.length).toBe(2000)
})

describe('words of a reply', () => {
  test('multi-line replies are folded', () => {
    expect(foldReply('550-5.1.1 No\n550-5.1.1 such\n550 5.1.1 user')).toBe('550 5.1.1 No such user')
    expect(foldReply('550-No 550 user')).toBe('550 No user')
    expect(foldReply('550-5.100.999 No\n550 5.100.999 such')).toBe('550 5.100.999 No such')
    expect(foldReply('550 5.1.1 No 550 5.1.10 such')).toBe('550 5.1.1 No 5.1.10 such')
    expect(foldReply('550 5.1.1')).toBe('550 5.1.1')
    expect(foldReply('call 480-624-2500')).toBe('call 480-624-2500')
    expect(foldReply('  no   code ')).toBe('no code')
    expect(foldReply('550 room 5500 and 551 stay')).toBe('550 room 5500 and 551 stay')
  })
  test('names go, accents go, other scripts stay', () => {
    expect(wordsOf('host mx said: 550 <a.b@x.example> Inválido, see https://x.example/full at mx.one.example')).toBe('550 invalido, see at')
    expect(wordsOf('ế user<a@b>unknown http://x.example/full')).toBe('e user unknown')
    expect(wordsOf('サーバーmx.one.exampleで')).toBe('サーバー で')
    expect(wordsOf(`${'a'.repeat(200)} said: b`)).toBe('b')
    expect(wordsOf(`${'a'.repeat(201)} said: b`)).toBe(`${'a'.repeat(201)} said: b`)
    expect(wordsOf('USER_UNKNOWN isn\u2019t')).toBe("user unknown isn't")
    expect(wordsOf('Й ゆーザ 사용자 ŁØ')).toBe('й ゆーザ 사용자 lo')
  })
})
