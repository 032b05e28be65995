// Precision and recall of the outbound guard on generated secrets, on those of other scanners' tests, and on documents of installed packages.
import { randomInt } from 'node:crypto'
import { readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { findSecrets } from '../packages/mail/src/content/secrets/secrets.ts'
import { createRandom } from './crash/random.ts'
import { harmlessForms, secretForms, sentence, withWrongDigit, writtenCards } from './harness/secret-forms.ts'
import { readDetectSecrets, readGitleaks, type Samples } from './harness/secret-samples.ts'

const { values } = parseArgs({
  options: { gitleaks: { type: 'string' }, 'detect-secrets': { type: 'string' } },
  allowPositionals: true,
  strict: false,
})
const rounds = 500
const random = createRandom(randomInt(2 ** 32))

console.log('secrets found')
for (const [name, make] of Object.entries(secretForms)) {
  const found = Array.from({ length: rounds }, () => findSecrets(sentence(make(random))).length > 0).filter(Boolean).length
  console.log(`  ${name.padEnd(18)} ${((100 * found) / rounds).toFixed(1)} %`)
}
console.log('texts without a secret that are flagged')
for (const [name, make] of Object.entries(harmlessForms)) {
  const flagged = Array.from({ length: rounds }, () => findSecrets(make(random)).length > 0).filter(Boolean).length
  console.log(`  ${name.padEnd(18)} ${((100 * flagged) / rounds).toFixed(1)} %`)
}

const isFlagged = (text: string): boolean => findSecrets(text).length > 0
console.log('published card numbers')
console.log(`  found: ${writtenCards.filter((text) => isFlagged(`My card: ${text}, 12/30`)).length} of ${writtenCards.length}`)
console.log(
  `  with a wrong last digit, flagged: ${writtenCards.filter((text) => isFlagged(`My card: ${withWrongDigit(text)}, 12/30`)).length}`,
)

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
