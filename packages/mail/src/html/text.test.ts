// HTML to text: visible text only.
import { describe, expect, it } from 'vitest'
import { htmlToMarkdown, htmlToText, textToHtml } from './text.ts'

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
  ['table cells without text', '<table><tr><td>A</td><td></td><td>C</td></tr></table>', 'A\tC'],
  ['a link across lines', '<a href="https://x.example/">one<br>two</a> three', 'one\ntwo <https://x.example/> three'],
  ['a link without text', 'a<a href="https://x.example/"> </a>b', 'a b'],
  ['a link behind text', 'See the <a href="https://x.example/">site</a>', 'See the site <https://x.example/>'],
  [
    'a link inside of a link',
    '<a href="https://x.example/">a<a href="https://y.example/">b</a>',
    'a <https://x.example/>b <https://y.example/>',
  ],
  ['a link with white space in its address', '<a href=" https://x.example/a\n b ">c</a>', 'c <https://x.example/ab>'],
  [
    'addresses shown as they are',
    '<a href="mailto:a@x.example">a@x.example</a> <a href="tel:+4912">+4912</a> <a href="http://www.x.example/">X.example</a>',
    'a@x.example +4912 X.example',
  ],
  [
    'addresses of other kinds',
    '<a href="FTP://x.example/">f</a> <a href="xhttps://y.example">y</a> <a href="data:x">d</a>',
    'f <FTP://x.example/> y d',
  ],
  ['an address that is too long', `<a href="https://x.example/${'a'.repeat(1_983)}">b</a>`, 'b'],
  ['a long address', `<a href="https://x.example/${'a'.repeat(1_982)}">b</a>`, `b <https://x.example/${'a'.repeat(1_982)}>`],
  ['lists in lists', '<ul><li>a<ul><li>b<ul><li>c</ul></ul><li>d</ul><ol><li>e<li>f</ol>', '- a\n  - b\n    - c\n- d\n\n1. e\n2. f'],
  ['an item outside of a list', '<li>a<li>b', '- a\n- b'],
  ['an item with a paragraph', '<ul><li><p>a</p></li><li><p>b</p></li></ul>', '-\n\na\n\n-\n\nb'],
  ['a quotation first', '<blockquote>a</blockquote>b', '> a\n\nb'],
  ['a quotation that is not open', 'a</blockquote>b', 'a\n\nb'],
  ['a quotation with paragraphs', '<blockquote><p>a</p><p>b</p></blockquote>c', '> a\n>\n> b\n\nc'],
  ['empty lines of a quotation', '<blockquote>a<br><br>b</blockquote>', '> a\n>\n> b'],
  ['deep quotations', `${'<blockquote>'.repeat(12)}a`, `${'> '.repeat(10)}a`],
  ['preformatted lines', '<pre>\r\na\r\n\r\n b</pre>', 'a\n\n b'],
  ['preformatted text in a preformatted text', '<pre>a  b<pre>c  d</pre>e  f</pre>g  h', 'a  b\n\nc  d\n\ne  f\n\ng h'],
  ['an end of preformatted text only', 'a</pre>b  c', 'a\n\nb c'],
  ['padding of previews', 'a\u200b\u200c\u00ad\u034fb\ufeff', 'a\u200cb'],
  ['hard spaces', 'a&nbsp;&nbsp; b&ensp;c', 'a b c'],
  ['many line breaks', 'a<br><br><br><br><br>b', 'a\n\n\nb'],
  ['line breaks at the ends', '<br><br>a<br><br>', 'a'],
  ['a paragraph without an end', '<p hidden>a<p>b', 'b'],
  ['a hidden paragraph and a line of text', '<p hidden>a<b>b</b></p>c', 'c'],
  ['hidden elements of one name', '<div hidden><div>a</div>b</div>c<div hidden>d</div></div>e', 'c\ne'],
  ['lines and images inside of a hidden element', '<div hidden>a<br><img alt=b><hr></div>c', 'c'],
  ['a void element with hidden', '<img hidden alt="a"><br hidden>b', 'a\nb'],
  ['hidden in a style of several declarations', '<i style="a:b;display:none">x</i><i style="xdisplay:none">y</i>', 'y'],
  ['the word none elsewhere', '<i title="none hidden">a</i><i data-hidden="x">b</i>', 'ab'],
  ['a raw element that closes itself', 'a<script/>b<svg>c</svg>d', 'abd'],
  ['declarations and bogus tags', '<!DOCTYPE html><?xml a?>b</3>c</ >d', 'bcd'],
  ['a sign that starts no markup, first', '<3 a', '<3 a'],
  ['a raw element that closes itself behind attributes', '<script src="x" />a', 'a'],
  ['an item that has a link', '<ol><li><a href="https://x.example/">a</a></ol>', '1. a <https://x.example/>'],
  ['an end of a list that is not open', 'a</ul>b</ol>c', 'a\n\nb\n\nc'],
  ['white space inside of preformatted text', '<pre>a\rb\n\nc</pre>', 'a\nb\n\nc'],
  ['an address within a word', '<a href="https://x.example/">see https://x.example/</a>', 'see https://x.example/ <https://x.example/>'],
  [
    'an address with another one in it',
    '<a href="https://x.example/?u=https://y.example">x.example/?u=y.example</a>',
    'x.example/?u=y.example <https://x.example/?u=https://y.example>',
  ],
  ['a name with www inside', '<a href="https://a.www.x.example">a.x.example</a>', 'a.x.example <https://a.www.x.example>'],
  ['slashes inside of a name', '<a href="https://x.example/a/b">x.examplea/b</a>', 'x.examplea/b <https://x.example/a/b>'],
  ['a slash that only the address has', '<a href="https://x.example/a">x.examplea</a>', 'x.examplea <https://x.example/a>'],
  ['a list behind text', 'a<ul><li>b</ul>', 'a\n\n- b'],
  ['a numbered list inside of a list', '<ul><li>a<ol><li>b</ol><li>c</ul>', '- a\n  1. b\n- c'],
  ['empty lines of a deep quotation', '<blockquote><blockquote>a<p>b</p></blockquote></blockquote>', '> > a\n> >\n> > b'],
  ['empty lines before a deep quotation', '<blockquote><blockquote>a<br><br><p>b', '> > a\n> >\n> > b'],
  ['plain http', '<a href="http://x.example/">x</a>', 'x <http://x.example/>'],
  ['a quotation behind an empty line', 'a<br><br><blockquote>b</blockquote>', 'a\n\n> b'],
  ['a line break first in a quotation', '<blockquote><br>a</blockquote>', '>\n> a'],
  ['four and more empty lines', 'a<p><br><br><br><br></p>b', 'a\n\n\nb'],
  ['short comments', 'a<!-->b<!--->c<!---->d', 'abcd'],
  [
    'a legend, a caption and a definition list',
    '<fieldset><legend>a</legend>b</fieldset><dl><dt>c<dd>d</dl><table><caption>e</caption><tr><td>f</table>',
    'a\nb\n\nc\nd\n\ne\nf',
  ],
]
it.each(table)('%s', (_name, html, text) => expect(htmlToText(html)).toBe(text))

