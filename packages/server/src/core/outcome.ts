// Result of one attempt to deliver to an external system. It is a value and not an exception, so that one place decides on retries.

export type Outcome =
  /** The other side accepted responsibility. `final` is true for the recipient's own system and false for a relay. */
  | { kind: 'delivered'; answer: string; final: boolean }
  /** A temporary failure of the other side or the network. The schedule sets the next attempt. */
  | { kind: 'retry'; answer: string; diagnosticCode: string | null }
  /**
   * A permanent failure, which is reported to the sender. `failed` marks one before any attempt, such as a bad address or a message that
   * cannot be composed.
   */
  | { kind: 'refused'; answer: string; diagnosticCode: string | null; failed?: boolean }
