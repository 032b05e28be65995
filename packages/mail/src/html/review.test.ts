// Texts that the approver of an HTML body has to see.
import { expect, test } from 'vitest'
import { reviewHtml } from './review.ts'

test.each([
  '<p>Hi</p><div style="display:none;display:block">Pay now</div>',
  '<p>Hi</p><div hidden style="display:block">Pay now</div>',
  '<p>Hi</p><textarea>Pay now</textarea>',
  '<p>Hi</p><select><option>Pay now</select>',
  '<p>Hi</p><svg><text>Pay now</text></svg>',
  '<p>Hi</p><object>Pay now</object>',
  '<p>Hi</p><noscript>Pay now</noscript>',
  '<p>Hi</p><!-- x --!><p>Pay now</p><!-- -->',
  '<p>Hi</p><!--[if x--><p>Pay now</p><i title="]"></i>',
  '<p>Hi</p><i ="></i><p>Pay now</p><i "></i>',
  '<p>Hi</p><i title==">Pay now</i><i "></i>',
  '<p>Hi</p><math><style><p>Pay now</p></style></math>',
  '<p>Hi</p><p><input value="Pay now"></p>',
])('the text of %s has everything that browsers show', (html) => {
  const { text, hidden } = reviewHtml(html)
  expect(text).toMatch(/Hi\s+Pay now/)
  expect(hidden).toEqual([])
})

test.each([
  '<template>not</template>',
  '<!--[if mso]>not<![endif]-->',
  '<dialog>not</dialog>',
  '<details>not</details>',
  '<span style="display:none">not</span>',
  '<span style="d\\69splay:none">not</span>',
  '<span hidden>not</span>',
  '<span style="font-size:0">not</span>',
  '<span style="color:#fff">not</span>',
  '<font color="white">not</font>',
  '<span style="visibility:hidden">not</span>',
  '<style>.x{display:none}</style><span class="x">not</span>',
  '<input type="hidden" value="not">',
])('the text that %s hides is marked, and listed', (part) => {
  const { text, hidden } = reviewHtml(`<p>Please do ${part} pay</p>`)
  expect(text.replace(/\s+/g, ' ')).toMatch(/Please do \[not shown: not ?\] ?pay/)
  expect(hidden).toEqual(['not'])
})

test.each([
  '<style>p::after{content:"Pay now"}</style>',
  '<style>p::after{content/**/:"Pay now"}</style>',
  '<style>p::after{\\63ontent:"Pay now"}</style>',
  `${'<style></style>'.repeat(30)}<style>p::after{content:"Pay"}</style>`,
  '<style>span.x{display:none}</style>',
  '<style>@media all{.x{display:none}}</style>',
  '<style>@import "https://evil.example/a.css"</style>',
  `<q style='quotes:"PAY" ""'>a</q>`,
  `<li style='list-style-type:"PAY "'>a</li>`,
  '<p style="unicode-bidi:bidi-override;direction:rtl">a</p>',
  '<p style="clip-path:inset(100%)">a</p>',
  '<bdo dir="rtl">a</bdo>',
  '<meta http-equiv="refresh" content="0;url=https://evil.example">',
  '<link rel="stylesheet" href="https://evil.example/a.css">',
  '<div>'.repeat(2_000),
])('the styles of %s are named', (html) => expect(reviewHtml(html).styles).not.toEqual([]))

test.each<[html: string, text: string]>([
  ['<a href="https://evil.example/a">https://bank.example</a>', 'https://bank.example <https://evil.example/a>'],
  ['<a href="h&Tab;ttps://evil.example/">bank</a>', 'bank <https://evil.example/>'],
  ['<a href="&#32;https://evil.example/">bank</a>', 'bank <https://evil.example/>'],
  ['<a href="//evil.example/">bank</a>', 'bank <https://evil.example/>'],
  ['<a href="https://bank.example@evil.example/">bank</a>', 'bank <https://evil.example/>'],
  ['<base href="https://evil.example/"><a href="a">bank</a>', 'bank <https://evil.example/a>'],
  ['<a href="https://evil.example/"><img src="x"></a>', '[image] <https://evil.example/>'],
  ['<a href="https://bank.example/">bank.example</a>', 'bank.example'],
  ['<a href="#top">up</a>', 'up'],
  ['<ol start=5000><li>EUR</ol>', '5000. EUR'],
  ['<ul><li>one<li>two</ul>', '- one\n\n- two'],
  ['<p>a<br>b</p><pre>c\n  d</pre>', 'a\nb\n\nc\nd'],
  ['<table><tr><td>a<td>b</table>', 'a\tb'],
])('the text of %s', (html, text) => expect(reviewHtml(html).text).toBe(text))

test('a long target is cut behind its host', () => {
  const { text } = reviewHtml(`<a href="https://evil.example/${'a'.repeat(5_000)}">bank</a>`)
  expect(text).toMatch(/^bank <https:\/\/evil\.example\/a+…>$/)
  expect(text.length).toBeLessThan(320)
})

test('ordinary formatted mail hides nothing and has no risky styles', () => {
  const html = `<html><head><title>x</title><style>p{color:#333}</style></head><body style="font-family:Arial"><p class="w">Hi <b>Ann</b></p><script>run()</script><!-- note --></body></html>`
  expect(reviewHtml(html)).toEqual({ text: 'Hi Ann', hidden: [], styles: [], images: [] })
  const table =
    '<table style="width:100%;border-collapse:collapse"><tr><td style="padding:4px;color:#fff;background:#06c">Go</td></tr></table>'
  expect(reviewHtml(table)).toMatchObject({ text: 'Go', hidden: [], styles: [] })
})

test('takes time in proportion to its length', () => {
  for (const unit of [
    '<style>',
    '<!--[if',
    '<style>\\',
    'content:',
    '<div hidden>a',
    '<p></div>',
    '<b><p>',
    '<a href=x>',
    '<table><b>',
    '<!-- -->',
  ]) {
    const started = performance.now()
    reviewHtml(unit.repeat(Math.ceil(300_000 / unit.length)))
    expect([unit, performance.now() - started < 5_000]).toEqual([unit, true])
  }
})
