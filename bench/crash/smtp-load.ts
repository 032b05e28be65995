// SMTP clients that deliver without pause. An unanswered message is sent again with the same bytes, as mail servers do.
import { setTimeout as delay } from 'node:timers/promises'
import { type Delivery, hashOf, type Ledger, type Mailbox, markerHeader } from './ledger.ts'
import type { Random } from './random.ts'
import { openSmtp, type SmtpClient } from './smtp-client.ts'

type Load = {
  name: string
  port: number
  mailboxes: Mailbox[]
  ledger: Ledger
  random: Random
  isStopping: () => boolean
}

/** A connection may be used for half an hour, after which its next command is answered 421. */
export const sessionOver = 'smtp 421 after half an hour'
const retryMs = 50
const pauseMsMax = 25
/** A message that is not accepted by then will not be. */
const deliveryMsMax = 150_000
const line = 76

/** Runs one client. It delivers messages until it is stopped, and finishes the one that it has begun. */
export async function runSmtpClient(load: Load): Promise<void> {
  const { name, ledger, random } = load
  const connection = reconnecting(load.port)
  for (let number = 1; !load.isStopping(); number++) {
    const { delivery, raw } = planDelivery(load, `${name}-${number}`)
    ledger.deliveries.set(delivery.marker, delivery)
    await deliver(load, connection, delivery, raw)
    await delay(random.whole(0, pauseMsMax))
  }
  connection.close()
}

async function deliver({ ledger }: Load, connection: ReturnType<typeof reconnecting>, delivery: Delivery, raw: Buffer): Promise<void> {
  const startedMs = performance.now()
  const recipients = delivery.recipients.map((recipient) => recipient.address)
  while (performance.now() - startedMs < deliveryMsMax) {
    try {
      const client = await connection.get()
      const reply = await client.deliver('sender@outside.example', recipients, raw, () => {
        delivery.attempts++
        delivery.isAwaiting = true
      })
      ledger.countReply(reply.text.includes('Session lasted too long') ? sessionOver : `smtp ${reply.code}`)
      if (reply.code === 250) {
        delivery.state = 'accepted'
        return
      }
      if (reply.code >= 500) {
        delivery.state = 'refused'
        return ledger.report(`SMTP refused ${delivery.marker} for good: ${reply.text}`)
      }
    } catch (error) {
      connection.close()
      if (delivery.isAwaiting) ledger.countReply('smtp unanswered')
      if ((error as Error).message.startsWith('silence')) ledger.report(`SMTP ${delivery.marker}: ${(error as Error).message}`)
    } finally {
      delivery.isAwaiting = false
    }
    await delay(retryMs)
  }
  ledger.report(`SMTP did not accept ${delivery.marker} within ${deliveryMsMax} ms`)
}

/** The open connection, or a new one. */
function reconnecting(port: number) {
  let client: SmtpClient | null = null
  return {
    async get(): Promise<SmtpClient> {
      if (!client?.isOpen()) client = await openSmtp(port)
      return client
    },
    close(): void {
      client?.close()
      client = null
    },
  }
}

/** Plans small and large messages, to one or two mailboxes of one or two organizations. Some are replies to mail that the relay got. */
function planDelivery({ mailboxes, ledger, random }: Load, marker: string): { delivery: Delivery; raw: Buffer } {
  const answered = random.isHit(0.25) ? pickReceipt(ledger, random) : null
  const parent = answered ? ledger.sends.get(answered.marker) : undefined
  const first = parent?.from ?? random.pick(mailboxes)
  const others = random.isHit(0.25) ? [random.pick(mailboxes.filter((mailbox) => mailbox !== first))] : []
  const recipients = [first, ...others]
  const messageId = `<${marker}@outside.example>`
  const raw = composeMail({ marker, messageId, recipients, answers: parent && answered ? answered.messageId : null, random })
  const facts = { sizeBytes: raw.length, sha256: hashOf(raw) }
  const delivery: Delivery = {
    marker,
    messageId,
    recipients,
    parent: parent?.marker ?? null,
    ...facts,
    state: 'open',
    attempts: 0,
    isAwaiting: false,
  }
  return { delivery, raw }
}

function pickReceipt(ledger: Ledger, random: Random) {
  const markers = [...ledger.receipts.keys()]
  return markers.length === 0 ? null : (ledger.receipts.get(random.pick(markers.slice(-50)))?.[0] ?? null)
}

/** Above 64 KB the server keeps the bytes in its blob store. */
const sizeOf = (random: Random): number =>
  random.isHit(0.7) ? random.whole(200, 4_000) : random.isHit(0.85) ? random.whole(60_000, 200_000) : random.whole(400_000, 1_200_000)

function composeMail(mail: { marker: string; messageId: string; recipients: Mailbox[]; answers: string | null; random: Random }): Buffer {
  const { marker, random } = mail
  const size = sizeOf(random)
  const boundary = `part-${marker}`
  const encoded = random.bytes(Math.floor(size * 0.74)).toString('base64')
  const lines = [
    `From: Outside Sender <sender@outside.example>`,
    `To: ${mail.recipients.map((recipient) => recipient.address).join(', ')}`,
    `Subject: crash ${marker}`,
    `Message-ID: ${mail.messageId}`,
    ...(mail.answers ? [`In-Reply-To: ${mail.answers}`, `References: ${mail.answers}`] : []),
    `${markerHeader}: ${marker}`,
    'MIME-Version: 1.0',
    `Content-Type: multipart/mixed; boundary="${boundary}"`,
    '',
    `--${boundary}`,
    'Content-Type: text/plain; charset=utf-8',
    '',
    `Message ${marker} of the crash run.`,
    `--${boundary}`,
    'Content-Type: application/octet-stream; name="load.bin"',
    'Content-Disposition: attachment; filename="load.bin"',
    'Content-Transfer-Encoding: base64',
    '',
    ...Array.from({ length: Math.ceil(encoded.length / line) }, (_, index) => encoded.slice(index * line, (index + 1) * line)),
    `--${boundary}--`,
    '',
  ]
  return Buffer.from(lines.join('\r\n'))
}
