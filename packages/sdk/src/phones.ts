// Phone numbers and the texts that arrive at them.
import type { BodyOf, QueryOf, ReplyOf } from '@callsign/contract/operation'
import type * as contract from '@callsign/contract/phones'
import { type Connection, path, type RequestOptions } from './request.ts'
import { waitUntil } from './waits.ts'

export type PhoneNumber = ReplyOf<typeof contract.getPhoneNumber>
export type PhoneNumberPage = ReplyOf<typeof contract.listPhoneNumbers>
export type SmsMessage = ReplyOf<typeof contract.getSmsMessage>
export type SmsWait = ReplyOf<typeof contract.waitForSms>
export type SmsMessagePage = ReplyOf<typeof contract.listSmsMessages>

/** `number` is the id of a phone number or the number itself, as E.164. */
export class Phone {
  readonly #connection: Connection
  constructor(connection: Connection) {
    this.#connection = connection
  }

  /** Buys a number for an agent. It receives texts once `sms_status` is `ready`. 409 `number_already_assigned`, `no_numbers_available`. */
  provision(body: BodyOf<typeof contract.provisionPhoneNumber>, options?: RequestOptions): Promise<PhoneNumber> {
    return this.#connection.request({ method: 'POST', path: '/phone/numbers', body, isKeyed: true, options })
  }

  list(query?: QueryOf<typeof contract.listPhoneNumbers>, options?: RequestOptions): Promise<PhoneNumberPage> {
    return this.#connection.request({ method: 'GET', path: '/phone/numbers', query, options })
  }

  get(number: string, options?: RequestOptions): Promise<PhoneNumber> {
    return this.#connection.request({ method: 'GET', path: path`/phone/numbers/${number}`, options })
  }

  /** Returns the number to its provider and deletes its texts. */
  release(number: string, options?: RequestOptions): Promise<ReplyOf<typeof contract.releasePhoneNumber>> {
    return this.#connection.request({ method: 'DELETE', path: path`/phone/numbers/${number}`, options })
  }

  /** The texts of a number, newest first. */
  messages(number: string, query?: QueryOf<typeof contract.listSmsMessages>, options?: RequestOptions): Promise<SmsMessagePage> {
    return this.#connection.request({ method: 'GET', path: path`/phone/numbers/${number}/messages`, query, options })
  }

  message(number: string, id: string, options?: RequestOptions): Promise<SmsMessage> {
    return this.#connection.request({ method: 'GET', path: path`/phone/numbers/${number}/messages/${id}`, options })
  }

  /**
   * Waits up to `timeout` seconds (default 30) for the next text that passes every filter. Without `after` and
   * `cursor` only new arrivals match. `message` is null after a timeout.
   */
  wait(number: string, query: QueryOf<typeof contract.waitForSms> = {}, options?: RequestOptions): Promise<SmsWait> {
    return waitUntil<SmsWait>(this.#connection, path`/phone/numbers/${number}/wait`, query, (reply) => reply.message !== null, options)
  }

  /** Marks a text as read or unread. */
  updateMessage(number: string, id: string, body: BodyOf<typeof contract.updateSmsMessage>, options?: RequestOptions): Promise<SmsMessage> {
    return this.#connection.request({ method: 'PATCH', path: path`/phone/numbers/${number}/messages/${id}`, body, options })
  }
}
