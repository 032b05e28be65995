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
  ])('%s is visible', (html) => expect(visible(html)).toBe('shown'))

  test('its place before the visible text is noted', () => {
    expect(scanHtml('<i hidden>one</i>').hidden).toEqual([{ text: 'one', isFirst: true }])
    expect(scanHtml(`${'word '.repeat(20)}<i hidden>one</i>`).hidden).toEqual([{ text: 'one', isFirst: false }])
    expect(scanHtml('<i hidden>one</i>a<i hidden>two</i>').hidden.map(({ text }) => text)).toEqual(['one', 'two'])
  })
})

describe('links', () => {
  test.each([
    ['<a href="https://x.example/">one <b>two</b></a> three', [{ href: 'https://x.example/', text: 'one two' }]],
    ["<a href=' https://x.example/?a=1&amp;b=2 '>x</a>", [{ href: 'https://x.example/?a=1&b=2', text: 'x' }]],
    ['<a href="">x</a><a>y</a><a name="z">z</a>', []],
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
])('the visible text of %s', (html, text) => expect(visible(html)).toBe(text))

test('deep nesting and long comments are limited', () => {
  expect(visible(`${'<b>'.repeat(1000)}<i hidden>x</i>a${'</b>'.repeat(1000)}b`)).toMatch(/b$/)
  expect(scanHtml(`<!--${'c'.repeat(40_000)}--><!-- more -->`).comments).toHaveLength(32 * 1024)
})
