// Visible and hidden text, links and comments of HTML.
import { describe, expect, test } from 'vitest'
import { scanHtml } from './scan.ts'

const visible = (html: string) => scanHtml(html).visible.replace(/\s+/g, ' ').trim()
const hidden = (html: string) => scanHtml(html).hidden.map(({ text }) => text.replace(/\s+/g, ' ').trim())

describe('hidden text', () => {
  test.each([
    ['<p>a<span style="display:none">secret</span>b</p>', 'ab'],
    ['a<div hidden>secret</div>b', 'ab'],
    ['a<div style="visibility:hidden">secret</div>b', 'ab'],
    ['a<div style="font-size:0">secret</div>b', 'ab'],
    ['a<div style="color:#fff">secret</div>b', 'ab'],
    ['a<font color="white">secret</font>b', 'ab'],
    ['a<table bgcolor="#123456"><tr><td style="color:#123456">secret</td></tr></table>b', 'a b'],
    ['<style>.x{display:none}</style>a<i class="y x">secret</i>b', 'ab'],
    ['<style>#x{display:none}</style>a<i id="x">secret</i>b', 'ab'],
    ['<style>i{display:none}</style>a<i>secret</i>b', 'ab'],
    ['a<i class="x">secret</i>b<style>.x{opacity:0}</style>', 'ab'],
    ['a<div style="display:none"><div><b>secret</b></div></div>b', 'ab'],
    ['a<div hidden>sec<br>ret</div>b', 'ab'],
    ['a<i style="visibility:hidden"><b style="visibility:collapse">secret</b></i>b', 'ab'],
    ['a<i style="font-size:0"><b style="font-size:1em">secret</b></i>b', 'ab'],
    ['a<div style="display:/**/none">secret</div>b', 'ab'],
    ['<style>.x{/* } */display:/**/none}</style>a<i class="x">secret</i>b', 'ab'],
    ['a<i style="background:#000">secret</i>b', 'ab'],
    ['<style type="text/css">.x{display:none}</style>a<i class=x>secret</i>b', 'ab'],
    ['<style>.y{}</style><style>.x{display:none}</style>a<i class=x>secret</i>b', 'ab'],
    ['a<a href="x" style="color:#fff">secret</a>b', 'ab'],
    ['<style>@media screen{.x{display:block}}</style><i class=x style="display:none">a</i><i style="display:none">secret</i>b', 'ab'],
    ['<style>.x{background:#000}</style>a<i style="color:#fefefe">secret</i>b', 'ab'],
    ['<i hidden><b>secret</i>ab', 'ab'],
    [`<i hidden>${'<b>'.repeat(39)}secret</i>ab`, 'ab'],
    [`${'<b>'.repeat(399)}<i hidden>secret</i>ab`, 'ab'],
    [`${'<b>'.repeat(398)}<i hidden><b><i></i>secret</b></i>ab`, 'ab'],
    ['<style>.x{background:#000}</style>a<i style="background:#fefefe;color:#fff">secret</i>b', 'ab'],
    ['<div style="background:#000"><i style="background:transparent;color:#000">secret</i><b style="color:#fff">ab</b></div>', 'ab'],
  ])('%s', (html, text) => {
    expect(visible(html).replace(' ', text.includes(' ') ? ' ' : '')).toBe(text)
    expect(hidden(html).join('').replace(' ', '')).toBe('secret')
  })

  test.each([
    '<p style="display:block">shown</p>',
    '<i style="visibility:hidden"><b style="visibility:visible">shown</b></i>',
    '<i style="font-size:0"><b style="font-size:12px">shown</b></i>',
    '<div style="background:#000"><p style="color:#fff">shown</p></div>',
    '<div style="background:url(x)"><p style="color:#fff">shown</p></div>',
    '<table background="x"><tr><td style="color:#fff">shown</td></tr></table>',
    '<style>.x{background:#000}</style><p class="x" style="color:#fff">shown</p>',
    '<style>@media screen{.x{display:block}}</style><p class="x" style="display:none">shown</p>',
    '<style>@media screen{.x{display:block}} .x{display:none}</style><p class="x">shown</p>',
    '<style>@media screen{.x{display:block}}</style><p class="x" hidden>shown</p>',
    '<style>.x{display:none}</style><p class="y">shown</p>',
    '<style>#x{display:none}</style><p>shown</p>',
    '<p color="white">shown</p>',
    '<p hidden>x</p>shown',
    '<p hidden><div>shown</div>',
    '<br hidden>shown',
    '<img hidden>shown',
    '<div style="background:#fff;color:#fff"><a href="x">shown</a></div>',
    '<div style="color:#fff"><a href="x" style="font-weight:bold">shown</a></div>',
    '<style>.y .x{background:#000}</style><p style="color:#fff">shown</p>',
    '<style>#undefined{display:none}</style><p>shown</p>',
    '<style>.x{display:none}</style><p class="xx">shown</p>',
    `${'<b>'.repeat(400)}<i hidden>shown</i>`,
    '<i alt="x">shown</i>',
    '<i id="y">shown</i>',
    '<style>@media screen{.x{display:block}}</style><p class="x y" style="display:none">shown</p>',
    '<div style="background:#000"><a href="x">shown</a></div>',
    '<a href="x" style="background:#000">shown</a>',
  ])('%s is visible', (html) => expect(visible(html)).toBe('shown'))

  test('its place before the visible text is noted', () => {
    expect(scanHtml('<i hidden>one</i>').hidden).toEqual([{ text: 'one', isFirst: true }])
    expect(scanHtml(`${'word '.repeat(20)}<i hidden>one</i>`).hidden).toEqual([{ text: 'one', isFirst: false }])
    expect(scanHtml('<i hidden>one</i>a<i hidden>two</i>').hidden.map(({ text }) => text)).toEqual(['one', 'two'])
  })
})