describe('Markdown', () => {
  it.each([
    ['headings', '<h1>a</h1><p>b</p><h3>c</h3>', '# a\n\nb\n\n### c'],
    ['no headings', '<h7>a</h7><hr>b<header>c</header>', 'a\n---\nb\nc'],
    ['a heading without text', '<h2></h2>a', '## a'],
    ['a table', '<table><tr><th>A</th><th>B</th></tr><tr><td>1</td><td>2|3</td></tr></table>', '| A | B |\n| --- | --- |\n| 1 | 2\\|3 |'],
    [
      'empty cells',
      '<table><tr><td>A</td><td></td><td>C</td></tr><tr><td></td><td>2</td></tr></table>',
      '| A |  | C |\n| --- | --- | --- |\n|  | 2 |',
    ],
    ['one row', '<table><tr><td>A</td><td>B</td></tr></table>c', 'A\tB\n\nc'],
    ['a table between texts', 'a<table><tr><td>A<td>B<tr><td>C<td>D</table>b', 'a\n\n| A | B |\n| --- | --- |\n| C | D |\n\nb'],
    [
      'two tables',
      '<table><tr><td>A<td>B<tr><td>C<td>D</table>x<table><tr><td>E<td>F</table>',
      '| A | B |\n| --- | --- |\n| C | D |\n\nx\n\nE\tF',
    ],
    ['a quoted table', '<blockquote><table><tr><td>A<td>B<tr><td>C<td>D</table></blockquote>', '> A\tB\n> C\tD'],
    ['a row of 201 cells', `<table>${`<tr>${'<td>a'.repeat(201)}`.repeat(2)}</table>`, `${'a\t'.repeat(200)}a\n${'a\t'.repeat(200)}a`],
  ])('%s', (_name, html, text) => expect(htmlToMarkdown(html)).toBe(text))
  it('takes rows of 200 cells', () =>
    expect(htmlToMarkdown(`<table>${`<tr>${'<td>a'.repeat(200)}`.repeat(2)}</table>`)).toMatch(/^\| a \|.*\n\| --- \|.*\n\| a \|/))
})

it('HTML after 1 MB is left out, and so is text after as much', () => {
  const long = `<p>${'a'.repeat(1024 * 1024)}b`
  expect(htmlToText(long)).toBe('a'.repeat(1024 * 1024 - 3))
  expect(htmlToMarkdown(long)).toBe('a'.repeat(1024 * 1024 - 3))
})

describe('text to html', () => {
  it('escapes', () => expect(textToHtml('a<b>&\nc')).toBe('<div>a&lt;b&gt;&amp;<br>\nc</div>'))
  it('comes back', () => expect(htmlToText(textToHtml('a <b> & c\nd'))).toBe('a <b> & c\nd'))
})
