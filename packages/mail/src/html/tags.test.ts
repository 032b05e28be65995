// Tags, their names and ends, and attributes as browsers read them.
import { describe, expect, test } from 'vitest'
import { findAfter, findRawEnd, isHidden, isMarkup, readAttribute, readAttributes, readTag } from './tags.ts'

test.each<[html: string, tag: ReturnType<typeof readTag>]>([
  ['<b>', { name: 'b', isEnd: false, attributes: '', tagEnd: 2 }],
  ['<B\n>', { name: 'b', isEnd: false, attributes: '\n', tagEnd: 3 }],
  ['</B >x', { name: 'b', isEnd: true, attributes: ' ', tagEnd: 4 }],
  ['<br/>', { name: 'br', isEnd: false, attributes: '/', tagEnd: 4 }],
  ['<a href="x>y">', { name: 'a', isEnd: false, attributes: ' href="x>y"', tagEnd: 13 }],
  ["<a href = 'x>y'>", { name: 'a', isEnd: false, attributes: " href = 'x>y'", tagEnd: 15 }],
  // A quote that is not a value, and one behind a value, quotes nothing.
  ['<a "x>y">', { name: 'a', isEnd: false, attributes: ' "x', tagEnd: 5 }],
  ['<a b=c">d">', { name: 'a', isEnd: false, attributes: ' b=c"', tagEnd: 7 }],
  ['<a b="c"">d">', { name: 'a', isEnd: false, attributes: ' b="c""', tagEnd: 9 }],
  ['<a b="c>', { name: 'a', isEnd: false, attributes: ' b="c>', tagEnd: 8 }],
  ['<o:p>', { name: 'o:p', isEnd: false, attributes: '', tagEnd: 4 }],
  [`<${'x'.repeat(40)}>`, { name: 'x'.repeat(30), isEnd: false, attributes: '', tagEnd: 41 }],
  ['<b', { name: 'b', isEnd: false, attributes: '', tagEnd: 2 }],
  ['<!DOCTYPE html>x', 15],
  ['<?xml?>x', 7],
  ['</3>x', 4],
  ['</3', 3],
  ['<!x', 3],
])('the tag of %s', (html, tag) => expect(readTag(html, 0)).toEqual(tag))

test('only letters and three signs start markup', () => {
  const starting = Array.from({ length: 256 }, (_, code) => code).filter(isMarkup)
  expect(String.fromCharCode(...starting)).toBe('!/?ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz')
})

test('the place after a character, or the end', () => {
  expect([findAfter('>a>b', '>', 0), findAfter('>a>b', '>', 1), findAfter('abc', '>', 0)]).toEqual([1, 3, 3])
})

test.each<[html: string, name: string, end: number]>([
  ['a</script>b', 'script', 10],
  ['a</SCRIPT\n>b', 'script', 11],
  ['a</script/>b', 'script', 11],
  ['a</scripts></script>b', 'script', 20],
  ['</style></script>', 'script', 17],
  ['a</script', 'script', 9],
  ['a', 'style', 1],
])('the raw content %j of %s ends at %i', (html, name, end) => expect(findRawEnd(html, name, 0)).toBe(end))

describe('attributes', () => {
  test.each<[text: string, attributes: Record<string, string>]>([
    [' href="a b" CLASS=\'c"d\' id=e hidden', { href: 'a b', class: 'c"d', id: 'e', hidden: '' }],
    [' a = "b" c= d e =f', { a: 'b', c: 'd', e: 'f' }],
    ['a=1 A=2', { a: '1' }],
    ['a="b"c="d"', { a: 'b', c: 'd' }],
    ['a=""', { a: '' }],
    ['/', {}],
    ['a="b', { a: '', b: '' }],
    ['', {}],
  ])('%j', (text, attributes) => {
    expect(Object.fromEntries(readAttributes(text))).toEqual(attributes)
    for (const [name, value] of Object.entries(attributes)) expect(readAttribute(text, name)).toBe(value)
    expect(readAttribute(text, 'none')).toBeNull()
  })
  test('after 8 KB are ignored', () => {
    const text = `${' '.repeat(8_189)}a=b c=d`
    expect(Object.fromEntries(readAttributes(text))).toEqual({ a: 'b' })
    expect([readAttribute(text, 'a'), readAttribute(text, 'c')]).toEqual(['b', null])
  })
})

test.each<[attributes: string, expected: boolean]>([
  [' hidden', true],
  [' HIDDEN=""', true],
  [' style="display:none"', true],
  [" style='color:red ; Display : None'", true],
  [' style="display:none;color:red"', true],
  [' style="display:block;display:none"', true],
  [' style="display:none;display:block"', false],
  [' hidden style="display:block"', false],
  [' hidden style="color:red"', true],
  [' class="hidden"', false],
  [' data-hidden', false],
  [' style="xdisplay:none"', false],
  [' style="display:block" title="none"', false],
  [' title="display:none"', false],
  [` style="${' '.repeat(4_096)}display:none"`, false],
  ['', false],
])('%j hides: %s', (attributes, expected) => expect(isHidden(attributes)).toBe(expected))
