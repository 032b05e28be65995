// Mail through a server in a container, with a ledger of what was acknowledged.
import { type Callsign, everyItem } from '@callsign/sdk'
import type { MailSink } from '../../packages/server/tests/harness/mail-sink.ts'
import { findFreePort } from '../../packages/server/tests/harness/peer-process.ts'
import { openSmtp } from '../crash/smtp-client.ts'

const smtpClients = 4
const apiClients = 2

/** Subjects whose delivery or send was acknowledged. */
export type Acknowledged = { received: Set<string>; sent: Set<string> }

export const agent = 'sales'
export const address = `${agent}@agents.localhost`

/** Two free ports, one for HTTP and one for SMTP. */
export const findPorts = async (): Promise<{ http: number; smtp: number }> => ({ http: await findFreePort(), smtp: await findFreePort() })

/** Delivers one message over SMTP. Returns true for 250. */
export async function deliver(smtpPort: number, subject: string): Promise<boolean> {
  const client = await openSmtp(smtpPort)
  try {
    return (await client.deliver('ada@example.com', [address], messageOf(subject), () => {})).code === 250
  } finally {
    client.close()
  }
}

const messageOf = (subject: string): Buffer =>
  Buffer.from(
    `From: Ada <ada@example.com>\r\nTo: ${address}\r\nSubject: ${subject}\r\nMessage-ID: <${subject}@example.com>\r\nDate: ${new Date().toUTCString()}\r\n\r\n${'A line of the message.\r\n'.repeat(40)}`,
  )

/** Sends both ways until `enough` of each were acknowledged, then calls `strike`, and resolves when every client has failed. */
export async function sendUntilStruck(
  options: { client: Callsign; smtpPort: number; label: string; enough: number; strike: () => void },
  acknowledged: Acknowledged,
): Promise<void> {
  const { client, smtpPort, label, enough, strike } = options
  const before = { received: acknowledged.received.size, sent: acknowledged.sent.size }
  let isStruck = false
  const note = (set: Set<string>, subject: string) => {
    set.add(subject)
    const hasEnough = acknowledged.received.size - before.received >= enough && acknowledged.sent.size - before.sent >= enough
    if (!hasEnough || isStruck) return
    isStruck = true
    strike()
  }
  const untilFailure = async (work: (count: number) => Promise<void>) => {
    for (let count = 0; ; count++) {
      const done = await work(count).then(
        () => true,
        (error: Error) => {
          if (!isStruck) throw error
          return false
        },
      )
      if (!done) return
    }
  }
  const receiving = Array.from({ length: smtpClients }, (_, lane) =>
    untilFailure(async (count) => {
      const subject = `in-${label}-${lane}-${count}`
      if (!(await deliver(smtpPort, subject))) throw new Error(`${subject} was refused`)
      note(acknowledged.received, subject)
    }),
  )
  const sending = Array.from({ length: apiClients }, (_, lane) =>
    untilFailure(async (count) => {
      const subject = `out-${label}-${lane}-${count}`
      await client.messages.send(agent, { to: ['grace@example.net'], subject, text: 'Hello.' })
      note(acknowledged.sent, subject)
    }),
  )
  await Promise.all([...receiving, ...sending])
}

/** Lists the mailbox and compares it with the ledger. Returns sentences about what is missing or stored twice. */
export async function findLosses(client: Callsign, acknowledged: Acknowledged): Promise<string[]> {
  const counts = new Map<string, number>()
  for await (const { subject } of everyItem((cursor) => client.messages.list(agent, { limit: 100, ...(cursor ? { cursor } : {}) })))
    counts.set(subject ?? '', (counts.get(subject ?? '') ?? 0) + 1)
  return [...acknowledged.received, ...acknowledged.sent].flatMap((subject) => {
    const count = counts.get(subject) ?? 0
    return count === 1 ? [] : [`${subject} is stored ${count} times`]
  })
}

/** Acknowledged sends that the next mail server has not got. */
export const findUnsent = (sink: MailSink, acknowledged: Acknowledged): string[] => {
  const arrived = new Set(sink.mails.map(({ parsed }) => parsed.subject))
  return [...acknowledged.sent].filter((subject) => !arrived.has(subject))
}
