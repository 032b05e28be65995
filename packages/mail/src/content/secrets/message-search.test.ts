// The search of whole messages: every part is read in its own encoding, whether readers see it or not, and what cannot be read is named.
import { generateKeyPairSync, randomBytes } from 'node:crypto'
import { expect, test } from 'vitest'
import { expectLinear } from '../../../tests/harness/cost.ts'
import { type DeclaredPart, searchForSecrets } from './message-search.ts'

const secret = `ghp_${'x7Kd93bQmZt2LwPv5RcYs8HnJf4GaTe1Uo6B'}`
const base64 = (content: string | Buffer): string => Buffer.from(content).toString('base64')
const part = (type: string, content: string | Buffer, encoding = 'base64'): string =>
  `Content-Type: ${type}\r\nContent-Transfer-Encoding: ${encoding}\r\n\r\n${encoding === 'base64' ? base64(content) : content}`
const multipart = (kind: string, ...parts: string[]): string =>
  `Content-Type: multipart/${kind}; boundary=${kind}b\r\n\r\n${parts.map((one) => `--${kind}b\r\n${one}\r\n`).join('')}--${kind}b--\r\n`
const message = (entity: string): string => `Subject: x\r\nMIME-Version: 1.0\r\n${entity}`

const search = (raw: string | Buffer, declared?: DeclaredPart) =>
  searchForSecrets({
    patterns: [],
    fields: [],
    files: [{ name: 'a.eml', bytes: Buffer.from(raw), isCut: false, ...(declared && { part: declared }) }],
  })
const typesOf = (raw: string | Buffer, declared?: DeclaredPart) => search(raw, declared).map(({ type }) => type)

const utf7 = `+${base64(Buffer.from(secret, 'utf16le').swap16()).replace(/=+$/, '')}-`
const hidden = `<div style="display:none">${secret}</div>`
const plain = part('text/plain', 'hello')

test.each<[string, string]>([
  ['an alternative whose HTML shows nothing', multipart('alternative', plain, part('text/html', hidden))],
  ['an alternative in a comment of HTML', multipart('alternative', plain, part('text/html', `<!-- ${secret} -->`))],
  ['an alternative whose tags divide it', multipart('alternative', plain, part('text/html', secret.replace('_', '_<b></b>')))],
  ['an alternative of an unknown subtype', multipart('alternative', plain, part('text/x-other', secret))],
  ['a plain alternative beside HTML', multipart('alternative', part('text/plain', secret), part('text/html', '<p>hello</p>'))],
  ['a related part', multipart('related', part('text/html', '<p>hello</p>'), part('text/html', hidden))],
  ['a charset that is not ASCII', multipart('alternative', plain, part('text/html; charset=utf-7', utf7))],
  ['a file in such a charset', multipart('mixed', plain, `Content-Disposition: attachment\r\n${part('text/plain; charset=utf-7', utf7)}`)],
  [
    'quoted-printable',
    multipart('alternative', plain, part('text/html', hidden.replace('_', '=5F='), 'quoted-printable').replace('F=', 'F')),
  ],
  [
    'a message in a message',
    multipart('mixed', part('message/rfc822', message(multipart('alternative', plain, part('text/html', hidden))))),
  ],
  ['a header of 100 KB before the type', `X-Note: ${`${'word '.repeat(150)}\r\n `.repeat(140)}\r\n${part('text/html', hidden)}`],
])('a secret in %s is found', (_name, entity) => {
  expect(typesOf(message(entity))).toContain('api_key')
})

test('a card number in a text is found when a picture has the same number', () => {
  const number = '4242 4242 4242 4242'
  const picture = Buffer.concat([Buffer.from('\x89PNG\r\n\x1a\n\0', 'latin1'), Buffer.from(number)])
  const raw = message(multipart('mixed', part('text/html', `<p hidden>${number}</p>`), part('image/png', picture)))
  expect(typesOf(raw)).toEqual(['card_number'])
})

test('parts that are left out or stay encoded are named', () => {
  const many = multipart('mixed', ...Array.from({ length: 1100 }, () => part('text/plain', 'x')))
  for (const entity of [many, part('text/plain', 'x', 'x-other')])
    expect(search(message(entity))).toEqual([
      { type: 'not_scanned', reason: 'Not searched for secrets: a part of the file a.eml.', evidence: '' },
    ])
})

