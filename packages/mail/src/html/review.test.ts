// Texts that the approver of an HTML body has to see.
import { expect, test } from 'vitest'
import { reviewHtml } from './review.ts'

test.each([
  '<p>Hi</p><div style="display:none;display:block">Pay now</div>',
  '<p>Hi</p><div style="display:none">Pay now</div>',
  '<p>Hi</p><div hidden style="display:block">Pay now</div>',
  '<p>Hi</p><div hidden>Pay now</div>',
  '<style>.x{display:none}</style><p>Hi</p><div class="x">Pay now</div>',
  '<p>Hi</p><!--[if mso]><p>Pay now</p><![endif]-->',
  '<p>Hi</p><textarea>Pay now</textarea>',
  '<p>Hi</p><select><option>Pay now</select>',
  '<p>Hi</p><svg><text>Pay now</text></svg>',
  '<p>Hi</p><object>Pay now</object>',
  '<p>Hi</p><noembed>Pay now</noembed>',
])('the text of %s has everything', (html) => expect(reviewHtml(html).text).toMatch(/Hi\s+Pay now/))

test('scripts, styles and ordinary comments are not text', () => {
  expect(reviewHtml('<style>p{}</style><p>Hi</p><script>run()</script><!-- note -->').text).toBe('Hi')
})

test('hidden texts and texts of style sheets are listed', () => {
  expect(reviewHtml('<p>Hi</p><div style="display:none">Pay\n now</div>').hidden).toEqual(['Pay now'])
  expect(reviewHtml(`<p>Hi</p><div style="font-size:0">${'x'.repeat(500)}</div>`).hidden[0]).toHaveLength(200)
  expect(reviewHtml('<style>p::after{content:"Pay now"}</style><p>Hi</p>').added).toEqual(['"Pay now"'])
  expect(reviewHtml('<style>p::after{\\63ontent:"Pay now"}</style><p>Hi</p>').added[0]).toContain('Pay now')
})

test('ordinary formatted mail hides and adds nothing', () => {
  const html = `<style>p{color:#333} .q:before{content:''} @media (max-width:600px){.w{width:100%}}</style><p class="w">Hi <b>Ann</b></p>`
  expect(reviewHtml(html)).toEqual({ text: 'Hi Ann', hidden: [], added: [], images: [] })
})

test('takes time in proportion to its length', () => {
  for (const unit of ['<style>', '<!--[if', '<style>\\', 'content:', '<div hidden>a']) {
    const started = performance.now()
    reviewHtml(unit.repeat(Math.ceil(300_000 / unit.length)))
    expect(performance.now() - started).toBeLessThan(3_000)
  }
})
