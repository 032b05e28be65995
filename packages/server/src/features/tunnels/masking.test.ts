// The header and URL values that are masked before a request is stored.
import { expect, test } from 'vitest'
import { isSecretName, masked, maskHeaders, maskPath } from './masking.ts'

test('values that usually hold secrets are masked, and names and order stay', () => {
  const pairs: [string, string][] = [
    ['Authorization', 'Bearer x'],
    ['X-Api-Key', 'x'],
    ['X-Hub-Signature-256', 'x'],
    ['Accept', '*/*'],
    ['set-cookie', 'x'],
    ['DPoP', 'x'],
    ['X-Bearer', 'x'],
    ['X-Amz-Security-Token', 'x'],
    ['Ocp-Apim-Subscription-Key', 'x'],
    ['X-Goog-Iap-Jwt-Assertion', 'x'],
    ['X-Ticket', 'x'],
  ]
  expect(maskHeaders(pairs).map(([, value]) => value)).toEqual([masked, masked, masked, '*/*', ...Array(7).fill(masked)])
  expect(maskPath('/hook?token=abc&id=5&api_key=')).toBe(`/hook?token=${masked}&id=5&api_key=${masked}`)
  expect(maskPath('/plain')).toBe('/plain')
})

test.each([
  'X-Shared-Key',
  'X-Service-Key',
  'X-Acme-Key',
  'Key',
  'X-Passcode',
  'X-CSRF',
  'X-Verification-Code',
  'x_master_key',
  'X-Webhook-Key',
])('the header %s is masked', (name) => {
  expect(maskHeaders([[name, 'x']])).toEqual([[name, masked]])
})

test.each([
  ...['Idempotency-Key', 'Sec-WebSocket-Key', 'Surrogate-Key', 'X-Public-Key', 'Keyword', 'X-Monkey', 'X-Author', 'X-Country-Code'],
  ...['X-Remote-Control', 'X-Compass', 'X-Passenger'],
])('the header %s is shown', (name) => {
  expect(maskHeaders([[name, 'x']])).toEqual([[name, 'x']])
})

test('fields of JSON are masked by their words, and not because they end like a key', () => {
  for (const name of ['shared_key', 'serviceKey', 'client_key', 'verification_code', 'user_pass']) expect(isSecretName(name)).toBe(true)
  for (const name of ['key', 'code', 'object_key', 'foreign_key', 'issue_key', 'country_code', 'author'])
    expect([name, isSecretName(name)]).toEqual([name, false])
})

test.each([
  ['/a?to%6ben=x&api%5Fkey=x&b=1', `/a?to%6ben=${masked}&api%5Fkey=${masked}&b=1`],
  ['/cb?code=x&state=1;sig=x', `/cb?code=${masked}&state=1;sig=${masked}`],
  ['/a?user[password]=x&%zz=1&keyword=1&author=1&encode=1', `/a?user[password]=${masked}&%zz=1&keyword=1&author=1&encode=1`],
  ['<https://x.example/?token=x>; rel=next', `<https://x.example/?token=${masked}>; rel=next`],
  ['https://x.example/cb#access_token=x&type=1', `https://x.example/cb#access_token=${masked}&type=1`],
])('only the secrets of %s are masked', (path, expected) => {
  expect(maskPath(path)).toBe(expected)
})

test('headers that hold addresses are masked as addresses', () => {
  const pairs: [string, string][] = [
    ['Referer', 'https://x.example/?token=x&a=1'],
    ['Location', '/next?jwt=x'],
    ['X-Forwarded-Uri', '/?key=x'],
    ['X-Auth', 'x'],
    ['X-Otp', 'x'],
    ['X-Author', 'shown'],
  ]
  expect(maskHeaders(pairs).map(([, value]) => value)).toEqual([
    `https://x.example/?token=${masked}&a=1`,
    `/next?jwt=${masked}`,
    `/?key=${masked}`,
    masked,
    masked,
    'shown',
  ])
})

test('a credential is masked by its form, whatever the name of its header', () => {
  const jwt = 'eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJhIn0.c2lnbmF0dXJl'
  const pairs: [string, string][] = [
    ['X-Upstream', 'Bearer abcdef123456'],
    ['X-Forwarded-Identity', jwt],
    ['X-Client', `id=1; value=${jwt}; end`],
    ['X-Note', 'Basic training starts'],
    ['User-Agent', 'bearer/1.0 (test)'],
  ]
  expect(maskHeaders(pairs).map(([, value]) => value)).toEqual([
    masked,
    masked,
    `id=1; value=${masked}; end`,
    `${masked} starts`,
    'bearer/1.0 (test)',
  ])
})
