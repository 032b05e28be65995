// The reason why a chain is not valid, for each rule of RFC 8617 §5.2.
import { generateKeyPairSync } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { sealWithNode } from '../../../tests/harness/signers.ts'
import { createZoneResolver } from '../../../tests/harness/zone-resolver.ts'
import { openMessage } from '../dkim/message-fields.ts'
import { prepareMessage } from '../dkim/verification.ts'
import { validateChain } from './arc-chain.ts'

const rsa = generateKeyPairSync('rsa', { modulusLength: 2048 })
const ed = generateKeyPairSync('ed25519')
const resolver = createZoneResolver({
  's1._domainkey.list.example': { TXT: [`v=DKIM1; p=${rsa.publicKey.export({ type: 'spki', format: 'der' }).toString('base64')}`] },
  's2._domainkey.list.example': {
    TXT: [`v=DKIM1; k=ed25519; p=${ed.publicKey.export({ type: 'spki', format: 'der' }).subarray(-32).toString('base64')}`],
  },
  'slow._domainkey.list.example': 'failure',
})
const plain = Buffer.from(
  'Authentication-Results: list.example; dkim=pass header.d=shop.example\r\nFrom: Ada <ada@shop.example>\r\nTo: bob@agents.localhost\r\nSubject: Hello\r\nDate: Sun, 22 Nov 2026 03:00:00 +0000\r\n\r\nHello\r\n',
)
const sealer = { domain: 'list.example', selector: 's1', key: rsa.privateKey, service: 'list.example' }
const once = sealWithNode(plain, sealer)
const twice = sealWithNode(once, sealer)

const validate = (raw: Buffer, asked = resolver) => validateChain(prepareMessage(openMessage(raw)), asked, () => 0)
const edited = (raw: Buffer, from: string | RegExp, to: string): Buffer => {
  const text = raw.toString('latin1')
  const changed = text.replace(from, to)
  if (changed === text) throw new Error(`${from} changes nothing`)
  return Buffer.from(changed, 'latin1')
}
/** Finds a tag of a set's field, with its value and the semicolon after it. */
const tag = (kind: 'Seal' | 'Message-Signature', instance: number, name: string) =>
  new RegExp(`(?<=^ARC-${kind}: i=${instance};(?:[^\\r]| \\r\\n )*?[; ])${name}=[^;\\r]*(?:;|(?=\\r))`, 'm')

describe('a valid chain', () => {
  test('of RSA and of Ed25519', async () => {
    expect(await validate(plain)).toEqual({ result: 'none', length: 0, domain: null, reason: null })
    expect(await validate(once)).toEqual({ result: 'pass', length: 1, domain: 'list.example', reason: null })
    const mixed = sealWithNode(twice, { ...sealer, selector: 's2', key: ed.privateKey, algorithm: 'ed25519-sha256' })
    expect(await validate(mixed)).toEqual({ result: 'pass', length: 3, domain: 'list.example', reason: null })
  })
  test('with a fold inside of the signature of its last seal', async () => {
    expect(await validate(edited(twice, /(?<=^ARC-Seal: i=2;[^\r]* b=[^\r]{40})/m, '\r\n\t'))).toMatchObject({ result: 'pass' })
  })
})

const seal1 = 'i=1 as '
const ams2 = 'i=2 ams '
/** Without a valid structure the number of sets is 0. */
const structure: [what: string, from: string | RegExp, to: string, reason: string][] = [
  ['a seal without an instance', 'ARC-Seal: i=2;', 'ARC-Seal:', 'invalid as instance'],
  ['an instance of 0', 'ARC-Seal: i=2', 'ARC-Seal: i=0', 'invalid as instance'],
  ['an instance of 51', 'ARC-Message-Signature: i=2', 'ARC-Message-Signature: i=51', 'invalid ams instance'],
  ['an instance of three digits', 'ARC-Seal: i=2', 'ARC-Seal: i=002', 'invalid as instance'],
  ['an instance with an exponent', 'ARC-Seal: i=2', 'ARC-Seal: i=2e0', 'invalid as instance'],
  ['an instance with a fraction', 'ARC-Seal: i=2', 'ARC-Seal: i=2.0', 'invalid as instance'],
  ['results without an instance', 'Results: i=2;', 'Results:', 'invalid aar instance'],
  ['results with a late instance', 'Results: i=2; list.example;', 'Results: list.example; i=2;', 'invalid aar instance'],
  ['results with an instance of 99', 'Results: i=2;', 'Results: i=99;', 'invalid aar instance'],
  ['a set twice', 'ARC-Seal: i=2', 'ARC-Seal: i=1', 'i=1 multiple arc-seal values'],
  ['no first set', /i=1;/g, 'i=3;', 'i=1 missing'],
  ['no seal', /^ARC-Seal: i=1;[^\r]*\r\n/m, '', 'i=1 no arc-seal set'],
  ['no message signature', /^ARC-Message-Signature: i=2;[^\r]*\r\n/m, '', 'i=2 no arc-message-signature set'],
  ['no results', /^ARC-Authentication-Results: i=2;[^\r]*\r\n/m, '', 'i=2 no arc-authentication-results set'],
  ...['a', 'b', 'cv', 'd', 's'].map((name): [string, RegExp, string, string] => [
    `a seal without ${name}=`,
    tag('Seal', 1, name),
    'y=1;',
    `${seal1}missing ${name}=`,
  ]),
  ...['a', 'b', 'bh', 'd', 'h', 's'].map((name): [string, RegExp, string, string] => [
    `a last signature without ${name}=`,
    tag('Message-Signature', 2, name),
    'y=1;',
    `${ams2}missing ${name}=`,
  ]),
  ['a tag of a seal twice', tag('Seal', 1, 's'), 's=s1; s=s1;', `${seal1}tag given twice`],
  ['a tag of the last signature twice', tag('Message-Signature', 2, 's'), 's=s1; s=s1;', `${ams2}tag given twice`],
  ['a seal with a wrong t=', tag('Seal', 1, 's'), 's=s1; t=1a;', `${seal1}invalid t=`],
  ['a seal with a wrong x=', tag('Seal', 1, 's'), 's=s1; x=-1;', `${seal1}invalid x=`],
  ['a last signature with a wrong l=', tag('Message-Signature', 2, 's'), 's=s1; l=;', `${ams2}invalid l=`],
  ['a seal of another algorithm', tag('Seal', 1, 'a'), 'a=rsa-sha1;', 'i=1 unknown algorithm'],
  ['a seal of nearly this algorithm', tag('Seal', 1, 'a'), 'a=rsa-sha2567;', 'i=1 unknown algorithm'],
  ['a signature of another algorithm', tag('Message-Signature', 1, 'a'), 'a=rsa-sha1;', 'i=1 unknown algorithm'],
  ['a seal with h=', tag('Seal', 1, 's'), 's=s1; h=from;', 'i=1 unexpected as h'],
  ['a signature of a seal', tag('Message-Signature', 1, 'h'), 'h=arc-seal;', 'i=1 invalid ams h'],
  ['a signature of a seal, at the start', tag('Message-Signature', 1, 'h'), 'h=ARC-Seal:from;', 'i=1 invalid ams h'],
  ['a signature of a seal, at the end', tag('Message-Signature', 1, 'h'), 'h=from:arc-seal;', 'i=1 invalid ams h'],
  ['a signature of a seal, with blanks', tag('Message-Signature', 1, 'h'), 'h=from : arc-seal : to;', 'i=1 invalid ams h'],
  ['a first set after another', tag('Seal', 1, 'cv'), 'cv=pass;', 'i=1 cv=pass'],
  ['a later set without one before', tag('Seal', 2, 'cv'), 'cv=none;', 'i=2 cv=none'],
  ['a state that is none', tag('Seal', 2, 'cv'), `cv=${'A'.repeat(30)};`, `i=2 cv=${'a'.repeat(20)}`],
]

