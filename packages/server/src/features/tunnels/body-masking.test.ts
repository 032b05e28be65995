// The values of bodies that are masked before a request is stored.
import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { maskBody } from './masking.ts'

const mask = (text: string, type: string) => maskBody(Buffer.from(text), [['Content-Type', type]])?.toString()

describe('JSON', () => {
  test.each([
    ['{"user":"ada","password":"x y","n":1}', '{"user":"ada","password":"(masked)","n":1}'],
    ['{"accessToken": "x", "max_tokens": 5, "pin": 1234}', '{"accessToken": "(masked)", "max_tokens": 5, "pin": "(masked)"}'],
    ['{"pass\\u0077ord":"x"}', '{"pass\\u0077ord":"(masked)"}'],
    [
      '{"credentials":{"user":"a","list":["b",{"c":"d"}]},"e":"f"}',
      '{"credentials":{"user":"(masked)","list":["(masked)",{"c":"(masked)"}]},"e":"f"}',
    ],
    ['[{"secret":null},{"secret":"a\\"b"}]', '[{"secret":null},{"secret":"(masked)"}]'],
    ['{"code":"invalid_request","key":"PROJ-1"}', '{"code":"invalid_request","key":"PROJ-1"}'],
    ['{"token":"cut off here', '{"token":"(masked)"'],
    ['{"a":{"token":"x"},"b":"plain"}', '{"a":{"token":"(masked)"},"b":"plain"}'],
    ['{"note":"sent with Bearer abcdef123456 today"}', '{"note":"sent with (masked) today"}'],
    ['{"naïve":"ünïcode","token":"ü"}', '{"naïve":"ünïcode","token":"(masked)"}'],
  ])('%s', (text, expected) => {
    expect(mask(text, 'application/json; charset=utf-8')).toBe(expected)
    expect(mask(text, 'text/plain')).toBe(expected)
  })

  test('the rest is byte for byte the same, and the value of a secret name is gone', () => {
    const json = fc.jsonValue({ maxDepth: 3 })
    fc.assert(
      fc.property(json, json, fc.uuid(), (before, after, secret) => {
        const text = mask(JSON.stringify({ a: before, password: secret, b: after }), 'application/json')
        expect(text).not.toContain(secret)
        expect(() => JSON.parse(text as string)).not.toThrow()
      }),
    )
  })
})

test.each([
  ['user=ada&password=x%20y&code=1&n=2', 'user=ada&password=(masked)&code=(masked)&n=2'],
  ['grant_type=a&client%5Fsecret=x', 'grant_type=a&client%5Fsecret=(masked)'],
])('form %s', (text, expected) => {
  expect(mask(text, 'application/x-www-form-urlencoded')).toBe(expected)
  expect(mask(text, '')).toBe(expected)
})

test('fields of a multipart form', () => {
  const part = (name: string, value: string) => `--b\r\nContent-Disposition: form-data; name="${name}"\r\nX: y\r\n\r\n${value}\r\n`
  const body = (password: string) => `${part('user', 'ada')}${part('password', password)}${part('file', 'data\r\nmore')}--b--\r\n`
  expect(mask(body('x\r\ny'), 'multipart/form-data; boundary=b')).toBe(body('(masked)'))
})

test('elements of XML', () => {
  expect(mask('<a><wsse:Password Type="t">x</wsse:Password><b>y</b></a>', 'text/xml')).toBe(
    '<a><wsse:Password Type="t">(masked)</wsse:Password><b>y</b></a>',
  )
})

test('other bytes are unchanged', () => {
  const bytes = Buffer.from(Array.from({ length: 256 }, (_, i) => i))
  for (const type of ['image/png', 'application/octet-stream', '']) expect(maskBody(bytes, [['content-type', type]])).toEqual(bytes)
  expect(maskBody(null, null)).toBeNull()
})

test('compressed bodies are read too, also when they are cut off', () => {
  const secret = JSON.stringify({ password: 'x', filler: Array.from({ length: 500 }, (_, i) => i * 7919) })
  const plain = gzipSync(JSON.stringify({ a: 1 }))
  const headers = (coding: string): [string, string][] => [
    ['content-type', 'application/json'],
    ['Content-Encoding', coding],
  ]
  for (const [coding, bytes] of [
    ['gzip', gzipSync(secret)],
    ['gzip', gzipSync(secret).subarray(0, -200)],
    ['deflate', deflateSync(secret)],
    ['br', brotliCompressSync(secret)],
  ] as const)
    expect(maskBody(bytes, headers(coding))?.toString(), coding).toMatch(/^{"password":"\(masked\)","filler":\[0,7919,/)
  expect(maskBody(plain, headers('gzip'))).toBe(plain)
  for (const [coding, bytes] of [
    ['gzip', Buffer.from('not gzip')],
    ['gzip', gzipSync(Buffer.alloc(4 * 1024 * 1024))],
    ['compress', plain],
  ] as const)
    expect(maskBody(bytes, headers(coding)), coding).toBeNull()
})
