// How much one side of a stream may send ahead: begins small, and doubles while the reader keeps up, within a budget of the connection and of the process.

/** Where a window begins, and where it ends. */
export const windowBytesFirst = 256 * 1024
export const windowBytesMax = 16 * 1024 * 1024
/**
 * A window grows when half of it is read within so many round trips. A sender that a window of W holds up sends between 3/4 W and W in a round trip,
 * so this leaves room for a line and a reader that are not even: windows end at two to four times of what is on its way at once.
 */
const halfWindowRoundTrips = 1.5
/** From here on every round trip that a window is too small for is felt. */
const longRoundTripMs = 10
/** Where a window begins at most that begins ahead. */
const aheadBytesMax = 4 * 1024 * 1024
/** Windows begin ahead only while this share of the budget, at most, is taken. */
const aheadBudgetShare = 0.25
/** Round trips on one machine say nothing of how fast a program reads. */
const roundTripMsMin = 2

/** Bytes that windows may grow by, together. A budget may be part of a larger one. */
export class WindowBudget {
  readonly bytesMax: number
  readonly #larger: WindowBudget | null
  #taken = 0
  /** What windows over a long line have grown to. */
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

  /** Keeps what a window has come to: at least so much fits on the way; null when its reader has stopped reading. */
  learn(size: number | null): void {
    this.#learnt = size === null ? windowBytesFirst : Math.max(this.#learnt, size)
  }

  /** How much a window of this size gets in advance, because others have needed it; taken from the budget. */
  takeAhead(size: number): number {
    const more = Math.min(this.#learnt, aheadBytesMax) - size
    return more > 0 && this.#filled() < aheadBudgetShare && this.take(more) ? more : 0
  }

  /** The window that a new stream begins with: the less is left, the less. */
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
  /** What the peer may still send. */
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

  /** Begins where others of this connection over a long line have ended, which spares the round trips of growing; how many bytes that adds. */
  startAhead(): number {
    const more = this.#budget.takeAhead(this.#size)
    this.#grown += more
    this.#size += more
    this.#open += more
    return more
  }

  /** Counts what came; false when the peer sent more than it may. */
  receive(bytes: number, nowMs: number): boolean {
    this.#open -= bytes
    if (this.#roundStartMs < 0) this.#roundStartMs = nowMs
    return this.#open >= 0
  }

  /** Counts what the reader has taken; how many bytes the peer is to be told that it may send more, 0 for not yet. */
  take(bytes: number, nowMs: number, roundTripMs: number | null): number {
    this.#taken += bytes
    // By quarters, because what has been read and not been granted again is window that the sender cannot use.
    if (this.#taken * 4 < this.#size) return 0
    let granted = this.#taken
    this.#taken = 0
    this.#roundBytes += granted
    if (this.#roundBytes * 2 >= this.#size) {
      // At this pace the window, not the reader, may be what holds the sender up; in a burst over a long line it surely is.
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

  /** Gives back what the window had grown by. */
  close(): void {
    this.#budget.give(this.#grown)
    this.#grown = 0
    const unread = this.#size - this.#open - this.#taken
    if (unread * 2 > this.#size) this.#budget.learn(null)
    else if (this.#isLineLong) this.#budget.learn(this.#size)
  }
}
