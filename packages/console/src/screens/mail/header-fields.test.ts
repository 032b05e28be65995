// Header fields and the route of a raw message.
import { expect, test } from 'vitest'
import { parseHeader, readRoute } from './header-fields.ts'

const raw = [
  'Received: from mx.b.example (mx.b.example [192.0.2.2]) by c.example with ESMTPS id 2;',
  ' Mon, 23 Nov 2026 09:00:42 +0000',
  'Received: from [192.0.2.1] by mx.b.example with ESMTP; Mon, 23 Nov 2026 10:00:00 +0100',
  'Subject: One',
  '\ttwo',
  '',
  'Not: a field',
].join('\r\n')

test('folded lines are joined, and the body is left out', () => {
  expect(parseHeader(raw).map((field) => field.name)).toEqual(['Received', 'Received', 'Subject'])
  expect(parseHeader(raw)[2]).toEqual({ name: 'Subject', value: 'One two' })
})

test('the route is oldest first, with the delay of each server', () => {
  expect(readRoute(parseHeader(raw))).toMatchObject([
    { from: '[192.0.2.1]', by: 'mx.b.example', protocol: 'ESMTP', delayMs: null },
    { from: 'mx.b.example', by: 'c.example', protocol: 'ESMTPS', delayMs: 42_000 },
  ])
})

test('a field without a date has neither time nor delay', () => {
  expect(readRoute([{ name: 'received', value: 'by a.example' }])).toEqual([
    { by: 'a.example', from: '', protocol: '', at: null, delayMs: null },
  ])
})
