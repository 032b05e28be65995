// Checks a sender with Callsign and with mailauth.
// Prints the processor time per message of 1, 10 and 100 KB, with SPF, an RSA-2048 signature and DMARC, and with DNS answers in memory.
import { parseArgs } from 'node:util'
import { validateChain } from '../packages/mail/src/authentication/arc/arc-chain.ts'
import { openMessage } from '../packages/mail/src/authentication/dkim/message-fields.ts'
import { prepareMessage, verifySignatures } from '../packages/mail/src/authentication/dkim/verification.ts'
import { readAuthorDomain } from '../packages/mail/src/authentication/dmarc/author-domain.ts'
import { evaluateDmarc, findPolicy } from '../packages/mail/src/authentication/dmarc/dmarc.ts'
import { limitQuestions } from '../packages/mail/src/authentication/dns-questions.ts'
import { checkSender } from '../packages/mail/src/authentication/sender-checks.ts'
import { checkHost } from '../packages/mail/src/authentication/spf/spf.ts'
import { checkWithMailauth } from '../packages/mail/tests/harness/mailauth.ts'
import { createZoneResolver } from '../packages/mail/tests/harness/zone-resolver.ts'
import { reuseAnswers } from '../packages/server/src/edges/dns/reused-answers.ts'
import { createSender, textLine } from './harness/signed-message.ts'
import { median, printHead, printTable } from './harness/table.ts'

const { values } = parseArgs({ options: { rounds: { type: 'string', default: '5' } } })
const rounds = Number(values.rounds)

const sender = await createSender('192.0.2.0/24')
const resolver = reuseAnswers(createZoneResolver(sender.records), { health: { observe: () => {}, isAnswering: async () => true } })
const envelopeFrom = 'ada@sender.example'
const client = { address: '192.0.2.7', name: 'mail.sender.example' }

const lines = {
  text: textLine,
  html: '    <td class="a">  <a href="https://shop.example/orders?id=4711">Your order</a></td>\r\n',
  base64: `${Buffer.from('The order 4711 was shipped this morning, and it is here.').toString('base64')}\r\n`,
}

/** Microseconds of processor time a call, the median of the rounds. */
async function measure(count: number, work: () => unknown): Promise<string> {
  const found: number[] = []
  for (let round = 0; round <= rounds; round++) {
    const before = process.cpuUsage()
    for (let index = 0; index < count; index++) await work()
    const { user, system } = process.cpuUsage(before)
    // The first round is for the compiler.
    if (round > 0) found.push((user + system) / count)
  }
  return median(found).toFixed(0)
}

printHead('Checks of a sender', [
  `Processor time a message in µs, median of ${rounds} rounds, one thread; the parts are each measured on their own.`,
])
const rows: string[][] = []
for (const [kind, line] of Object.entries(lines)) {
  for (const bytes of kind === 'text' ? [1_000, 10_000, 100_000] : [100_000]) {
    const raw = await sender.sign(line, bytes)
    const count = bytes >= 100_000 ? 300 : 1_000
    const verdicts = await checkSender({ envelopeFrom, client, raw }, { resolver, hostname: 'mx.example', nowMs: Date.now })
    if (verdicts.dmarc?.result !== 'pass' || verdicts.dkim?.result !== 'pass' || verdicts.spf?.result !== 'pass')
      throw new Error('it has to pass')
    const questions = limitQuestions(resolver, { limitMs: 600_000, questionsMax: 100 })
    const message = prepareMessage(openMessage(raw))
    const aligned = { spfDomain: 'sender.example', signers: ['sender.example'], undecided: [] }
    rows.push([
      `${bytes / 1000} KB ${kind}`,
      await measure(count, () => checkSender({ envelopeFrom, client, raw }, { resolver, hostname: 'mx.example', nowMs: Date.now })),
      await measure(Math.ceil(count / 4), () => checkWithMailauth({ envelopeFrom, client, raw }, resolver)),
      await measure(count, () => checkHost({ envelopeFrom, client, hostname: 'mx.example', nowMs: Date.now }, questions)),
      await measure(count, () => verifySignatures(prepareMessage(openMessage(raw)), questions, Date.now)),
      await measure(count, () => readAuthorDomain(message.fieldsOf('from'))),
      await measure(count, async () => evaluateDmarc(await findPolicy('sender.example', questions), aligned, questions)),
      await measure(count, () => validateChain(message, questions, Date.now)),
    ])
    questions.close()
  }
}
printTable(['message', 'Callsign', 'mailauth', 'SPF', 'DKIM', 'author', 'DMARC', 'ARC'], rows)
