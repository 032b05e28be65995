// Makers of secrets, and of texts that only look like them, for the outbound guard.
import type { Random } from '../crash/random.ts'

const alnum = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789'
const base32 = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567'
const text = (random: Random, alphabet: string, length: number): string => Array.from({ length }, () => random.pick([...alphabet])).join('')
const hex = (random: Random, length: number): string => text(random, '0123456789abcdef', length)
const digits = (random: Random, length: number): string => text(random, '0123456789', length)

/** A number with this prefix and length and a valid Luhn digit, in groups of four. */
function card(random: Random, prefix: string, length: number): string {
  const body = prefix + digits(random, length - prefix.length - 1)
  let sum = 0
  for (const [index, digit] of [...body].reverse().entries()) {
    const doubled = Number(digit) * 2
    sum += index % 2 === 0 ? (doubled > 9 ? doubled - 9 : doubled) : Number(digit)
  }
  return `${body}${(10 - (sum % 10)) % 10}`.replace(/(\d{4})(?=\d)/g, '$1 ')
}

const web = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url')

/** Makers of secrets in the forms that their issuers document. */
export const secretForms: Record<string, (random: Random) => string> = {
  'AWS access key': (random) => `AKIA${text(random, base32, 15)}${text(random, '234567', 1)}`,
  'GitHub token': (random) => `gh${text(random, 'pousr', 1)}_${text(random, alnum, 36)}`,
  'Stripe key': (random) => `sk_live_${text(random, alnum, 24)}`,
  'Slack token': (random) => `xoxb-${digits(random, 12)}-${digits(random, 13)}-${text(random, alnum, 24)}`,
  'Google API key': (random) => `AIza${text(random, alnum, 35)}`,
  'OpenAI key': (random) => `sk-proj-${text(random, alnum, 120)}`,
  'Anthropic key': (random) => `sk-ant-api03-${text(random, alnum, 93)}AA`,
  'Twilio key': (random) => `SK${hex(random, 32)}`,
  'npm token': (random) => `npm_${text(random, alnum, 36)}`,
  'JSON Web Token': (random) => `${web({ alg: 'HS256' })}.${web({ sub: digits(random, 9) })}.${text(random, alnum, 43)}`,
  'Callsign key': (random) => `svc_live_${text(random, alnum, 65)}`,
  'PEM private key': (random) =>
    `-----BEGIN PRIVATE KEY-----\n${text(random, alnum, 64)}\n${text(random, alnum, 60)}\n-----END PRIVATE KEY-----`,
  'card number': (random) => card(random, random.isHit(0.5) ? '4' : `5${random.whole(1, 5)}`, 16),
}

/** Makers of texts that only look like secrets. */
export const harmlessForms: Record<string, (random: Random) => string> = {
  'order number': (random) => `Your order ${digits(random, 16)} ships today.`,
  'tracking number': (random) => `Tracking number 1Z${text(random, base32, 8)}${digits(random, 8)}, or ${digits(random, 20)}.`,
  hash: (random) => `commit ${hex(random, 40)}, sha256:${hex(random, 64)}`,
  UUID: (random) => `Request ${[8, 4, 4, 4, 12].map((length) => hex(random, length)).join('-')} failed.`,
  'phone number': (random) =>
    `Call +1 ${random.whole(200, 998)} ${random.whole(200, 998)} ${digits(random, 4)} or 0${digits(random, 3)} ${digits(random, 7)}.`,
  invoice: (random) =>
    `Invoice ${random.whole(2020, 2029)}-${digits(random, 6)}, IBAN DE${digits(random, 2)} ${digits(random, 4)} ${digits(random, 4)} ${digits(random, 4)} ${digits(random, 4)} ${digits(random, 2)}`,
}

/** A message that contains the secret. */
export const sentence = (secret: string): string => `Hello,\nplease use ${secret} for the next step.\nThanks`

/** Numbers that Stripe, PayPal and Adyen publish for tests of payments. */
const cards = [
  ...['4242424242424242', '4111111111111111', '4012888888881881', '4000056655665556', '4222222222222'],
  ...['5555555555554444', '5105105105105100', '5200828282828210', '2223003122003222', '378282246310005', '371449635398431'],
  ...['378734493671000', '6011111111111117', '6011000990139424', '30569309025904', '38520000023237', '3056930009020004'],
  ...['36227206271667', '3530111333300000', '3566002020360505', '6200000000000005', '6205500000000000004'],
]
const grouped = (digits: string, separator: string): string =>
  (digits.length === 14 || digits.length === 15 ? /^(.{4})(.{6})(.+)$/ : /^(.{4})(.{4})(.{4})(.{1,4})(.*)$/)
    .exec(digits)
    ?.slice(1)
    .filter((group) => group !== '')
    .join(separator) ?? digits
/** The numbers without separators, with blanks and with hyphens. */
export const writtenCards = cards.flatMap((digits) => [
  digits,
  ...(digits.length === 13 ? [] : [grouped(digits, ' '), grouped(digits, '-')]),
])
export const withWrongDigit = (text: string): string => text.slice(0, -1) + ((Number(text.at(-1)) + 1) % 10)
