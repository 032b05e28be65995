// How one attempt to reach the outside world ended. A value, not an exception, so that retrying is decided once.

export type Outcome =
  /** The other side took responsibility. `final` is true when it is the recipient's own system, false for a relay. */
  | { kind: 'delivered'; answer: string; final: boolean }
  /** Their failure or the network's; the schedule decides when to try again. */
  | { kind: 'retry'; answer: string; diagnosticCode: string | null }
  /** Permanent. The sender is told. `failed` marks what could not even be tried (bad address, nothing to compose). */
  | { kind: 'refused'; answer: string; diagnosticCode: string | null; failed?: boolean }
