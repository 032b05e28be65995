// Secrets in texts, both ways: what is found, what is masked, and what only looks similar.
import { generateKeyPairSync, randomBytes } from 'node:crypto'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { expectCost, expectLinear } from '../../../tests/harness/cost.ts'
import { allowedMs } from '../../../tests/harness/processor.ts'
import { issuerRules } from './issuers.ts'
import { compilePattern } from './patterns.ts'
import { findPrivateKeys } from './private-keys.ts'
import { findSecrets } from './secrets.ts'

const namesIn = (text: string): string[] => findSecrets(text).map(({ name }) => name)
const random = (alphabet: string, length: number): string =>
  Array.from(randomBytes(length), (byte) => alphabet[byte % alphabet.length]).join('')
const alnum = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789'
const hex = '0123456789abcdef'
const base64url = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url')

/** Joined at run time, so that scanners of repositories do not report this file. */
const issued: [string, string][] = [
  ['Callsign key', `svc_live_${random(alnum, 65)}`],
  ['AWS access key', `AK${'IA'}IOSFODNN7QRSTUVW`],
  ['AWS access key', `AS${'IA'}${random('ABCDEFGHIJKLMNOPQRSTUVWXYZ', 15)}7`],
  ['AWS secret key', `aws_secret_access_key = wJalrXUtnFEMI/K7MDENG/bPxRfiCY${random(alnum, 9)}7`],
  ['GitHub token', `ghp_${random(alnum, 36)}`],
  ['GitHub token', `github_pat_${random(alnum, 22)}_${random(alnum, 59)}`],
  ['GitLab token', `glpat-${random(alnum, 19)}7`],
  ['Stripe key', `sk_live_${random(alnum, 24)}`],
  ['Stripe key', `rk_test_${random(alnum, 99)}`],
  ['Slack token', `xoxb-${random('0123456789', 12)}-${random('0123456789', 13)}-${random(alnum, 24)}`],
  ['Slack webhook', `https://hooks.slack.com/services/T${random('ABCDEF0123', 8)}/B${random('ABCDEF0123', 8)}/${random(alnum, 24)}`],
  ['Google API key', `AIza${random(alnum, 35)}`],
  ['Anthropic key', `sk-ant-api03-${random(alnum, 93)}AA`],
  ['OpenAI key', `sk-proj-${random(alnum, 120)}`],
  ['OpenAI key', `sk-${random(alnum, 20)}T3BlbkFJ${random(alnum, 20)}`],
  ['Twilio key', `SK${random(hex, 32)}`],
  ['SendGrid key', `SG.${random(alnum, 22)}.${random(alnum, 43)}`],
  ['npm token', `npm_${random(alnum, 36)}`],
  ['Telegram bot token', `110201543:AA${random(alnum, 33)}`],
  ['JSON Web Token', `${base64url({ alg: 'HS256', typ: 'JWT' })}.${base64url({ sub: '1234567890' })}.${random(alnum, 43)}`],
]

test.each(issued)('finds a %s in a sentence, in JSON and in HTML, and masks it', (name, secret) => {
  for (const text of [`Use ${secret} from now on.`, JSON.stringify({ secret }), `<p>Key: <code>${secret}</code></p>`]) {
    const found = findSecrets(text)
    expect(found.map((one) => one.name)).toContain(name)
    for (const { evidence } of found) expect(evidence.length).toBeLessThan(12)
  }
})

test('a secret is found at the end of a sentence, with invisible characters inside, and once', () => {
  const token = `ghp_${random(alnum, 36)}`
  expect(namesIn(`The token is ${token}.`)).toEqual(['GitHub token'])
  expect(namesIn(`${token.slice(0, 9)}\u200b${token.slice(9)}`)).toEqual(['GitHub token'])
  expect(namesIn(`${token} and again ${token}`)).toEqual(['GitHub token'])
})

test.each(['_', '__', '**_'])('a secret in emphasis of Markdown with %s is found', (mark) => {
  const end = [...mark].toReversed().join('')
  const google = `AIza${random(alnum, 34)}7`
  for (const [name, secret] of [
    ['GitHub token', `ghp_${random(alnum, 36)}`],
    ['Google API key', google],
    ['npm token', `npm_${random(alnum, 36)}`],
    ['Linear key', `lin_api_${random(alnum, 40)}`],
  ] as const) {
    expect(namesIn(`Use ${mark}${secret}${end} from now on.`)).toEqual([name])
    expect(namesIn(`${mark}${secret}${end}`)).toEqual([name])
  }
})

test.each([
  ['an identifier', 'my_ghp_helper and my_ghp_helper_of_the_repository_of_the_team_that_we_have'],
  ['a longer identifier', `test_ghp_${random(alnum, 36)}`],
  ['emphasis of words', '_ghp_ is the prefix, __init__ and _private_name_of_a_long_variable_in_the_code_'],
])('%s is not a secret', (_name, text) => {
  expect(namesIn(text)).toEqual([])
})

