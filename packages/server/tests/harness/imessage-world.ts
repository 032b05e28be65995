// The interface for tests of iMessage providers. It has a provider with phones behind it, and every fault that a provider can cause.
import type { Harness } from './start.ts'

export type SentFile = { contentType: string; bytes: number }
/** A message as a phone received it. */
export type Arrived = { text: string; files: SentFile[] }

/**
 * `lost_answer` is accepted, but the answer is lost. `lost_request` is never accepted, and the answer is lost. `error` is clearly not accepted.
 * `refused` is permanent.
 */
export type Fault = 'lost_answer' | 'lost_request' | 'error' | 'refused'

/** Number of callbacks for a message. */
export type Callback = 'once' | 'twice' | 'never'

export type World = {
  name: 'simulator' | 'bluebubbles' | 'linq'
  /** The settings of a server on this provider. */
  settings: Record<string, string>
  /** Sets the server's address at the provider. Callbacks start after it. */
  attach: (harness: Harness) => Promise<void>
  /** Sends a message from a phone to the line, dated `agoMs` ago. Resolves when the callback has been accepted. */
  write: (from: string, text: string, more?: { file?: Buffer; agoMs?: number; callback?: Callback }) => Promise<void>
  arrived: (to: string) => Promise<Arrived[]>
  /** Befalls the next sends, one each, in this order. Not every provider knows every fault. */
  faults: Set<Fault>
  befall: (...faults: Fault[]) => Promise<void>
  /** Fails the message with this text after it was sent. Null where the provider does not report that. */
  failLater: ((text: string) => Promise<void>) | null
  /** True when polling finds messages without a callback. */
  canBeAsked: boolean
  stop: () => Promise<void>
}

/** A PNG of one pixel. */
export const png = Buffer.from('iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==', 'base64')
