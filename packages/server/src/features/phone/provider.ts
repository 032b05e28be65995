// Interface of suppliers of phone numbers. Each answer is a value: one state machine decides the next step for every supplier.
import type { RawRequest } from '../../core/route.ts'
import type { Country } from './area-codes.ts'

export type ProviderName = 'simulator' | 'telnyx' | 'twilio'

/** The supplier could not be asked, or answered with something that says nothing; try later. */
export type Failure = { kind: 'failure'; detail: string }
/** The supplier will not do it: the account, not the moment, is in the way. */
export type Refusal = { kind: 'refused'; code: string; detail: string }

export type NumberQuery = {
  organizationId: string
  country: Country
  type: 'local' | 'toll_free'
  region: string | null
  areaCode: string | null
  /** Numbers that are no use: they were tried. */
  without: string[]
}

/** One number of a purchase. `orderKey` is ours, and the same for every attempt of one purchase. */
export type Order = { organizationId: string; orderKey: string; phoneNumber: string }

export type Owned = { kind: 'owned'; providerNumberId: string }

export type OrderAnswer =
  | Owned
  /** Taken on, not done yet: `findOrder` will tell. */
  | { kind: 'pending' }
  /** Not to be had: another number may be. Nothing was bought. */
  | { kind: 'taken' }
  | Refusal
  /** It may have been bought or not: `findOrder` will tell. */
  | { kind: 'unknown'; detail: string }

export type OrderState = Owned | { kind: 'pending' } | { kind: 'absent' } | { kind: 'failed' } | Failure

/** A number that we own. `providerNumberId` is the supplier's own id of it. */
export type OwnedNumber = { organizationId: string; phoneNumber: string; providerNumberId: string }

export type Readiness = { kind: 'ready' } | { kind: 'pending' } | { kind: 'failed'; code: string; detail: string } | Failure

/** A file of a text: where it is, or its bytes. */
export type MediaSource = { contentType: string | null } & ({ url: string } | { bytes: Buffer })

/** A text as a supplier tells it. `sentAt` is null where it does not say. */
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
  /** Something about this number may have changed: ask how it is. */
  | { kind: 'number'; phoneNumber: string }

export type Verdict = 'ok' | 'bad_signature' | 'too_old'

export interface PhoneProvider {
  readonly name: ProviderName
  /** After this long an order whose answer was lost can no longer happen. */
  readonly settleMs: number
  /** Numbers that can be ordered, best first; none when there are none. Buys nothing. */
  search(query: NumberQuery): Promise<{ kind: 'offers'; numbers: string[] } | Refusal | Failure>
  /** Buys this one number. Ordering the same number again never buys a second. */
  order(order: Order): Promise<OrderAnswer>
  /** Looks up an order. */
  findOrder(order: Order): Promise<OrderState>
  /** One step towards receiving texts: sees to the routing, and tells how far it is. */
  advance(number: OwnedNumber): Promise<Readiness>
  /** Gives the number back; one that is gone already is fine. */
  release(number: OwnedNumber): Promise<{ kind: 'released' } | Failure>
  /** Judges a callback by its bytes alone, before anything of it is read. `url` is the address that the supplier was given. */
  verifyWebhook(request: RawRequest, url: string, nowMs: number): Verdict
  /** Reads a callback that was verified. Throws Unreadable. */
  parseWebhook(request: RawRequest): PhoneEvent[]
  /** Texts since then, oldest first or in any order; those that are known need not be asked for in whole. Throws when the list cannot be read. */
  listInbound(since: Date, isKnown: (providerMessageId: string) => Promise<boolean>): AsyncIterable<InboundText>
  /** Headers that fetching this media needs, and the origin that may see them; null when none. */
  mediaAccess(url: string): { origin: string; headers: Record<string, string> } | null
}

/** A callback that is signed and is not what its sender documents. */
export class Unreadable extends Error {
  override name = 'Unreadable'
}

/** State that the simulator keeps in a supplier's place. The feature `simulator` has its SQL. */
export interface SimulatedCarrier {
  /** The fault that befalls this call, once, or null. */
  takeFault(organizationId: string, op: string): Promise<string | null>
  /** Those among these numbers that nobody has, those never given out first, in their order. */
  findFree(numbers: string[]): Promise<string[]>
  /** Gives the number to this order key. False when another has it. */
  buy(order: Order, readyInMs: number): Promise<boolean>
  find(orderKey: string): Promise<{ phoneNumber: string; isReady: boolean; isRejected: boolean } | null>
  release(orderKey: string): Promise<void>
  /** Bodies of callbacks that were never made, since then. */
  listUndelivered(since: Date): Promise<unknown[]>
}
