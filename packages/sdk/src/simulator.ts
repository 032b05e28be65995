// The simulator's controls, for tests without a phone. A server with real numbers does not have them.
import type { simulateImessage } from '@callsign/contract/imessage'
import type { BodyOf, QueryOf, ReplyOf } from '@callsign/contract/operation'
import type * as contract from '@callsign/contract/simulator'
import type { PhoneNumber } from './phones.ts'
import { type Connection, path, type RequestOptions } from './request.ts'

export type SimulatedMail = ReplyOf<typeof contract.simulateMail>
export type SimulatedSms = ReplyOf<typeof contract.simulateSms>
export type SimulatedImessage = ReplyOf<typeof simulateImessage>
export type OutboxPage = ReplyOf<typeof contract.listOutbox>

export class Simulator {
  readonly #connection: Connection
  constructor(connection: Connection) {
    this.#connection = connection
  }

  /** Delivers a message to an agent from an external mail server. `sample` names a prepared one that tries to deceive. */
  mail(body: BodyOf<typeof contract.simulateMail>, options?: RequestOptions): Promise<SimulatedMail> {
    return this.#connection.request({ method: 'POST', path: '/simulator/mail', body, options })
  }

  /** Sends a text to a simulated number from an external phone. */
  sms(body: BodyOf<typeof contract.simulateSms>, options?: RequestOptions): Promise<SimulatedSms> {
    return this.#connection.request({ method: 'POST', path: '/simulator/sms', body, options })
  }

  /** Sends a message to the router line from an external phone. */
  imessage(body: BodyOf<typeof simulateImessage>, options?: RequestOptions): Promise<SimulatedImessage> {
    return this.#connection.request({ method: 'POST', path: '/simulator/imessage', body, options })
  }

  /** Ends the pending status of a simulated number. */
  advanceNumber(number: string, body: BodyOf<typeof contract.advanceNumber> = {}, options?: RequestOptions): Promise<PhoneNumber> {
    return this.#connection.request({ method: 'POST', path: path`/simulator/numbers/${number}/advance`, body, options })
  }

  /** Makes the next calls of a simulated provider fail. Returns every pending fault. */
  setFault(body: BodyOf<typeof contract.setFault>, options?: RequestOptions): Promise<ReplyOf<typeof contract.setFault>> {
    return this.#connection.request({ method: 'POST', path: '/simulator/faults', body, options })
  }

  /** Lists the messages sent to external phones, newest first. */
  outbox(query?: QueryOf<typeof contract.listOutbox>, options?: RequestOptions): Promise<OutboxPage> {
    return this.#connection.request({ method: 'GET', path: '/simulator/outbox', query, options })
  }
}
