// Makers of secrets, and of texts that only look like them, for the outbound guard.

/** Draws a whole number below the given one. */
type Draw = (below: number) => number

/** Creates a generator that draws the same numbers for a seed, so that a test gives the same result in every run. */
export function drawsOf(seed: number): Draw {
  let state = seed
  return (below) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return Math.floor((state / 2 ** 32) * below)
  }
}

const alnum = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789'
const base32 = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567'
const text = (draw: Draw, alphabet: string, length: number): string =>
  Array.from({ length }, () => alphabet[draw(alphabet.length)]).join('')
const hex = (draw: Draw, length: number): string => text(draw, '0123456789abcdef', length)
const digits = (draw: Draw, length: number): string => text(draw, '0123456789', length)

/** A number with this prefix and length and a valid Luhn digit, in groups of four. */
function card(draw: Draw, prefix: string, length: number): string {
  const body = prefix + digits(draw, length - prefix.length - 1)
  let sum = 0
  for (const [index, digit] of [...body].reverse().entries()) {
    const doubled = Number(digit) * 2
    sum += index % 2 === 0 ? (doubled > 9 ? doubled - 9 : doubled) : Number(digit)
  }
  return `${body}${(10 - (sum % 10)) % 10}`.replace(/(\d{4})(?=\d)/g, '$1 ')
}

const web = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url')

/** Makers of secrets in the forms that their issuers document. */
export const secretForms: Record<string, (draw: Draw) => string> = {
  'AWS access key': (draw) => `AKIA${text(draw, base32, 15)}${text(draw, '234567', 1)}`,
  'GitHub token': (draw) => `gh${text(draw, 'pousr', 1)}_${text(draw, alnum, 36)}`,
  'Stripe key': (draw) => `sk_live_${text(draw, alnum, 24)}`,
  'Slack token': (draw) => `xoxb-${digits(draw, 12)}-${digits(draw, 13)}-${text(draw, alnum, 24)}`,
  'Google API key': (draw) => `AIza${text(draw, alnum, 35)}`,
  'OpenAI key': (draw) => `sk-proj-${text(draw, alnum, 120)}`,
  'Anthropic key': (draw) => `sk-ant-api03-${text(draw, alnum, 93)}AA`,
  'Twilio key': (draw) => `SK${hex(draw, 32)}`,
  'npm token': (draw) => `npm_${text(draw, alnum, 36)}`,
  'JSON Web Token': (draw) => `${web({ alg: 'HS256' })}.${web({ sub: digits(draw, 9) })}.${text(draw, alnum, 43)}`,
  'Callsign key': (draw) => `svc_live_${text(draw, alnum, 65)}`,
  'PEM private key': (draw) => `-----BEGIN PRIVATE KEY-----\n${text(draw, alnum, 64)}\n${text(draw, alnum, 60)}\n-----END PRIVATE KEY-----`,
  'card number': (draw) => card(draw, draw(2) === 0 ? '4' : `5${1 + draw(5)}`, 16),
}

/** Makers of texts that only look like secrets. */
export const harmlessForms: Record<string, (draw: Draw) => string> = {
  'order number': (draw) => `Your order ${digits(draw, 16)} ships today.`,
  'tracking number': (draw) => `Tracking number 1Z${text(draw, base32, 8)}${digits(draw, 8)}, or ${digits(draw, 20)}.`,
  hash: (draw) => `commit ${hex(draw, 40)}, sha256:${hex(draw, 64)}`,
  UUID: (draw) => `Request ${[8, 4, 4, 4, 12].map((length) => hex(draw, length)).join('-')} failed.`,
  'phone number': (draw) => `Call +1 ${200 + draw(799)} ${200 + draw(799)} ${digits(draw, 4)} or 0${digits(draw, 3)} ${digits(draw, 7)}.`,
  invoice: (draw) =>
    `Invoice ${2020 + draw(10)}-${digits(draw, 6)}, IBAN DE${digits(draw, 2)} ${digits(draw, 4)} ${digits(draw, 4)} ${digits(draw, 4)} ${digits(draw, 4)} ${digits(draw, 2)}`,
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
