// Numbers beside phrases: which are codes, in which order. Each line of a table differs from its neighbour in one thing.
import { describe, expect, test } from 'vitest'
import { findOneTimeCodes } from './one-time-codes.ts'

const codesIn = (text: string, subject = ''): string[] => findOneTimeCodes(subject, text).map(({ value }) => value)
const long = 'We write to you about the garden, the weather and the trains of this week. '.repeat(28)

describe('before the number', () => {
  test.each<[text: string, codes: string[]]>([
    ['Your verification code is 482913', ['482913']],
    ['Your verification code: 482913', ['482913']],
    ['YOUR VERIFICATION CODE IS 482913', ['482913']],
    ['Your code is 4829', ['4829']],
    ['Your code is QXKZRT', ['QXKZRT']],
    ['YOUR CODE IS: QXKZRT', ['QXKZRT']],
    ['Your code for the QXKZRT', []],
    ['Your code is WDJB-MJHT', ['WDJB-MJHT']],
    ['Your code is A1B2C3', ['A1B2C3']],
    ['The code of the X310', []],
    ['the kernel code is X310', []],
    ['your code is X310', ['X310']],
    ['your code: X310', ['X310']],
    ['Your zip code is 48291', []],
    ['Your verification code is in 2026', []],
    ['Your verification code is 20260311', ['20260311']],
    ['Your verification code. We thank you. Room 482913', []],
    ['Your verification code\n\n482913', ['482913']],
    ['Your verification code for the transfer to account 1234 is 482913', ['482913', '1234']],
    ['Your verification code, as we said in the last letter, is 482913', ['482913']],
    [`Your verification code, ${'very '.repeat(30)}late, is 482913`, []],
    ['the code has_value 482913', []],
    ['Your verification-code: 482913', ['482913']],
    ['Your verification\ncode: 482913', ['482913']],
    ['Your verification code (1 of 2): 482913', ['482913']],
    ['Your code QXKZRT', []],
    ['Your verification code QXKZRT', []],
    ['Your code A1B2C3', []],
    ['Your code: A1B2C3', ['A1B2C3']],
    ['Your code is 482913.\n\nYour verification code is 771204.', ['771204', '482913']],
    [`${'We write about trains. '.repeat(12)}The code for today is 482913`, ['482913']],
    [`${'We write about trains. '.repeat(12)}THE CODE FOR TODAY IS 482913`, ['482913']],
    ['Your code: QXKZRT', ['QXKZRT']],
    [`${'We write about trains. '.repeat(12)}Your code: X310`, ['X310']],
    [`${'We write about trains. '.repeat(12)}The code: X310`, []],
    [`${'We write about trains. '.repeat(12)}the code is: 482913`, ['482913']],
    [`${'We write about trains. '.repeat(12)}the code${', and this is long'.repeat(5)} is: 482913`, []],
    [`${'We write about trains. '.repeat(12)}the code (x) is: 482913`, []],
    ['Enter it now. 482913.', ['482913']],
    ['Your verification code for today is A1B2C3', ['A1B2C3']],
    ['Your verification code has come to you by the mail of today with a list of things 51827', ['51827']],
    [
      'Your verification code has come to you by the mail of today with a list of things 51827.\n\nThank you.\n\nYour verification code is 482913',
      ['482913'],
    ],
  ])('%s', (text, codes) => expect(codesIn(text)).toEqual(codes))
})

describe('behind the number', () => {
  test.each<[text: string, codes: string[]]>([
    ['482913 is your verification code', ['482913']],
    ['482913 - your verification code', ['482913']],
    ['482913: your verification code', ['482913']],
    ['482913 as your password', ['482913']],
    ['482913 ist Ihr Code', ['482913']],
    ['482913 あなたの確認コード', ['482913']],
    ['482913 är din nya egna säkra verifieringskod', ['482913']],
    ['Hello 482913 the new verification code', []],
    ['482913. Your verification code', ['482913']],
    ['482913: enter this code', ['482913']],
    [`${'We write about trains. '.repeat(12)}482913 verification code`, ['482913']],
    ['482913, as the mail about your order number says, is your verification code', ['482913']],
    ['482913 1234 is your verification code', ['1234', '482913']],
    ['A1B2C3 is your verification code', ['A1B2C3']],
    ['A1B2C3 - your verification code', []],
    ['QXKZRT is your verification code', []],
    ['X310 is your verification code', ['X310']],
    ['X310 is the kernel code', []],
    [`482913 is, ${'as we have said before '.repeat(9)}, your verification code`, []],
    ['482913 is the number of your order', []],
  ])('%s', (text, codes) => expect(codesIn(text)).toEqual(codes))
})

