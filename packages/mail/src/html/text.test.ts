// HTML to text: visible text only.
import { describe, expect, it } from 'vitest'
import { htmlToText, textToHtml } from './text.ts'

const table: [string, string, string][] = [
  ['paragraphs', '<p>One</p><p>Two</p>', 'One\n\nTwo'],
  ['blocks', '<div>One</div><div>Two<div>Three</div></div>', 'One\nTwo\nThree'],
  ['line breaks', 'One<br>Two<br/><BR>Three', 'One\nTwo\n\nThree'],
  ['white space', '  One \n\t <b> two</b>  three ', 'One two three'],
  ['inline words stay whole', 'in<b>line</b>', 'inline'],
  [
    'entities',
    '&lt;a&gt; &amp;amp; &#65;&#x42; &nbsp;&euro; &copy;&unknown; &#128;&#0;&#xD800;',
    '<a> &amp; AB € ©&unknown; €\ufffd\ufffd',
  ],
  ['a parameter is no entity', '<a href="https://x.example/?a=1&copy=2">l</a>', 'l <https://x.example/?a=1&copy=2>'],
  [
    'links',
    '<a href="https://x.example/">site</a> <a href=https://y.example>y.example</a> <a href="#top">top</a> <a href="javascript:x">js</a>',
    'site <https://x.example/> y.example top js',
  ],
  ['images', 'a <img src=x alt="A &amp; B"> b <img src=y>', 'a A & B b'],
  ['lists', '<ul><li>One<li>Two<ol><li>x</li><li>y</li></ol></ul>after', '- One\n- Two\n  1. x\n  2. y\n\nafter'],
  ['tables', '<table><tr><th>A</th><th>B</th></tr><tr><td>1</td><td>2</td></tr></table>', 'A\tB\n1\t2'],
  ['quotes', 'New<blockquote>Old<br><blockquote>Older</blockquote></blockquote>end', 'New\n\n> Old\n>\n> > Older\n\nend'],
  ['preformatted', '<pre>a\n  b</pre>c', 'a\n  b\n\nc'],
  ['rules', 'a<hr>b', 'a\n---\nb'],
  [
    'scripts, styles, titles, comments',
    '<title>t</title><style>p{}</style>a<script>if(a<b)"</p>"</script><!-- x > y -->b<!--[if mso]>c<![endif]-->',
    'ab',
  ],
  ['hidden elements', 'a<div style="color:red; DISPLAY : none">x<div>y</div></div><span hidden>z</span>b<p hidden>q<p>c', 'ab\n\nc'],
  ['a display that is not none', '<div style="display:block">a</div>', 'a'],
  ['angle brackets in text', '1 < 2 <3 a<>b', '1 < 2 <3 a<>b'],
  ['brackets in attributes', '<a title="a>b" href=\'https://x.example/\'>c</a>', 'c <https://x.example/>'],
  ['an unfinished tag', 'a<b class="', 'a'],
  ['an unfinished comment', 'a<!-- b', 'a'],
  ['NUL and surrogates', 'a\0b&#xDFFF;', 'ab\ufffd'],
  ['nothing', '', ''],
]
it.each(table)('%s', (_name, html, text) => expect(htmlToText(html)).toBe(text))

describe('text to html', () => {
  it('escapes', () => expect(textToHtml('a<b>&\nc')).toBe('<div>a&lt;b&gt;&amp;<br>\nc</div>'))
  it('comes back', () => expect(htmlToText(textToHtml('a <b> & c\nd'))).toBe('a <b> & c\nd'))
})
