// Interface of phone number providers. Results are values, so that one state machine decides the next step for every provider.
import type { RawRequest } from '../../core/route.ts'
import type { Country } from './area-codes.ts'

export type ProviderName = 'simulator' | 'telnyx' | 'twilio'

/** The provider is unavailable or its response is unusable. Retry later. */
export type Failure = { kind: 'failure'; detail: string }
/** A permanent rejection, caused by the account or the request. */
export type Refusal = { kind: 'refused'; code: string; detail: string }

export type NumberQuery = {
  organizationId: string
  country: Country
  type: 'local' | 'toll_free'
  region: string | null
  areaCode: string | null
  /** Numbers to exclude, because they were tried. */
  without: string[]
}

/** One number of a purchase. `orderKey` is our idempotency key for all attempts of the purchase. */
export type Order = { organizationId: string; orderKey: string; phoneNumber: string }

export type Owned = { kind: 'owned'; providerNumberId: string }

export type OrderAnswer =
  | Owned
  /** Accepted and in progress. `findOrder` returns the result. */
  | { kind: 'pending' }
  /** The number is not available and was not bought. Another number may be. */
  | { kind: 'taken' }
  | Refusal
  /** The outcome is unknown. `findOrder` returns it. */
  | { kind: 'unknown'; detail: string }

export type OrderState = Owned | { kind: 'pending' } | { kind: 'absent' } | { kind: 'failed' } | Failure

/** A number that we own. `providerNumberId` is the provider's id. */
export type OwnedNumber = { organizationId: string; phoneNumber: string; providerNumberId: string }

export type Readiness = { kind: 'ready' } | { kind: 'pending' } | { kind: 'failed'; code: string; detail: string } | Failure

/** A file of a text, by URL or with its bytes. */
export type MediaSource = { contentType: string | null } & ({ url: string } | { bytes: Buffer })

/** A text from a provider. `sentAt` is null when the provider does not report it. */
export type InboundText = {
  providerMessageId: string
  type: 'sms' | 'mms'
  from: string
  to: string[]
  text: string
  media: MediaSource[]
  sentAt: Date | null
}

export type PhoneEvent =
  | { kind: 'text'; text: InboundText }
  /** The state of this number may have changed. Poll it now. */
  | { kind: 'number'; phoneNumber: string }

export type Verdict = 'ok' | 'bad_signature' | 'too_old'

export interface PhoneProvider {
  readonly name: ProviderName
  /** Time after which an order with a lost response can no longer complete. */
  readonly settleMs: number
  /** Numbers for sale, best first. May be empty. */
  search(query: NumberQuery): Promise<{ kind: 'offers'; numbers: string[] } | Refusal | Failure>
  /** Buys one number. Ordering the same number again does not buy a second. */
  order(order: Order): Promise<OrderAnswer>
  /** Looks up an order. */
  findOrder(order: Order): Promise<OrderState>
  /** Takes one step of configuring the number for texts, and returns its readiness. */
  advance(number: OwnedNumber): Promise<Readiness>
  /** Releases the number. Idempotent. */
  release(number: OwnedNumber): Promise<{ kind: 'released' } | Failure>
  /** Verifies the signature of a callback over its raw bytes, before parsing. `url` is the address registered with the provider. */
  verifyWebhook(request: RawRequest, url: string, nowMs: number): Verdict
  /** Parses a verified callback. Throws `Unreadable`. */
  parseWebhook(request: RawRequest): PhoneEvent[]
  /** Texts since a time, in any order. `isKnown` spares fetching known ones in full. Throws when the list is unavailable. */
  listInbound(since: Date, isKnown: (providerMessageId: string) => Promise<boolean>): AsyncIterable<InboundText>
  /** Headers required to fetch this media, and the only origin that may receive them. Null when none are required. */
  mediaAccess(url: string): { origin: string; headers: Record<string, string> } | null
}

/** A signed callback that does not match the provider's documentation. */
export class Unreadable extends Error {
  override name = 'Unreadable'
}

/** Provider state that the simulator keeps. The feature `simulator` has its SQL. */
export interface SimulatedCarrier {
  /** Takes the fault set for this call, or null. A fault happens once. */
  takeFault(organizationId: string, op: string): Promise<string | null>
  /** The free numbers among these, in order, never used ones first. */
  findFree(numbers: string[]): Promise<string[]>
  /** Assigns the number to this order key. False when another one has it. */
  buy(order: Order, readyInMs: number): Promise<boolean>
  find(orderKey: string): Promise<{ phoneNumber: string; isReady: boolean; isRejected: boolean } | null>
  release(orderKey: string): Promise<void>
  /** Bodies of callbacks since a time that were never sent. */
  listUndelivered(since: Date): Promise<unknown[]>
}
