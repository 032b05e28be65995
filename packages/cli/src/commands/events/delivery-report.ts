// Reports the first result of a message that was just sent, for a person at the command line.
import type { Callsign, Message } from '@callsign/sdk'
import type { Output } from '../../terminal/output.ts'

/** Maximum time to wait for the first attempt. Slower deliveries are reported as queued. */
const watchMsMax = 5000
const pauseMs = 50

/** The name of the built-in transport in the delivery log. */
const simulator = 'simulator'

/**
 * Prints the status of a sent message, after its first delivery attempts or 5 seconds. Warns when the simulator recorded mail to outside
 * addresses. With --json it prints `sent` at once. `before` is a sentence to print first. Returns the exit code: 1 when no recipient can get the message.
 */
export async function reportSent(
  client: Callsign,
  output: Output,
  mailbox: string,
  sent: { id: string },
  before?: string,
): Promise<number> {
  if (output.isJson) {
    output.result(sent, () => '')
    return 0
  }
  const message = await firstResult(client, mailbox, sent.id)
  output.result(sent, () =>
    [...(before === undefined ? [] : [before]), `${sent.id} is ${message?.status ?? 'queued'}.`, ...failuresOf(message)].join('\n'),
  )
  const kept = recipientsOf(message).filter(({ log }) => log.some(({ host }) => host === simulator))
  if (kept.length === 0) return hasFailed(message) ? 1 : 0
  output.note(
    `Mail to ${kept.map(({ address }) => address).join(', ')} stays on the server: its mail transport is the simulator, which sends nothing outside. The operator changes this with CALLSIGN_MAIL_TRANSPORT.`,
  )
  return hasFailed(message) ? 1 : 0
}

/** True when every recipient has failed for good. */
const hasFailed = (message: Message | null): boolean =>
  message !== null &&
  recipientsOf(message).length > 0 &&
  recipientsOf(message).every(({ status }) => status === 'bounced' || status === 'failed')

const recipientsOf = (message: Message | null) => message?.delivery?.recipients ?? []

const failuresOf = (message: Message | null): string[] =>
  recipientsOf(message)
    .filter(({ status, attempts }) => status === 'failed' || status === 'bounced' || (status === 'queued' && attempts > 0))
    .map(
      ({ address, status, last_answer }) => `${address}: ${status === 'queued' ? 'to be retried' : status}, ${last_answer ?? 'no answer'}`,
    )

/** The message once each recipient has had an attempt. */
async function firstResult(client: Callsign, mailbox: string, id: string): Promise<Message | null> {
  const deadline = performance.now() + watchMsMax
  let message: Message | null = null
  do {
    message = await client.messages.get(mailbox, id)
    if (recipientsOf(message).every(({ status, attempts }) => status !== 'queued' || attempts > 0)) return message
    await new Promise((resolve) => setTimeout(resolve, pauseMs))
  } while (performance.now() < deadline)
  return message
}