/** The structure is valid, so that a signature is what fails. */
const signatures: [what: string, from: string | RegExp, to: string, reason: string][] = [
  ['comments around the instance of results', 'Results: i=2;', 'Results: (a) i (b) = (c) 2 (d) ;', 'i=2 seal signature validation failed'],
  [
    'a seal whose instance is not its first tag',
    'Seal: i=1; a=rsa-sha256;',
    'Seal: a=rsa-sha256; i=1;',
    'i=2 seal signature validation failed',
  ],
  ['a first signature of a wrong syntax', tag('Message-Signature', 1, 'bh'), 'bh=a; bh=b;', 'i=2 seal signature validation failed'],
  [
    'a signature of another field',
    tag('Message-Signature', 1, 'h'),
    'h=from:x-arc-seal:arc-seals;',
    'i=2 seal signature validation failed',
  ],
  ['times of digits', tag('Seal', 2, 's'), 's=s1; t=12; x=345;', 'i=2 seal signature validation failed'],
  ['capitals', tag('Seal', 2, 'a'), 'a=RSA-SHA256;', 'i=2 seal signature validation failed'],
  ['a first seal of another value', tag('Seal', 1, 'b'), 'b=AAAA', 'i=2 seal signature validation failed'],
  ['a last seal of another value', tag('Seal', 2, 'b'), 'b=AAAA', 'i=2 seal signature validation failed'],
  ['no key of the first seal', tag('Seal', 1, 's'), 's=none;', 'i=2 seal signature validation failed'],
  ['no key of the last seal', tag('Seal', 2, 's'), 's=none;', 'i=2 seal not verified: no key'],
  ['a key of the last seal that DNS does not say', tag('Seal', 2, 's'), 's=slow;', 'i=2 seal not verified: DNS failure: ETIMEOUT'],
  ['a key of another kind', tag('Seal', 2, 's'), 's=s2;', 'i=2 seal not verified: inappropriate key algorithm'],
  ['a changed body', '\r\n\r\nHello', '\r\n\r\nHallo', 'i=2 no valid signature: body hash did not verify'],
  ['a changed field', 'Subject: Hello', 'Subject: Hallo', 'i=2 no valid signature: bad signature'],
]

describe('a chain fails with', () => {
  test.each(structure)('%s', async (_what, from, to, reason) =>
    expect(await validate(edited(twice, from, to))).toEqual({ result: 'fail', length: 0, domain: null, reason }),
  )
  test.each(signatures)('%s', async (_what, from, to, reason) =>
    expect(await validate(edited(twice, from, to))).toMatchObject({ result: 'fail', length: 2, reason }),
  )
  test('a first seal that only the second covers', async () => {
    const stranger = generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey
    const reason = 'i=1 seal signature validation failed'
    expect(await validate(sealWithNode(sealWithNode(plain, { ...sealer, key: stranger }), sealer))).toMatchObject({
      length: 2,
      domain: null,
      reason,
    })
    const unknown = sealWithNode(sealWithNode(plain, { ...sealer, selector: 'none' }), sealer)
    expect(await validate(unknown)).toMatchObject({ domain: null, reason: 'i=1 seal not verified: no key' })
  })
  test('its last signature, and names its last sealer', async () => {
    expect(await validate(edited(once, 'Hello\r\n', 'Hallo\r\n'))).toMatchObject({ result: 'fail', length: 1, domain: 'list.example' })
  })
})

test('an error that is not of the message is not a verdict', async () => {
  await expect(validate(once, { ...resolver, txt: () => Promise.reject(new TypeError('a defect')) })).rejects.toThrow('a defect')
})
