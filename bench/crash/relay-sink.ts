// Next hop of outgoing mail. It takes messages over SMTP, is slow or busy at random, and records everything.
import type { AddressInfo } from 'node:net'
import { SMTPServer } from 'smtp-server'
import { hashOf, type Ledger, markerHeader, type Receipt } from './ledger.ts'
import type { Random } from './random.ts'

const answerDelayMsMax = 60
const busyShare = 0.04

/** Starts the sink on a free loopback port. A message is recorded before it is answered, as at a relay. */
export async function startRelaySink(ledger: Ledger, random: Random): Promise<{ port: number; stop: () => Promise<void> }> {
  const closed = new WeakSet<object>()
  const server = new SMTPServer({
    authOptional: true,
    disabledCommands: ['AUTH', 'STARTTLS'],
    disableReverseLookup: true,
    logger: false,
    onClose: (session) => void closed.add(session),
    onRcptTo: (_address, _session, callback) => callback(busy(random.isHit(busyShare / 2))),
    onData: (stream, session, callback) => {
      const chunks: Buffer[] = []
      stream.on('data', (chunk: Buffer) => chunks.push(chunk))
      stream.once('error', () => {})
      // A connection that breaks inside the data does not reach this line.
      stream.once('end', () => {
        const raw = Buffer.concat(chunks)
        const refusal = busy(random.isHit(busyShare))
        const delayMs = random.whole(0, answerDelayMsMax)
        const recipients = session.envelope.rcptTo.map((one) => one.address)
        const receipt = refusal ? null : record(raw, recipients)
        ledger.beginRelay()
        setTimeout(() => {
          ledger.endRelay()
          // A sender that is gone does not read the 250, so it has to send again (RFC 1047).
          if (receipt && !closed.has(session)) receipt.isAnswered = true
          callback(refusal)
        }, delayMs)
      })
    },
  })
  // A killed server breaks its connections, which this run expects.
  server.on('error', () => {})
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve))

  function record(raw: Buffer, recipients: string[]): Receipt | null {
    const head = raw.subarray(0, raw.indexOf('\r\n\r\n') + 2).toString('latin1')
    const field = (name: string) => new RegExp(`^${name}:[ \\t]*(.*?)\\r\\n(?![ \\t])`, 'ims').exec(head)?.[1]?.trim() ?? ''
    const marker = field(markerHeader)
    if (marker !== '') return ledger.addReceipt({ marker, messageId: field('Message-ID'), recipients, sha256: hashOf(raw) })
    ledger.report(`the relay was given a message without a marker: ${head.slice(0, 300)}`)
    return null
  }

  return {
    port: (server.server.address() as AddressInfo).port,
    stop: () => new Promise((resolve) => server.close(() => resolve())),
  }
}

function busy(isBusy: boolean): Error | null {
  return isBusy ? Object.assign(new Error('4.3.2 Busy, try again later'), { responseCode: 451 }) : null
}
