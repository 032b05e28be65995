// Tests of the rules for custom headers.
import { describe, expect, test } from 'vitest'
import { checkCustomHeaders } from './custom-headers.ts'

const names = (headers: Record<string, string>) => checkCustomHeaders(headers).map((problem) => problem.path)

describe('checkCustomHeaders', () => {
  test('lets ordinary headers through', () => {
    const headers = {
      'X-Campaign': 'spring "24"; a=b',
      'List-Unsubscribe': '<https://here.test/u?a=1>, <mailto:u@here.test>',
      'List-Unsubscribe-Post': 'List-Unsubscribe=One-Click',
      Priority: 'urgent',
      'X-Umlaut': 'Gr\u00fc\u00dfe',
      'X-Tab': 'a\tb',
      'Feedback-ID': '1:2:3:x',
      '!#$%&\'*+-.^_`{|}~"(),/;<=>?@[\\]': 'every character of ftext',
    }
    expect(checkCustomHeaders(headers)).toEqual([])
    expect(checkCustomHeaders({})).toEqual([])
  })

  const denied =
    'From Sender Reply-To To Cc Bcc Subject Date Message-ID In-Reply-To References MIME-Version Content-Type Content-Transfer-Encoding Content-Whatever Received ' +
    'Return-Path DKIM-Signature ARC-Seal ARC-Message-Signature ARC-Authentication-Results Authentication-Results Delivered-To Auto-Submitted Resent-From Resent-Date Received-SPF DomainKey-Signature'
  test.each(denied.split(' '))('refuses %s in any case', (name) => {
    for (const spelled of [name, name.toLowerCase(), name.toUpperCase()]) expect(names({ [spelled]: 'x' })).toEqual([`/headers/${spelled}`])
  })

  test.each(['', 'a b', 'a:', 'From: x\r\nA', 'caf\u00e9', 'a\t', 'x'.repeat(77), 'a\0', ' From', 'From\u200b'])(
    'refuses the name %j',
    (name) => {
      expect(names({ [name]: 'x' })).toHaveLength(1)
    },
  )

  test.each(['', '  ', '\t', 'a\r\nBcc: x', 'a\nb', 'a\rb', 'a\0b', 'a\u0007b', 'a\u007f', 'a\u0085b', '\ud800', 'x'.repeat(996)])(
    'refuses the value %j',
    (value) => {
      expect(names({ 'X-A': value })).toEqual(['/headers/X-A'])
    },
  )

  test('a line break is named as such', () => {
    for (const value of ['a\r\nBcc: x', 'a\nb', 'a\rb', 'a\0b'])
      expect(checkCustomHeaders({ 'X-A': value })[0]?.message).toContain('line breaks')
  })

  test('limits: a line, all together, the number, the same name twice', () => {
    expect(checkCustomHeaders({ 'X-A': 'x'.repeat(993) })).toEqual([])
    expect(names({ 'X-A': '\u00e9'.repeat(497) })).toEqual(['/headers/X-A'])
    const many = Object.fromEntries(Array.from({ length: 50 }, (_, i) => [`X-${i}`, 'x']))
    expect(checkCustomHeaders(many)).toEqual([])
    expect(names({ ...many, 'X-50': 'x' })).toEqual(['/headers'])
    expect(names(Object.fromEntries(Array.from({ length: 17 }, (_, i) => [`X-${i}`, 'x'.repeat(970)])))).toEqual(['/headers'])
    expect(names({ 'X-A': '1', 'x-a': '2' })).toEqual(['/headers/x-a'])
  })

  test('paths are JSON pointers', () => {
    expect(names({ 'X/~A': '' })).toEqual(['/headers/X~1~0A'])
  })
})
