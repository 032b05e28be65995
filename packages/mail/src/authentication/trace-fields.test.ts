// Trace fields: forged fields in our name are removed in every spelling, other fields stay, and ours is well formed.
import { expect, test } from 'vitest'
import { expectCost } from '../../tests/harness/cost.ts'
import type { Verdicts } from './sender-checks.ts'
import { hasBeenDelivered, renderResults, withoutForeignResults } from './trace-fields.ts'

const clean = (text: string) => withoutForeignResults(Buffer.from(text), 'mx.example').toString()

test('results that bear our name go, in every spelling', () => {
  const spellings = [
    'Authentication-Results: mx.example; dmarc=pass',
    'authentication-results: MX.Example; dmarc=pass',
    'Authentication-Results:mx.example;dmarc=pass',
    'Authentication-Results : mx.example 1; dmarc=pass',
    'Authentication-Results:\r\n\tmx.example;\r\n dmarc=pass',
    'Authentication-Results: (a (nested) comment) mx.example (here too); dmarc=pass',
    'Authentication-Results: "mx.example"; dmarc=pass',
    'Authentication-Results: mx.example.; dmarc=pass',
    'Authentication-Results: "mx\\.example"; dmarc=pass',
    'Authentication-Results: mx.example',
    'Authentication-Results\r\n \t : mx.example; dmarc=pass',
    'Authentication-Results\n : mx.example; dmarc=pass',
    'Authentication-Results\r\n \r\n : mx.example; dmarc=pass',
    'Authentication-Results: (a \\) comment) mx.example; dmarc=pass',
    'Authentication-Results:\n mx.example; dmarc=pass',
  ]
  for (const field of spellings) expect(clean(`A: b\r\n${field}\r\nSubject: x\r\n\r\nbody\r\n`)).toBe('A: b\r\nSubject: x\r\n\r\nbody\r\n')
})

test('everybody else stays, and so does the body', () => {
  const kept = [
    'Authentication-Results: mx.example.org; dmarc=pass',
    'Authentication-Results: amx.example; x=mx.example',
    'X-Authentication-Results: mx.example; dmarc=pass',
    'Subject: Authentication-Results: mx.example;',
    'Subject: x\r\n Authentication-Results: mx.example;',
    'Authentication-Results\r\nSubject: mx.example;',
    'Authentication-Resultsäöü: mx.example;',
    'Also\r\n Authentication-Results: mx.example;',
    'a',
    'Authentication-Results: (mx.example; dmarc=pass',
    'Authentication-Results: mx.example\\',
  ]
  for (const field of kept) {
    const whole = `${field}\r\n\r\nAuthentication-Results: mx.example; dmarc=pass\r\n`
    expect(clean(whole)).toBe(whole)
  }
  const raw = Buffer.from('Subject: x\r\n\r\nbody')
  expect(withoutForeignResults(raw, 'mx.example')).toBe(raw)
})

test('the header ends at an empty line, with or without CR', () => {
  for (const whole of ['A: b\n\nAuthentication-Results: mx.example; a=b\n', '\nAuthentication-Results: mx.example; a=b\n'])
    expect(clean(whole)).toBe(whole)
  expect(clean('\r\nAuthentication-Results: mx.example; a=b\r\n')).toBe('\r\nAuthentication-Results: mx.example; a=b\r\n')
})

const received =
  'Received: from a.example ([192.0.2.1])\r\n\tby mx.example with ESMTP id 1\r\n\tfor <ada@agents.example>; Mon, 3 Nov 2025 10:00:00 +0000'

test.each<[field: string, isLoop: boolean]>([
  ['Delivered-To: ada@agents.example', true],
  ['delivered-to:\r\n\t<Ada@Agents.example>', true],
  ['To: x\r\nDelivered-To: x@other.example\r\nDelivered-To: bob@agents.example', true],
  ['Delivered-To: ada@agents.example.org', false],
  ['Delivered-To: xada@agents.example', false],
  ['Delivered-To: x@other.example', false],
  ['X-Delivered-To: ada@agents.example', false],
  ['To: ada@agents.example', false],
  [`Delivered-To: ${' '.repeat(3_000)}ada@agents.example`, false],
  ['Subject: x\r\n\r\nDelivered-To: ada@agents.example', false],
  ['', false],
])('with a Received field of this server, %j was delivered here before: %s', (field, isLoop) => {
  const isDelivered = (header: string) =>
    hasBeenDelivered(Buffer.from(`${header}\r\n\r\nbody\r\n`), ['ada@agents.example', 'bob@agents.example'], 'MX.example')
  expect(isDelivered(`${received}\r\n${field}`)).toBe(isLoop)
  expect(isDelivered(field)).toBe(false)
})