describe('instructions', () => {
  test.each<[text: string, codes: string[]]>([
    ['Use 482913 to sign in', ['482913']],
    ['Enter 482913 to confirm your address', ['482913']],
    ['Use 482913 to paint the wall', []],
    ['Use 482913. Then sign in', []],
    ['Use 1999 to sign in', []],
    ['Use 4829 to sign in', ['4829']],
    ['Use 202612 to sign in', ['202612']],
    ['Use 20260131 to sign in', []],
    ['Use 20261010 to sign in', []],
    ['Use 20260132 to sign in', ['20260132']],
    ['Use 20261301 to sign in', ['20261301']],
    ['Use 20260001 to sign in', ['20260001']],
    ['Use 20260100 to sign in', ['20260100']],
    ['Use 123 to sign in', []],
    ['Use A1B2C3 to sign in', []],
    ['Use the number of today, 482913, to sign in', []],
    ['Enter: 482913 to sign in', ['482913']],
  ])('%s', (text, codes) => expect(codesIn(text)).toEqual(codes))

  test('the subject may say what the number is for', () => {
    expect(codesIn('Enter 482913 now', 'Sign in to Plover')).toEqual(['482913'])
    expect(codesIn('Enter 482913 now', 'Hello')).toEqual([])
  })
})

describe('on a line of its own', () => {
  test.each<[text: string, subject: string, codes: string[]]>([
    ['Your verification code:\n\n482913\n\nBye', '', ['482913']],
    ['Your verification code:\n\n**482913**', '', ['482913']],
    ['Your verification code:\n\n** 482913 **', '', []],
    ['Your verification code:\n\n[482913]', '', ['482913']],
    ['Your code:\n\nQXKZRT', '', ['QXKZRT']],
    ['Your code follows. It is good today:\n\nQXKZRT', '', []],
    ['482913\n\nis the code that you asked for', '', ['482913']],
    ['Hello,\n\n482913\n\nBye', 'Your verification code', ['482913']],
    ['Hello,\n\n48291\n\nBye', 'Your verification code', ['48291']],
    ['Hello,\n\n4829\n\nBye', 'Your verification code', []],
    ['Hello,\n\n482913\n\nBye', 'Your code', ['482913']],
    ['Hello,\n\n482913\n\nBye', 'Your verification code for an order number', ['482913']],
    ['Your code follows. It is good today:\n\nA1B2C3', '', ['A1B2C3']],
    ['482913\n\nEnter it in the app. It is the verification code.', '', ['482913']],
    ['Your verification code is good today. Use it:\n\n482913', '', ['482913']],
    ['Order number 771204. Thank you.\n\n482913', 'Your verification code', ['482913']],
    ['Your code is below, Ann:\n\nQXKZRT', '', ['QXKZRT']],
    ['Your code is below. Ann:\n\nQXKZRT', '', []],
    ['Hello,\n\n482913\n\nBye', 'News', []],
    ['Hello,\n\nx 482913\n\nBye', 'Your verification code', []],
    ['Hello,\n\nabc#482913\n\nBye', 'Your verification code', []],
    ['Order number:\n\n482913', 'Your verification code', []],
    [`${long}\n\nthe code:\n\n482913`, '', []],
    [`${long}\n\nYour verification code:\n\n482913`, '', ['482913']],
    [`Your verification code:\n${'a line about the garden\n'.repeat(3)}482913`, '', ['482913']],
    [`Your verification code:\n${'a line about the garden\n'.repeat(5)}482913`, '', []],
  ])('%j with the subject %j', (text, subject, codes) => expect(codesIn(text, subject)).toEqual(codes))
})

describe('sentences and prefixes', () => {
  test.each<[text: string, codes: string[]]>([
    ['G-482913 is your Plover verification code', ['482913']],
    ['G-482913', ['482913']],
    ['<#> G-482913', ['482913']],
    ['g-482913', []],
    [`G-482913 ${'x'.repeat(95)}`, []],
    ['Plover code. 482913.', ['482913']],
    ['Plover verification code. We thank you. 4829.', []],
    [`Plover verification code. ${'We thank you. '.repeat(15)}482913.`, []],
    ['482913', ['482913']],
  ])('%s', (text, codes) => expect(codesIn(text)).toEqual(codes))
})