test('hidden text is limited, and white space is none', () => {
  const texts = (html: string) => scanHtml(html).hidden.map(({ text }) => text.length)
  expect(texts('<i hidden> \n</i>')).toEqual([])
  expect(texts('<i hidden> a \n b </i>')).toEqual([3])
  expect(texts(`<i hidden>${'a'.repeat(65_535)}</i>x<i hidden>b</i>x<i hidden>c</i>`)).toEqual([65_535, 1])
  expect(texts(`<i hidden>${'a'.repeat(65_536)}</i>x<i hidden>b</i>`)).toEqual([65_536])
  expect(texts('x<i hidden>a</i>'.repeat(101))).toHaveLength(100)
  expect(hidden(`<i hidden>${'<b>'.repeat(40)}a</i>b`)).toEqual(['ab'])
})

test('at most 60 characters are hardly any text before', () => {
  const isFirst = (html: string) => scanHtml(`${html}<i hidden>one</i>`).hidden[0]?.isFirst
  expect([isFirst('a'.repeat(60)), isFirst('a'.repeat(61)), isFirst(' '.repeat(100)), isFirst('')]).toEqual([true, false, true, true])
})

describe('links', () => {
  test.each([
    ['<a href="https://x.example/">one <b>two</b></a> three', [{ href: 'https://x.example/', text: 'one two' }]],
    ["<a href=' https://x.example/?a=1&amp;b=2 '>x</a>", [{ href: 'https://x.example/?a=1&b=2', text: 'x' }]],
    ['<a href="">x</a><a>y</a><a name="z">z</a>', []],
    ['<a href="https://x.example/"> one <b>two</b>\n three </a>', [{ href: 'https://x.example/', text: 'one two three' }]],
    [
      '<a href="https://x.example/">one<a href="https://y.example/">two</a>',
      [
        { href: 'https://x.example/', text: 'one' },
        { href: 'https://y.example/', text: 'two' },
      ],
    ],
    ['<a href="https://x.example/"><img src="y" alt="&lt;shop&gt;"></a>', [{ href: 'https://x.example/', text: '<shop>' }]],
    ['<a href="https://x.example/">open', [{ href: 'https://x.example/', text: 'open' }]],
  ])('%s', (html, links) => expect(scanHtml(html).links).toEqual(links))

  test('are limited in number and length', () => {
    const many = scanHtml('<a href="https://x.example/">x</a>'.repeat(600)).links
    expect(many).toHaveLength(500)
    const [long] = scanHtml(`<a href="https://x.example/${'y'.repeat(3000)}">${'z'.repeat(400)}</a>`).links
    expect([long?.href.length, long?.text.length]).toEqual([2000, 300])
  })
})

test.each([
  ['a<!-- one --><!-- two -->b', ' one \n two ', 'ab'],
  ['a<!-- open', ' open', 'a'],
  ['a<!---->b', '', 'ab'],
  ['a<!-->b', '', 'ab'],
])('comments of %s', (html, comments, text) => {
  expect([scanHtml(html).comments, visible(html)]).toEqual([comments, text])
})

test.each([
  ['1 < 2 <3 a', '1 < 2 <3 a'],
  ['a<script>b</script>c<style>d</style>e<title>f</title>g', 'aceg'],
  ['a<td>b</td><td>c</td>', 'a b c'],
  ['a<li>b<li>c<br>d<hr>e', 'a b c d e'],
  ['a&amp;b &lt;c&gt;', 'a&b <c>'],
  ['a<b', 'a'],
  ['a</x></b>b', 'ab'],
  ['<p>a<p>b<div>c</div>d', 'a b c d'],
  ['<script/>a', 'a'],
  ['<script src="x" />a', 'a'],
  ['<3 a', '<3 a'],
  ['in<b>line</b>', 'inline'],
  ['a<tr>b', 'a b'],
  ['a</td>b</tr>c</li>d</b>e', 'a b c de'],
  ['a<!-- b --> c -->d', 'a c -->d'],
])('the visible text of %s', (html, text) => expect(visible(html)).toBe(text))

test('deep nesting and long comments are limited', () => {
  expect(visible(`${'<b>'.repeat(1000)}<i hidden>x</i>a${'</b>'.repeat(1000)}b`)).toMatch(/b$/)
  expect(scanHtml(`<!--${'c'.repeat(40_000)}--><!-- more -->`).comments).toHaveLength(32 * 1024)
  expect(scanHtml(`<!--${'c'.repeat(20_000)}-->`.repeat(3)).comments).toHaveLength(32 * 1024 + 1)
  expect(visible(`${'a'.repeat(1024 * 1024)}b`)).toHaveLength(1024 * 1024)
})
