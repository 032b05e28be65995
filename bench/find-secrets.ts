// Precision and recall of the outbound guard on generated secrets, on those of other scanners' tests, and on documents of installed packages.
import { randomBytes, randomInt, randomUUID } from 'node:crypto'
import { readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { findSecrets } from '../packages/mail/src/content/secrets/secrets.ts'
import { readDetectSecrets, readGitleaks, type Samples } from './harness/secret-samples.ts'

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

const { values } = parseArgs({
  options: { gitleaks: { type: 'string' }, 'detect-secrets': { type: 'string' } },
  allowPositionals: true,
  strict: false,
})
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
const written = cards.flatMap((digits) => [digits, ...(digits.length === 13 ? [] : [grouped(digits, ' '), grouped(digits, '-')])])
const isFlagged = (text: string): boolean => findSecrets(text).length > 0
const withWrongDigit = (text: string): string => text.slice(0, -1) + ((Number(text.at(-1)) + 1) % 10)
console.log('published card numbers')
console.log(`  found: ${written.filter((text) => isFlagged(`My card: ${text}, 12/30`)).length} of ${written.length}`)
console.log(`  with a wrong last digit, flagged: ${written.filter((text) => isFlagged(`My card: ${withWrongDigit(text)}, 12/30`)).length}`)

/** Rules of other scanners for secrets without a form of their own. They find them by the names of settings around them. */
const withoutForm =
  /^(?:adafruit|adobe-client-id|airtable-api|algolia|alibaba-secret|artifactory$|asana|basic_auth|beamer|bitbucket|bittrex|cisco|cloudant|cloudflare-(?:api|global)|codecov|cohere|coinbase|confluent|contentful|curl|datadog|discord-|droneci|dropbox|etsy|facebook-secret|fastly|finicity|finnhub|flickr|flutterwave-(?:public|encryption)|freshbooks|freemius|gcp-service|generic|gitlab-session|gitter|gocardless|heroku-api-key$|high_entropy|hubspot|ibm|intercom|intra42|ip_public|jfrog|jwt-base64|keyword|kraken|kucoin|kubernetes|launchdarkly|linear-client|linkedin|lob|looker|mailgun-(?:pub|signing)|mapbox|mattermost|messagebird|netlify|new-relic-(?:browser|insert|user-api-id)|nuget|nytimes|okta|plaid|privateai|rapidapi|sendbird|sentry-access|sidekiq|snyk|softlayer|squarespace|sumologic|teams|travisci|trello|twitch|twitter|zendesk)/

/** Prints the results by rule. Only the rules of issuers with a form of their own count in the recall. */
function reportCollected(source: string, { samples, leftOut }: Samples): void {
  const isKnown = (rule: string) => !withoutForm.test(rule)
  const rules = [...new Set(samples.map(({ rule }) => rule))].sort()
  const countOf = (isSecret: boolean, isIncluded: (rule: string) => boolean) => {
    const chosen = samples.filter((one) => one.isSecret === isSecret && isIncluded(one.rule))
    return { flagged: chosen.filter(({ text }) => isFlagged(text)).length, all: chosen.length }
  }
  const textOf = ({ flagged, all }: { flagged: number; all: number }) => `${flagged} of ${all}`
  console.log(`samples of ${source}: ${samples.length}, and ${leftOut} left out`)
  console.log(`  secrets of issuers with a form: ${textOf(countOf(true, isKnown))}`)
  console.log(`  secrets without a form: ${textOf(countOf(true, (rule) => !isKnown(rule)))}`)
  console.log(`  texts that are not secrets, flagged: ${textOf(countOf(false, () => true))}`)
  for (const rule of rules) {
    const [found, wrong] = [countOf(true, (one) => one === rule), countOf(false, (one) => one === rule)]
    if ((isKnown(rule) && found.flagged < found.all) || wrong.flagged > 0)
      console.log(`  ${rule}: found ${textOf(found)}, wrongly flagged ${textOf(wrong)}`)
  }
}
if (typeof values.gitleaks === 'string') reportCollected('gitleaks', readGitleaks(values.gitleaks))
if (typeof values['detect-secrets'] === 'string') reportCollected('detect-secrets', readDetectSecrets(values['detect-secrets']))
if (values.gitleaks === undefined || values['detect-secrets'] === undefined)
  console.log('For the samples of gitleaks and detect-secrets, name their checkouts: --gitleaks FOLDER --detect-secrets FOLDER.')

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
