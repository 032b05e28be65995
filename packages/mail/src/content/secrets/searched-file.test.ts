// The bytes of a file decide how it is searched, and a secret in plain is found in any of them.
import { deflateSync } from 'node:zlib'
import { expect, test } from 'vitest'
import { readSearchedFile } from './searched-file.ts'

const secret = 'ghp_x7Kd93bQmZt2LwPv5RcYs8HnJf4GaTe1Uo6B'
const line = `TOKEN=${secret}\n`
const utf16be = (text: string) => Buffer.from(text, 'utf16le').swap16()
const utf32 = (text: string) => Buffer.concat([...text].map((character) => Buffer.from([character.charCodeAt(0), 0, 0, 0])))
/** Compressed bytes, as those of images and archives are. */
const noise = deflateSync(Buffer.from(Array.from({ length: 4000 }, (_, n) => (n * 7919) % 251)))

test.each<[string, Buffer, string]>([
  ['ASCII', Buffer.from(line), 'text'],
  ['UTF-8 with a mark', Buffer.from(`\ufeff${line}`), 'text'],
  ['UTF-8 beyond ASCII', Buffer.from(`Schlüssel: ${line}`), 'text'],
  ['windows-1252', Buffer.from(`Schl\u00fcssel: ${line}`, 'latin1'), 'text'],
  ['UTF-16 with a mark', Buffer.concat([Buffer.from([0xff, 0xfe]), Buffer.from(line, 'utf16le')]), 'text'],
  ['UTF-16 big-endian with a mark', Buffer.concat([Buffer.from([0xfe, 0xff]), utf16be(line)]), 'text'],
  ['UTF-16 without a mark', Buffer.from(line.repeat(3), 'utf16le'), 'text'],
  ['UTF-16 big-endian without a mark', utf16be(line.repeat(3)), 'text'],
  ['UTF-32', utf32(line), 'unknown'],
  [
    'a PNG with the text behind it',
    Buffer.concat([Buffer.from('\x89PNG\r\n\x1a\n\0\0\0\rIHDR', 'latin1'), noise, Buffer.from(line)]),
    'container',
  ],
  ['a PDF with the text in it', Buffer.concat([Buffer.from('%PDF-1.7\n'), noise, Buffer.from(line, 'utf16le')]), 'container'],
  ['a database with the text in it', Buffer.concat([Buffer.from('SQLite format 3\0'), noise, Buffer.from(line)]), 'unknown'],
])('%s is searched', (_name, bytes, kind) => {
  const found = readSearchedFile(bytes)
  expect(found.text).toContain(secret)
  expect(found.kind).toBe(kind)
})

test('a text that begins like a file of another kind is a text', () => {
  for (const start of ['%PDF-1.7\n', 'GIF89a', 'BM 12 characters', 'ID3'])
    expect(readSearchedFile(Buffer.from(`${start}${line}`)).kind).toBe('text')
})

test.each<[string, string]>([
  ['PNG', '\x89PNG\r\n\x1a\n'],
  ['JPEG', '\xff\xd8\xff\xe0'],
  ['ZIP', 'PK\x03\x04'],
  ['gzip', '\x1f\x8b\x08'],
  ['PDF', '%PDF-1.4\n'],
])('a real %s is a container, and its compressed bytes have no secret', (_name, start) => {
  expect(readSearchedFile(Buffer.concat([Buffer.from(start, 'latin1'), noise])).kind).toBe('container')
})

test('random bytes are unknown, and an empty file is a text', () => {
  expect(readSearchedFile(noise).kind).toBe('unknown')
  expect(readSearchedFile(Buffer.alloc(0)).kind).toBe('text')
})