describe('private keys', () => {
  const pem = (type: 'rsa' | 'ed25519', format: 'pkcs8') =>
    (type === 'rsa' ? generateKeyPairSync('rsa', { modulusLength: 2048 }) : generateKeyPairSync('ed25519')).privateKey
      .export({ format: 'pem', type: format })
      .toString()

  test('are found in PEM, quoted, indented and as a string of JSON', () => {
    for (const key of [pem('rsa', 'pkcs8'), pem('ed25519', 'pkcs8')])
      for (const text of [key, key.replace(/^/gm, '> '), JSON.stringify({ key }), key.replaceAll('\n', '\r\n')])
        expect(findSecrets(`Here it is:\n${text}\nBye`), text).toEqual([
          { type: 'private_key', name: 'private key', evidence: 'PRIVATE KEY' },
        ])
  })

  test('are found when they end with a character that also joins strings', () => {
    const key = `-----BEGIN PRIVATE KEY-----\nMC4CAQAwBQYDK2VwBCIEI${'A'.repeat(42)}+\n-----END PRIVATE KEY-----`
    expect(namesIn(key)).toEqual(['private key'])
  })

  test('are found below other headers, and with long indents', () => {
    const key = pem('ed25519', 'pkcs8')
    const names = ['private key']
    expect(namesIn(`-----BEGIN PRIVATE KEY-----\n${key}`)).toEqual(names)
    expect(namesIn(`PuTTY-User-Key-File-3: ssh-ed25519\nprose\n${key}`)).toEqual(names)
    expect(namesIn(key.replace(/^/gm, ' '.repeat(300)).replace(/$/gm, ' '.repeat(300)))).toEqual(names)
  })

  test.each([
    ['headers before one long line of spaces', `${'-----BEGIN PRIVATE KEY-----'.repeat(25)}a${' '.repeat(1320)}b`],
    ['headers before short lines', `${'-----BEGIN PRIVATE KEY-----\n'.repeat(25)}${'a\n'.repeat(600)}`],
    ['headers before signs that join strings', `${'PuTTY-User-Key-File-2: a '.repeat(25)}a${'+'.repeat(1320)}!`],
    ['headers before Base64 that ends wrong', `${'-----BEGIN PRIVATE KEY-----'.repeat(25)}${'A+'.repeat(660)}!`],
  ])('%s take time in proportion to their length', async (_name, block) => {
    const take = (text: string) => () => findPrivateKeys(text)
    await expectLinear((repeats) => take(block.repeat(repeats)), 100)
    // The main thread searches texts of 16 KB, which then take 5 ms.
    const text = block.repeat(Math.ceil(1_000_000 / block.length))
    await expectCost(take(text), await allowedMs(300))
  })

  test('are not their headers in a text about them', () => {
    expect(namesIn('The file starts with -----BEGIN OPENSSH PRIVATE KEY----- and must stay secret.')).toEqual([])
    expect(namesIn('-----BEGIN PRIVATE KEY-----\n...\n-----END PRIVATE KEY-----')).toEqual([])
    expect(namesIn(`-----BEGIN PUBLIC KEY-----\n${random(alnum, 64)}\n-----END PUBLIC KEY-----`)).toEqual([])
  })
})

describe('card numbers', () => {
  test.each([
    ['4242 4242 4242 4242', '…4242'],
    ['5555-5555-5555-4444', '…4444'],
    ['4242\u00a04242\u00a04242\u00a04242', '…4242'],
    ['5555–5555–5555–4444', '…4444'],
    ['3782 822463 10005', '…0005'],
    ['6011111111111117', '…1117'],
    ['3566002020360505', '…0505'],
  ])('finds %s', (number, evidence) => {
    expect(findSecrets(`My card: ${number}, 12/30`)).toEqual([{ type: 'card_number', name: 'card number', evidence }])
  })

  test.each([
    ['cells of a row', '4242\t4242\t4242\t4242'],
    ['cells beside others', 'Card\t4242\t4242\t4242\t4242\t12/30\t123'],
    ['a row of Markdown', '| 4242 | 4242 | 4242 | 4242 |'],
    ['a row below a word for cards in a table of numbers', `${'1234\t5678\t9012\t3456\n'.repeat(9)}Card\t4242\t4242\t4242\t4242`],
  ])('finds %s', (_name, text) => {
    expect(findSecrets(text)).toEqual([{ type: 'card_number', name: 'card number', evidence: '…4242' }])
  })

  test.each([
    ['cells with a wrong Luhn digit', '4242\t4242\t4242\t4241'],
    ['cells of another network', '1242\t4242\t4242\t4242'],
    ['a longer row', '4242\t4242\t4242\t4242\t4242'],
    ['cells of two rows', '4242\t4242\n4242\t4242'],
    ['one row of a table of numbers', `${'4012\t5678\t9012\t3456\n'.repeat(9)}4242\t4242\t4242\t4242`],
    ['a wrong Luhn digit', '4242 4242 4242 4241'],
    ['wrong groups', '42 4242 4242 4242 42'],
    ['an order number', 'Your order 4539578763621486 ships today.'],
    ['an IBAN', 'DE44 5001 0517 5407 3249 31, DE12 4242 4242 4242 4242 00'],
    ['a UUID', '42424242-4242-4242-8242-424242424242'],
    ['a decimal', '0.4242424242424242'],
    ['a path', 'https://example.com/items/4242424242424242'],
    ['a longer number', '42424242424242424242424242'],
    ['one digit repeated', '0000 0000 0000 0000'],
    ['a phone number', '+44 4242 4242 4242 42'],
  ])('does not find %s', (_name, text) => {
    expect(namesIn(text)).toEqual([])
  })
})

