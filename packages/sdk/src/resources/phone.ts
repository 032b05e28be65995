// Phone numbers, iMessage, and the simulator of both. `number` is the id of a phone number or the number itself, as E.164.
// Printed from the contract by npm run docs. Do not edit.
import type * as imessage from '@callsign/contract/imessage'
import type { BodyOf, QueryOf, ReplyOf } from '@callsign/contract/operation'
import type * as phones from '@callsign/contract/phones'
import type * as simulator from '@callsign/contract/simulator'
import { type Connection, path, type RequestOptions } from '../connection/request.ts'

export type PhoneNumber = ReplyOf<typeof phones.getPhoneNumber>
export type PhoneNumberPage = ReplyOf<typeof phones.listPhoneNumbers>
export type SmsMessage = ReplyOf<typeof phones.getSmsMessage>
export type SmsWait = ReplyOf<typeof phones.waitForSms>
export type SmsMessagePage = ReplyOf<typeof phones.listSmsMessages>
export type ImessageRouter = ReplyOf<typeof imessage.getImessageRouter>
export type ImessageSent = ReplyOf<typeof imessage.sendImessage>
export type ImessageHistory = ReplyOf<typeof imessage.listImessages>
export type ImessageItem = ReplyOf<typeof imessage.listImessages>['messages'][number]
export type ImessageConversationPage = ReplyOf<typeof imessage.listImessageConversations>
export type ImessageConversation = ReplyOf<typeof imessage.listImessageConversations>['data'][number]
export type SimulatedMail = ReplyOf<typeof simulator.simulateMail>
export type SimulatedSms = ReplyOf<typeof simulator.simulateSms>
export type SimulatedImessage = ReplyOf<typeof imessage.simulateImessage>
export type OutboxPage = ReplyOf<typeof simulator.listOutbox>

export class PhoneCalls {
  readonly #connection: Connection
  constructor(connection: Connection) {
    this.#connection = connection
  }

  /** Returns one phone number, named by its id or by the number itself. `sms_error` says why a number cannot receive texts. */
  get(number: string, options?: RequestOptions): Promise<PhoneNumber> {
    return this.#connection.request({ method: 'GET', path: path`/phone/numbers/${number}`, options })
  }

  /** Returns phone numbers, newest first. An agent key gets a list with its own number. */
  list(query?: QueryOf<typeof phones.listPhoneNumbers>, options?: RequestOptions): Promise<PhoneNumberPage> {
    return this.#connection.request({ method: 'GET', path: '/phone/numbers', query, options })
  }

  /** Returns one text. `codes` has its one-time codes. The links in `media` are valid for one hour. */
  message(number: string, id: string, options?: RequestOptions): Promise<SmsMessage> {
    return this.#connection.request({ method: 'GET', path: path`/phone/numbers/${number}/messages/${id}`, options })
  }

  /** Returns the texts that a number has received, newest first, with their codes and files. */
  messages(number: string, query?: QueryOf<typeof phones.listSmsMessages>, options?: RequestOptions): Promise<SmsMessagePage> {
    return this.#connection.request({ method: 'GET', path: path`/phone/numbers/${number}/messages`, query, options })
  }

  /**
   * Buys a number from the provider of the server and gives it to an agent, which can have one. A real provider charges for it. The
   * purchase is recorded before the provider is asked, so a repeated request with the same `Idempotency-Key` never buys twice. Texts arrive
   * once `sms_status` is `ready`, which `number.sms_ready` reports. `409 no_numbers_available` means that the provider has none with these
   * filters.
   */
  provision(body: BodyOf<typeof phones.provisionPhoneNumber>, options?: RequestOptions): Promise<PhoneNumber> {
    return this.#connection.request({ method: 'POST', path: '/phone/numbers', body, isKeyed: true, options })
  }

  /**
   * Releases a number to its provider and deletes its texts. This cannot be undone: the provider may sell the number to another customer.
   * Repeating the request with the id of the number succeeds.
   */
  release(number: string, options?: RequestOptions): Promise<ReplyOf<typeof phones.releasePhoneNumber>> {
    return this.#connection.request({ method: 'DELETE', path: path`/phone/numbers/${number}`, options })
  }

  /** Marks a text as read or unread. Lists filter by it with `is_read`. */
  updateMessage(number: string, id: string, body: BodyOf<typeof phones.updateSmsMessage>, options?: RequestOptions): Promise<SmsMessage> {
    return this.#connection.request({ method: 'PATCH', path: path`/phone/numbers/${number}/messages/${id}`, body, options })
  }

  /**
   * Holds the request until a text arrives that passes every filter, for at most 60 seconds. Give `after` with the time before you caused
   * the text, so that an early one is not missed. `message` is null if none arrives.
   */
  wait(number: string, query?: QueryOf<typeof phones.waitForSms>, options?: RequestOptions): Promise<SmsWait> {
    return this.#connection.request({ method: 'GET', path: path`/phone/numbers/${number}/wait`, query, options })
  }
}

