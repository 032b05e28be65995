// Precision and recall of the outbound guard: generated secrets in sentences, against the documents of installed packages and generated numbers.
import { randomBytes, randomInt, randomUUID } from 'node:crypto'
import { readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { findSecrets } from '../packages/mail/src/content/secrets/secrets.ts'

const alnum = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789'
const base32 = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567'
const random = (alphabet: string, length: number): string => Array.from({ length }, () => alphabet[randomInt(alphabet.length)]).join('')
const hex = (length: number): string => randomBytes(length / 2).toString('hex')
const digits = (length: number): string => random('0123456789', length)

/** A number with this prefix and length and a valid Luhn digit, in groups of four. */
function card(prefix: string, length: number): string {
  const body = prefix + digits(length - prefix.length - 1)
  let sum = 0
  for (const [index, digit] of [...body].reverse().entries()) {
    const doubled = Number(digit) * 2
    sum += index % 2 === 0 ? (doubled > 9 ? doubled - 9 : doubled) : Number(digit)
  }
  return `${body}${(10 - (sum % 10)) % 10}`.replace(/(\d{4})(?=\d)/g, '$1 ')
}

const web = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url')

/** Makers of secrets in the forms that their issuers document. */
const positives: Record<string, () => string> = {
  'AWS access key': () => `AKIA${random(base32, 15)}${random('234567', 1)}`,
  'GitHub token': () => `gh${random('pousr', 1)}_${random(alnum, 36)}`,
  'Stripe key': () => `sk_live_${random(alnum, 24)}`,
  'Slack token': () => `xoxb-${digits(12)}-${digits(13)}-${random(alnum, 24)}`,
  'Google API key': () => `AIza${random(alnum, 35)}`,
  'OpenAI key': () => `sk-proj-${random(alnum, 120)}`,
  'Anthropic key': () => `sk-ant-api03-${random(alnum, 93)}AA`,
  'Twilio key': () => `SK${hex(32)}`,
  'npm token': () => `npm_${random(alnum, 36)}`,
  'JSON Web Token': () => `${web({ alg: 'HS256' })}.${web({ sub: digits(9) })}.${random(alnum, 43)}`,
  'Callsign key': () => `svc_live_${random(alnum, 65)}`,
  'PEM private key': () => `-----BEGIN PRIVATE KEY-----\n${random(alnum, 64)}\n${random(alnum, 60)}\n-----END PRIVATE KEY-----`,
  'card number': () => card(random('45', 1) === '4' ? '4' : `5${randomInt(1, 6)}`, 16),
}

/** Makers of texts that only look like secrets. */
const negatives: Record<string, () => string> = {
  'order number': () => `Your order ${digits(16)} ships today.`,
  'tracking number': () => `Tracking number 1Z${random(base32, 8)}${digits(8)}, or ${digits(20)}.`,
  hash: () => `commit ${hex(40)}, sha256:${hex(64)}`,
  UUID: () => `Request ${randomUUID()} failed.`,
  'phone number': () => `Call +1 ${randomInt(200, 999)} ${randomInt(200, 999)} ${digits(4)} or 0${digits(3)} ${digits(7)}.`,
  invoice: () =>
    `Invoice ${randomInt(2020, 2030)}-${digits(6)}, IBAN DE${digits(2)} ${digits(4)} ${digits(4)} ${digits(4)} ${digits(4)} ${digits(2)}`,
}

const rounds = 500
const sentence = (secret: string): string => `Hello,\nplease use ${secret} for the next step.\nThanks`

console.log('secrets found')
for (const [name, make] of Object.entries(positives)) {
  const found = Array.from({ length: rounds }, () => findSecrets(sentence(make())).length > 0).filter(Boolean).length
  console.log(`  ${name.padEnd(18)} ${((100 * found) / rounds).toFixed(1)} %`)
}
console.log('texts without a secret that are flagged')
for (const [name, make] of Object.entries(negatives)) {
  const flagged = Array.from({ length: rounds }, () => findSecrets(make()).length > 0).filter(Boolean).length
  console.log(`  ${name.padEnd(18)} ${((100 * flagged) / rounds).toFixed(1)} %`)
}

let files = 0
let bytes = 0
const flagged: string[] = []
function scan(folder: string): void {
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name)
    if (entry.isDirectory()) scan(path)
    else if (entry.isFile() && /\.(?:md|markdown|txt|eml|html?)$/i.test(entry.name) && statSync(path).size < 1_000_000) {
      const text = readFileSync(path, 'utf8')
      files++
      bytes += text.length
      for (const { name, evidence } of findSecrets(text)) flagged.push(`${path}: ${name} ${evidence}`)
    }
  }
}
scan(join(import.meta.dirname, '..', 'node_modules'))
console.log(
  `documents of packages: ${files} files, ${(bytes / 1e6).toFixed(1)} MB, ${flagged.length} findings, most of them examples of real forms`,
)
for (const line of flagged) console.log(`  ${line}`)
