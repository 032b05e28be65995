// Mailboxes and phone numbers, which wait with a series of requests. Each starts where the previous one ended, so that no arrival is missed.
import type { waitForMessage } from '@callsign/contract/messages'
import type { QueryOf } from '@callsign/contract/operation'
import type { waitForSms } from '@callsign/contract/phones'
import { type RequestOptions, sleep } from './connection/request.ts'
import { MailboxCalls, type MessageWait } from './resources/mail.ts'
import { PhoneCalls, type SmsWait } from './resources/phone.ts'

/** The server's maximum wait per request, in seconds. */
const secondsMax = 60
const secondsDefault = 30
/** The time limit of a response in addition to its wait. */
const marginMs = 15_000

/** The pause before the next request. */
const pauseMs = { same: 500, further: 10 }

type WaitQuery = { timeout?: number; after?: string; cursor?: string }

export class Mailboxes extends MailboxCalls {
  /**
   * Waits up to `timeout` seconds (default 30, may exceed a minute) for the next message that passes every filter. Without `after` and
   * `cursor` only new arrivals match. `message` is null after a timeout. `cursor` starts the next wait where this one ended.
   */
  override wait(mailbox: string, query: QueryOf<typeof waitForMessage> = {}, options?: RequestOptions): Promise<MessageWait> {
    return waitUntil((part, each) => super.wait(mailbox, part, each), query, options)
  }
}

export class Phone extends PhoneCalls {
  /**
   * Waits up to `timeout` seconds (default 30) for the next text that passes every filter. Without `after` and
   * `cursor` only new arrivals match. `message` is null after a timeout.
   */
  override wait(number: string, query: QueryOf<typeof waitForSms> = {}, options?: RequestOptions): Promise<SmsWait> {
    return waitUntil((part, each) => super.wait(number, part, each), query, options)
  }
}

/** Waits with as many requests as needed. Resolves with the last answer, in which the message is null after a timeout. */
async function waitUntil<Q extends WaitQuery, R extends { cursor: string; message: unknown }>(
  request: (query: Q, options: RequestOptions) => Promise<R>,
  query: Q,
  options: RequestOptions = {},
): Promise<R> {
  const { timeout = secondsDefault, after, cursor: start, ...filter } = query
  const deadline = performance.now() + timeout * 1000
  const ask = (seconds: number, from: WaitQuery) =>
    request({ ...filter, ...from, timeout: seconds } as Q, { ...options, timeoutMs: options.timeoutMs ?? seconds * 1000 + marginMs })
  // The starting cursor is requested first, so that a lost request can be repeated from there.
  let cursor = start ?? (after === undefined ? (await ask(0, {})).cursor : undefined)
  for (;;) {
    const left = Math.max(0, deadline - performance.now())
    const reply = await ask(
      Math.min(secondsMax, Math.ceil(left / 1000)),
      cursor !== undefined ? { cursor } : after !== undefined ? { after } : {},
    )
    if (reply.message !== null || performance.now() >= deadline) return reply
    // A server that is shutting down answers immediately with the same cursor. If the cursor advanced, the next request follows sooner.
    await sleep(reply.cursor === cursor ? pauseMs.same : pauseMs.further, options.signal)
    cursor = reply.cursor
  }
}