export class Imessage {
  readonly #connection: Connection
  constructor(connection: Connection) {
    this.#connection = connection
  }

  /** Returns one conversation. `recipient` is the number or the Apple ID of the person. */
  conversation(id: string, options?: RequestOptions): Promise<ImessageConversation> {
    return this.#connection.request({ method: 'GET', path: path`/imessage/conversations/${id}`, options })
  }

  /** Returns conversations, newest first. A conversation is `archived` when the person or the agent has ended it. */
  conversations(query?: QueryOf<typeof imessage.listImessageConversations>, options?: RequestOptions): Promise<ImessageConversationPage> {
    return this.#connection.request({ method: 'GET', path: '/imessage/conversations', query, options })
  }

  /** Ends a conversation. Messages that are still queued fail. The person can connect again, which starts a new conversation. */
  disconnect(id: string, options?: RequestOptions): Promise<ImessageConversation> {
    return this.#connection.request({ method: 'POST', path: path`/imessage/conversations/${id}/disconnect`, isKeyed: true, options })
  }

  /** Returns messages of one conversation or of all that the key can access, oldest first, or newest first with `order=desc`. */
  history(query?: QueryOf<typeof imessage.listImessages>, options?: RequestOptions): Promise<ImessageHistory> {
    return this.#connection.request({ method: 'GET', path: '/imessage/messages', query, options })
  }

  /**
   * Returns the means to start a conversation with an agent: the number of the line, the text to send to it, links that open Messages, and
   * a QR code. A person chooses the agent, so an agent cannot write to a person without a connection.
   */
  router(query?: QueryOf<typeof imessage.getImessageRouter>, options?: RequestOptions): Promise<ImessageRouter> {
    return this.#connection.request({ method: 'GET', path: '/imessage/router', query, options })
  }

  /**
   * Sends a message into a conversation, or with `to` and `identity_id` to the number of a connected person. It returns with status
   * `queued`. `imessage.sent` or `imessage.failed` reports the result. `media_url` is fetched once. `403 recipient_not_connected` means
   * that the person has not connected to the agent, and `409 conversation_archived` that the conversation has ended.
   */
  send(body: BodyOf<typeof imessage.sendImessage>, options?: RequestOptions): Promise<ImessageSent> {
    return this.#connection.request({ method: 'POST', path: '/imessage/messages', body, isKeyed: true, options })
  }
}

export class Simulator {
  readonly #connection: Connection
  constructor(connection: Connection) {
    this.#connection = connection
  }

  /** Ends the pending status of a simulated number, which real providers do after minutes or days. */
  advanceNumber(number: string, body: BodyOf<typeof simulator.advanceNumber> = {}, options?: RequestOptions): Promise<PhoneNumber> {
    return this.#connection.request({ method: 'POST', path: path`/simulator/numbers/${number}/advance`, body, options })
  }

  /**
   * Sends a message to the router line, as a phone outside would. The text `connect @sales` starts a conversation with the agent sales.
   * `effect` is the effect of the message.
   */
  imessage(body: BodyOf<typeof imessage.simulateImessage>, options?: RequestOptions): Promise<SimulatedImessage> {
    return this.#connection.request({ method: 'POST', path: '/simulator/imessage', body, options })
  }

  /**
   * Delivers a message as an external mail server would, with sender checks, mail rules, flags and events. Use it to test an agent without
   * an account elsewhere. `sample` sends a prepared message that tries to deceive. `409 conflict` has the reply of the mail server when it
   * refuses the message. It exists while `CALLSIGN_MAIL_TRANSPORT` is `simulator`.
   */
  mail(body: BodyOf<typeof simulator.simulateMail>, options?: RequestOptions): Promise<SimulatedMail> {
    return this.#connection.request({ method: 'POST', path: '/simulator/mail', body, options })
  }

  /** Returns the messages that agents have sent to simulated phones, newest first. */
  outbox(query?: QueryOf<typeof simulator.listOutbox>, options?: RequestOptions): Promise<OutboxPage> {
    return this.#connection.request({ method: 'GET', path: '/simulator/outbox', query, options })
  }

  /**
   * Makes the next calls of a simulated provider fail, so that you can test how your program handles failures. It returns every pending
   * fault. `times: 0` removes one.
   */
  setFault(body: BodyOf<typeof simulator.setFault>, options?: RequestOptions): Promise<ReplyOf<typeof simulator.setFault>> {
    return this.#connection.request({ method: 'POST', path: '/simulator/faults', body, options })
  }

  /**
   * Sends a text to a simulated number, as a phone outside would. It takes the path of a real callback, with signature, storage and events.
   * Use it to test sign-ups with codes.
   */
  sms(body: BodyOf<typeof simulator.simulateSms>, options?: RequestOptions): Promise<SimulatedSms> {
    return this.#connection.request({ method: 'POST', path: '/simulator/sms', body, options })
  }
}
