// Bodies and headers of the inspector as text.
import { expect, test } from 'vitest'
import { curlOf, readBody, readHeaderLines, textOf, toBase64, toHeaderLines } from './request-text.ts'

test.each([
  ['JSON', '{"a":[1,2]}', 'application/json; charset=utf-8', { kind: 'json', text: '{\n  "a": [\n    1,\n    2\n  ]\n}' }],
  ['JSON without a type', '[1]', '', { kind: 'json', text: '[\n  1\n]' }],
  ['malformed JSON', '{"a":', 'application/json', { kind: 'text', text: '{"a":' }],
  ['a problem document', '{}', 'application/problem+json', { kind: 'json', text: '{}' }],
  [
    'a form',
    'name=Ada+Park&q=a%26b',
    'application/x-www-form-urlencoded',
    {
      kind: 'form',
      fields: [
        ['name', 'Ada Park'],
        ['q', 'a&b'],
      ],
    },
  ],
  ['XML', '<a><b>1</b><c/></a>', 'application/xml', { kind: 'markup', text: '<a>\n  <b>1</b>\n  <c/>\n</a>' }],
  ['text', 'Grüße', 'text/plain', { kind: 'text', text: 'Grüße' }],
])('%s is shown readably', (_name, text, type, body) => {
  expect(readBody(toBase64(text), type)).toEqual(body)
})

test('bytes are shown by their size, and a cut text without its broken last character', () => {
  expect(readBody(btoa('\xff\xfe\x00'), 'image/png')).toEqual({ kind: 'bytes', size: 3 })
  const cut = btoa('Gr\xc3')
  expect(textOf(cut)).toBeNull()
  expect(textOf(cut, true)).toBe('Gr')
})

test('a request as curl quotes what a shell reads', () => {
  const request = {
    method: 'POST',
    path: "/a?b='$(id)'",
    request_headers: [
      ['Host', 'x'],
      ['X-One', "it's"],
      ['Content-Length', '2'],
    ],
    request_body: toBase64("it's"),
  } as never
  expect(curlOf('https://sales.tunnel.example', request)).toBe(
    `curl -g -X POST 'https://sales.tunnel.example/a?b='\\''$(id)'\\''' \\\n  -H 'X-One: it'\\''s' \\\n  --data-raw 'it'\\''s'`,
  )
})

test('a request as curl is the same request: brackets, dot segments, empty headers and HEAD', () => {
  const of = (more: object) =>
    curlOf('https://t.example', { method: 'GET', path: '/', request_headers: [], request_body: null, ...more } as never)
  expect(of({ path: '/a?b[]={1,2}' })).toBe("curl -g 'https://t.example/a?b[]={1,2}'")
  expect(of({ path: '/a/../b' })).toBe("curl -g --path-as-is 'https://t.example/a/../b'")
  expect(of({ path: '/a..b?c=/../d' })).toBe("curl -g --path-as-is 'https://t.example/a..b?c=/../d'")
  expect(of({ method: 'HEAD' })).toBe("curl -g -I 'https://t.example/'")
  expect(of({ request_headers: [['X-Empty', '']] })).toBe("curl -g 'https://t.example/' \\\n  -H 'X-Empty;'")
})

test('headers survive being edited as lines', () => {
  const lines = toHeaderLines([
    ['Host', 'a'],
    ['X-Url', 'http://b:1'],
    ['Content-Length', '5'],
  ])
  expect(lines).toBe('Host: a\nX-Url: http://b:1')
  expect(readHeaderLines(`${lines}\n\nEmpty:`)).toEqual([
    ['Host', 'a'],
    ['X-Url', 'http://b:1'],
    ['Empty', ''],
  ])
  expect(() => readHeaderLines('no colon')).toThrow('no colon')
})