test.each([
  ['placeholders', 'Set STRIPE_KEY=sk_live_xxxxxxxxxxxxxxxxxxxxxxxx and ghp_XXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXX.'],
  ['an ascending placeholder', 'sk_live_0123456789abcdefghijklmnopqrstuvwxyz'],
  [
    'a commit and a digest',
    'commit 9ad52b6f4a1c77c9f11e8b1a9b3c2d4e5f607182, sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855',
  ],
  ['an integrity hash', 'sha512-z9PzRFPiqOzQvPbUqbbbEXSADb8Xrqq7vHXdWpUuSh2S4mC9wKVnDDuxMQ8E0mC1b4wPSUaaXlMPTFoiZVZzLA=='],
  ['keys of documentation', `AK${'IA'}IOSFODNN7EXAMPLE, aws_secret_access_key = wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY`],
  ['base64 that starts like a token', 'eyJhbGciOiJub25l.e30.x'],
])('%s are not secrets', (_name, text) => {
  expect(namesIn(text)).toEqual([])
})

describe('patterns of the caller', () => {
  test.each([
    ['^Falcon', true],
    ['Falcon$', true],
    ['^Falcon$', true],
    ['\\AFalcon', false],
    ['(?-m)^Falcon', false],
    ['^alcon', false],
    ['Falco$', false],
  ])('%s matches at the ends of lines', (source, isFound) => {
    for (const end of ['\n', '\r\n'])
      expect(findSecrets(['First', 'Falcon', 'Last'].join(end), [compilePattern(source)])).toHaveLength(isFound ? 1 : 0)
  })

  test('match in linear time, whatever the pattern', () => {
    const evil = compilePattern('(a+)+$')
    expect(findSecrets(`${'a'.repeat(100_000)}b`, [evil])).toEqual([])
    const project = compilePattern('(?i)project (falcon|heron)')
    expect(findSecrets('About Project Falcon', [project])).toEqual([
      { type: 'custom_pattern', name: '(?i)project (falcon|heron)', evidence: 'Proj…on' },
    ])
  })

  test.each([
    ['(', /not valid in the syntax of RE2/],
    ['(?=a)', /not valid in the syntax of RE2/],
    ['a*', /matches an empty text/],
    ['((a{100}){100}){10}', /.*/],
    ['x'.repeat(201), /at most 200 characters/],
  ])('%s is refused', (source, reason) => {
    expect(() => compilePattern(source)).toThrow(reason)
  })
})

test('a text of a megabyte takes time in proportion to its length', async () => {
  const noise = 'eyJ.AKIA sk- SK secret key: ghp_ 4242 4242 4242 -----BEGIN PRIVATE KEY----- auth '
  const small = findSecrets(noise.repeat(100))
  expect(findSecrets(noise.repeat(12_000))).toEqual(small)
  await expectLinear((repeats) => {
    const text = noise.repeat(repeats)
    return () => findSecrets(text)
  }, 3_000)
})

test.each(issuerRules.map((rule) => [`${rule.name} ${rule.literals[0]}`, rule] as const))(
  '%s: texts that nearly match take time in proportion to their length',
  async (_name, { pattern }) => {
    const form = new RegExp(`^(?:${pattern.source.replace(/\(\?<?[=!][^)]*\)|\\b/g, '')})$`)
    const [secret] = fc.sample(fc.stringMatching(form), 1) as [string]
    for (const almost of [secret.slice(0, -1), `${secret.slice(0, -1)} `, `x${secret}`, secret.slice(0, 8)])
      await expectLinear((length) => {
        const text = almost.repeat(Math.ceil(length / almost.length))
        return () => text.matchAll(pattern).toArray()
      }, 50_000)
  },
)