test('messages without a secret have no flag', () => {
  for (const entity of [
    multipart('alternative', plain, part('text/html', '<p>hello</p>')),
    part('text/plain; charset=iso-2022-jp', Buffer.from('\x1b$B$3$s\x1b(B', 'latin1')),
    multipart('mixed', plain, part('image/png', Buffer.from('\x89PNG\r\n\x1a\n\0', 'latin1'))),
  ])
    expect(search(message(entity))).toEqual([])
})

/** The bytes of an element of DER. */
const der = (tag: number, ...parts: Buffer[]): Buffer => {
  const content = Buffer.concat(parts)
  return Buffer.concat([Buffer.from([tag, 0x82, content.length >> 8, content.length & 255]), content])
}
const oid = (hex: string): Buffer => Buffer.from(`0609${hex}`, 'hex')
const signedData = (...content: Buffer[]): Buffer => {
  const signed = der(
    0x30,
    Buffer.from('020101', 'hex'),
    der(0x31),
    der(0x30, oid('2a864886f70d010701'), ...content),
    der(0x31, randomBytes(300)),
  )
  return der(0x30, oid('2a864886f70d010702'), der(0xa0, signed))
}

test('a signature beside the part that it signs is not held, and other bytes in its place are', () => {
  const detached = signedData()
  const signed = (type: string, bytes: Buffer, kind = 'signed') => typesOf(message(multipart(kind, plain, part(type, bytes))))
  for (const type of ['application/pkcs7-signature', 'application/x-pkcs7-signature']) expect(signed(type, detached)).toEqual([])
  const type = 'application/pkcs7-signature'
  const declared = { contentType: type, charset: null, parentKind: 'signed' }
  expect(typesOf(detached, declared)).toEqual([])
  expect(typesOf(detached, { ...declared, parentKind: '' })).toEqual(['not_scanned'])
  expect(signed(type, detached, 'mixed')).toEqual(['not_scanned'])
  expect(signed('application/octet-stream', detached)).toEqual(['not_scanned'])
  const wrapped = signedData(der(0xa0, der(0x04, randomBytes(200))))
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })
  for (const bytes of [wrapped, randomBytes(500), privateKey.export({ format: 'der', type: 'pkcs8' })])
    expect(signed(type, bytes)).toEqual(['not_scanned'])
  expect(signed(type, Buffer.concat([detached, Buffer.from(`\n${secret}`)]))).toContain('api_key')
})

test('a message of many parts takes time in proportion to its length', async () => {
  await expectLinear((count) => {
    const raw = message(multipart('alternative', ...Array.from({ length: count }, () => part('text/html', '<p>word</p>'.repeat(50)))))
    return () => search(raw)
  }, 50)
})

test('a secret in HTML is found in references, attributes and comments, as browsers and others read them', () => {
  const flagsOf = (html: string) => searchForSecrets({ patterns: [], fields: [{ where: 'the HTML', text: html, form: 'html' }], files: [] })
  const reference = `&#${secret.charCodeAt(0)};${secret.slice(1)}`
  for (const html of [`<p title="${reference}">a</p>`, `<!-- x --!><p>${reference}</p><!-- -->`, `<template>${reference}</template>`])
    expect([html, flagsOf(html).map(({ type }) => type)]).toEqual([html, ['api_key']])
  expect(flagsOf('<p title="a">Hello</p>')).toEqual([])
})

test('a card number in the cells of one row of HTML is found', () => {
  const row = (cells: string[]) => `<table>\n <tr>\n${cells.map((cell) => `  <td> ${cell} </td>\n`).join('')} </tr>\n</table>`
  const typesIn = (html: string) =>
    searchForSecrets({ patterns: [], fields: [{ where: 'the HTML', text: html, form: 'html' }], files: [] }).map(({ type }) => type)
  expect(typesIn(row(['4242', '4242', '4242', '4242']))).toEqual(['card_number'])
  expect(typesIn(row(['4242', '4242', '4242', '4241']))).toEqual([])
})
