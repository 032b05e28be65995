// What the contract of iMessage providers is tested on: a provider with phones behind it, whichever it is, and everything that can go wrong with it.
import type { Harness } from './start.ts'

export type SentFile = { contentType: string; bytes: number }
/** What a phone has got. */
export type Arrived = { text: string; files: SentFile[] }

/** `lost_answer`: taken, and nobody is told. `lost_request`: never taken, and nobody is told. `error`: clearly not taken. `refused`: for good. */
export type Fault = 'lost_answer' | 'lost_request' | 'error' | 'refused'

/** What becomes of the callback of a message. */
export type Callback = 'once' | 'twice' | 'never'

export type World = {
  name: 'simulator' | 'bluebubbles' | 'linq'
  /** The settings of a server on this provider. */
  settings: Record<string, string>
  /** Tells the provider where the server is; before it there are no callbacks. */
  attach: (harness: Harness) => Promise<void>
  /** A phone writes to the line. `agoMs`: it was written so long ago. Resolves when the callback has been taken. */
  write: (from: string, text: string, more?: { file?: Buffer; agoMs?: number; callback?: Callback }) => Promise<void>
  arrived: (to: string) => Promise<Arrived[]>
  /** Befalls the next sends, one each, in this order. Not every provider knows every fault. */
  faults: Set<Fault>
  befall: (...faults: Fault[]) => Promise<void>
  /** The message of this text fails after it was sent; null where that is not told. */
  failLater: ((text: string) => Promise<void>) | null
  /** True when what no callback told is found by asking. */
  canBeAsked: boolean
  stop: () => Promise<void>
}

/** A PNG of one pixel. */
export const png = Buffer.from('iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==', 'base64')
