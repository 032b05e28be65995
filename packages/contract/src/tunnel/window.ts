// The flow-control window of one side of a stream. It starts small and doubles while the reader keeps up, within budgets per connection and per process.

/** The initial and the maximum size of a window. */
export const windowBytesFirst = 256 * 1024
export const windowBytesMax = 16 * 1024 * 1024
/**
 * A window grows when half of it is read within this number of round trips. A sender limited by a window of W sends between 3/4 W and W per round
 * trip. This leaves room for jitter on the line and in the reader. Windows end at two to four times the bytes in flight.
 */
const halfWindowRoundTrips = 1.5
/** From here on, round trips lost to a small window are noticeable. */
const longRoundTripMs = 10
/** The maximum initial size of a window that starts enlarged. */
const aheadBytesMax = 4 * 1024 * 1024
/** Windows start enlarged only while less than this share of the budget is in use. */
const aheadBudgetShare = 0.25
/** Round trips on one machine do not measure the speed of a reader. */
const roundTripMsMin = 2

/** The total growth allowed for a group of windows, in bytes. A budget may be part of a larger one. */
export class WindowBudget {
  readonly bytesMax: number
  readonly #larger: WindowBudget | null
  #taken = 0
  /** The largest size of windows over a long line so far. */
  #learnt = windowBytesFirst

  constructor(bytesMax: number, larger: WindowBudget | null = null) {
    this.bytesMax = bytesMax
    this.#larger = larger
  }

  get taken(): number {
    return this.#taken
  }

  take(bytes: number): boolean {
    if (this.#taken + bytes > this.bytesMax || (this.#larger && !this.#larger.take(bytes))) return false
    this.#taken += bytes
    return true
  }

  give(bytes: number): void {
    this.#taken -= bytes
    this.#larger?.give(bytes)
  }

  #filled(): number {
    return Math.max(this.#taken / this.bytesMax, this.#larger ? this.#larger.taken / this.#larger.bytesMax : 0)
  }

  /** Records the final size of a window. null if its reader has stopped reading. */
  learn(size: number | null): void {
    this.#learnt = size === null ? windowBytesFirst : Math.max(this.#learnt, size)
  }

  /** Takes the extra bytes of an enlarged initial window from the budget, based on the recorded sizes. Returns their number. */
  takeAhead(size: number): number {
    const more = Math.min(this.#learnt, aheadBytesMax) - size
    return more > 0 && this.#filled() < aheadBudgetShare && this.take(more) ? more : 0
  }

  /** The initial window of a new stream, smaller when less of the budget is left. */
  firstWindow(): number {
    const filled = this.#filled()
    return filled < 0.5 ? windowBytesFirst : filled < 0.9 ? windowBytesFirst / 4 : windowBytesFirst / 16
  }
}

/** The receiving side of one stream's window. */
export class ReceiveWindow {
  readonly #budget: WindowBudget
  #size: number
  #grown = 0
  /** Bytes that the peer may still send. */
  #open: number
  #taken = 0
  #roundBytes = 0
  #roundStartMs = -1
  #isLineLong = false

  constructor(size: number, budget: WindowBudget) {
    this.#size = size
    this.#open = size
    this.#budget = budget
  }

  get size(): number {
    return this.#size
  }

  /** Starts at the recorded size of this connection's windows over a long line, which saves round trips. Returns the number of added bytes. */
  startAhead(): number {
    const more = this.#budget.takeAhead(this.#size)
    this.#grown += more
    this.#size += more
    this.#open += more
    return more
  }

  /** Counts received bytes. Returns false if the peer exceeded the window. */
  receive(bytes: number, nowMs: number): boolean {
    this.#open -= bytes
    if (this.#roundStartMs < 0) this.#roundStartMs = nowMs
    return this.#open >= 0
  }

  /** Counts bytes taken by the reader. Returns the bytes to grant to the peer, or 0 if it is too early. */
  take(bytes: number, nowMs: number, roundTripMs: number | null): number {
    this.#taken += bytes
    // Granted by quarters, because bytes that were read and not granted again are window that the sender cannot use.
    if (this.#taken * 4 < this.#size) return 0
    let granted = this.#taken
    this.#taken = 0
    this.#roundBytes += granted
    if (this.#roundBytes * 2 >= this.#size) {
      // At this pace the window, not the reader, may limit the sender. In a burst over a long line the window does.
      if (roundTripMs !== null) {
        const tookMs = nowMs - this.#roundStartMs
        this.#isLineLong = roundTripMs >= longRoundTripMs
        if (this.#isLineLong && tookMs < roundTripMs / 2) granted += this.#grow(4)
        else if (tookMs < halfWindowRoundTrips * Math.max(roundTripMs, roundTripMsMin)) granted += this.#grow(2)
      }
      this.#roundBytes = 0
      this.#roundStartMs = -1
    }
    this.#open += granted
    return granted
  }

  #grow(factor: number): number {
    const more = Math.min(this.#size * (factor - 1), windowBytesMax - this.#size)
    if (more <= 0 || !this.#budget.take(more)) return 0
    this.#grown += more
    this.#size += more
    return more
  }

  /** Returns the bytes of growth to the budget. */
  close(): void {
    this.#budget.give(this.#grown)
    this.#grown = 0
    const unread = this.#size - this.#open - this.#taken
    if (unread * 2 > this.#size) this.#budget.learn(null)
    else if (this.#isLineLong) this.#budget.learn(this.#size)
  }
}