describe('other numbers', () => {
  test.each<[text: string, codes: string[]]>([
    ['Your access code is 482913', ['482913']],
    ['Your access code is 482913. Your flight and hotel are booked.', []],
    ['Your verification code is 482913. Your flight and hotel are booked.', ['482913']],
    ['Your code is 482913. Your flight and hotel are booked.', []],
    ['Order number: 482913 is your verification code', []],
    ['Your access code is 482913. Join the meeting by dial-in.', []],
    ['Your verification code is 482913. Join the meeting by dial-in.', ['482913']],
    ['Your code is 482913. Free shipping!', []],
    ['Your verification code is 482913. Free shipping!', ['482913']],
    ['Your order 771204. Your verification code is 482913', ['482913']],
    ['Your verification code is 482913, and the order number is 771204', ['482913']],
  ])('%s', (text, codes) => expect(codesIn(text)).toEqual(codes))
})

describe('quotations', () => {
  const quoted = '> Your verification code is 482913'
  test.each<[text: string, subject: string, codes: string[]]>([
    [quoted, '', ['482913']],
    [quoted, 'Re: x', []],
    [quoted, 'RE: x', []],
    [quoted, 'AW: x', []],
    [quoted, 'Fwd: x', []],
    [quoted, '回复: x', []],
    [quoted, 'Regards: x', ['482913']],
    [`Thanks!\n\n${quoted}`, '', ['482913']],
    [`Thanks!\n\n${quoted}`, 'Re: x', []],
    [`Your verification code is 771204\n${quoted}`, '', ['771204']],
    ['Your verification code is 482913 >', 'Re: x', ['482913']],
  ])('%j with the subject %j', (text, subject, codes) => expect(codesIn(text, subject)).toEqual(codes))
})

test('words of languages that the lists lack count in short texts only', () => {
  expect(codesIn('Tavs verifikacijas kodsx: 482913')).toEqual(['482913'])
  expect(codesIn(`${long}\nTavs verifikacijas kodsx: 482913`)).toEqual([])
})

describe('codes bound to a site', () => {
  const of = (text: string) => findOneTimeCodes('', text).map(({ value, domain, purpose, near }) => ({ value, domain, purpose, near }))
  test('the last line names the site', () => {
    const bound = { value: '482913', domain: 'plover.example', purpose: 'sign_in' }
    const said = 'Sign in to Plover with 482913.'
    expect(of(`${said}\n\n@plover.example #482913`)).toEqual([{ ...bound, near: `${said} @plover.example #482913` }])
    expect(of(`${said}\n\n@plover.example #482913 %frame.example\n`)).toEqual([
      { ...bound, near: `${said} @plover.example #482913 %frame.example` },
    ])
    expect(of(`${said}\n\n@plover.example #482913 @frame.example`)).toMatchObject([bound])
    expect(of('@localhost #A1b2-C3')).toEqual([{ value: 'A1b2-C3', domain: 'localhost', purpose: null, near: '@localhost #A1b2-C3' }])
  })
  test.each([
    'x @plover.example #482913',
    '@plover.example 482913',
    '@plover.example #482913 x',
    '@plover #482913',
    '@plover.example #48',
    '@plover.example #482913\nBye',
  ])('%j is none', (text) => expect(of(text).map(({ domain }) => domain)).not.toContain('plover.example'))
  test('it comes before the same code elsewhere, with the purpose of that one', () => {
    expect(of('482913 is your sign-in code\n\n@plover.example #482913')).toMatchObject([{ domain: 'plover.example', purpose: 'sign_in' }])
    expect(of('482913 is your sign-in code\n\n@plover.example #482913')).toHaveLength(1)
    expect(of(`${'Hello there. '.repeat(20)}\n\n@plover.example #482913`)[0]?.near).toHaveLength(160)
  })
})

test('of two codes, the one of six digits is first', () => {
  expect(codesIn('Your verification code is 51827.\n\nYour verification code is 482913.')).toEqual(['482913', '51827'])
  expect(codesIn('Your verification code is A1B2C3.\n\nYour verification code is 482913.')).toEqual(['482913', 'A1B2C3'])
  expect(codesIn('Your verification code is A1B2C3.\n\nYour verification code is 51827.')).toEqual(['51827', 'A1B2C3'])
})

test('the likeliest code is first, with its words and its purpose', () => {
  expect(findOneTimeCodes('', 'Your code is 51827.\n\nTo reset your password, your verification code is 482913.')).toEqual([
    {
      ...{ kind: 'one_time_code', value: '482913', purpose: 'password_reset', domain: null },
      near: 'To reset your password, your verification code is 482913.',
    },
    { kind: 'one_time_code', value: '51827', purpose: 'password_reset', near: 'Your code is 51827.', domain: null },
  ])
  const near = (text: string) => findOneTimeCodes('', text)[0]?.near
  expect(near('Hello,\n\nYour code:\n\n482 913\n\nBye')).toBe('Hello, Your code: 482 913 Bye')
  expect(near(`${'word '.repeat(60)}Your verification code is 482913 ${'word '.repeat(60)}`)).toHaveLength(160)
})