test.each<[field: string, isLoop: boolean]>([
  [received, true],
  ['Received: by mx.example. with HTTP id 1; Mon, 3 Nov 2025 10:00:00 +0000', true],
  ['RECEIVED:\r\n from b (by mx.other)\r\n BY\r\n MX.Example', true],
  ['Received: from mx.example by b.old.example; Mon, 3 Nov 2025 10:00:00 +0000', false],
  ['Received: from a.example (by mx.example) by b.old.example', false],
  ['Received: from a.example by mx.example.org', false],
  ['X-Received: from a.example by mx.example', false],
])('%j proves a loop with Delivered-To: %s', (field, isLoop) =>
  expect(hasBeenDelivered(Buffer.from(`Delivered-To: ada@agents.example\r\n${field}\r\n\r\n`), ['ada@agents.example'], 'mx.example')).toBe(
    isLoop,
  ),
)

test('several go at once, the last field and a message without a body too', () => {
  expect(clean('Authentication-Results: mx.example; a=b\r\nTo: x\r\nAuthentication-Results: mx.example; c=d\r\n')).toBe('To: x\r\n')
  expect(clean('Authentication-Results: mx.example; a=b')).toBe('')
  expect(clean('')).toBe('')
})

test('a flood of fields costs a linear time', async () => {
  const raw = Buffer.from('Authentication-Results: (((((((((\r\n'.repeat(20_000))
  // 20,000 fields; a quadratic reader takes many seconds.
  await expectCost(() => withoutForeignResults(raw, 'mx.example'), 1000)
})

const verdicts: Verdicts = {
  source: 'smtp',
  spf: { result: 'pass', domain: 'shop.example', identity: 'mailfrom', client_ip: '192.0.2.7', record: null, reason: null },
  dkim: {
    result: 'pass',
    domain: 'shop.example',
    signatures: [
      {
        result: 'pass',
        domain: 'shop.example',
        selector: 's1',
        algorithm: 'rsa-sha256',
        is_aligned: true,
        unsigned_bytes: 0,
        reason: null,
      },
      { result: 'fail', domain: 'x\r\nBcc: y', selector: '(', algorithm: null, is_aligned: false, unsigned_bytes: 0, reason: null },
    ],
  },
  dmarc: {
    result: 'pass',
    domain: 'shop.example',
    policy_domain: 'shop.example',
    policy: 'reject',
    alignment: { spf: true, dkim: true },
    record: null,
    reason: null,
  },
  arc: { result: 'none', chain_length: 0, domain: null, reason: null },
}

test('our own field, and nothing of a stranger in it that is more than a word', () => {
  expect(renderResults('mx.example', verdicts)).toBe(
    'Authentication-Results: mx.example;\r\n\tspf=pass smtp.mailfrom=shop.example smtp.remote-ip=192.0.2.7;' +
      '\r\n\tdkim=pass header.d=shop.example header.s=s1 header.a=rsa-sha256;\r\n\tdkim=fail;' +
      '\r\n\tdmarc=pass header.from=shop.example policy.dmarc=reject\r\n',
  )
  expect(renderResults('mx.example', { ...verdicts, source: 'hosted', spf: null, dkim: null, arc: null })).toMatch(
    /^Authentication-Results: mx\.example;\r\n\tauth=pass;\r\n\tdmarc=pass/,
  )
})

test('results of HELO, of no signature, of no DMARC and of a chain', () => {
  const spf = { ...(verdicts.spf as NonNullable<Verdicts['spf']>), identity: 'helo' as const, client_ip: '2001:db8::7' }
  const arc = { result: 'pass' as const, chain_length: 1, domain: 'list.example', reason: null }
  expect(renderResults('mx.example', { ...verdicts, spf, dkim: { result: 'none', domain: null, signatures: [] }, dmarc: null, arc })).toBe(
    'Authentication-Results: mx.example;\r\n\tspf=pass smtp.helo=shop.example smtp.remote-ip=2001:db8::7;\r\n\tdkim=none;\r\n\tarc=pass\r\n',
  )
})
