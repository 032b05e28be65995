// Every bound of an SMTP session, with its default.

/** Sizes in octets, times in milliseconds. */
export type Limits = {
  /** Command line with its CRLF (RFC 5321 §4.5.3.1.4 asks for 512 plus what extensions add). */
  commandBytesMax: number
  /** How much of an over-long command line is skipped before the connection is given up. */
  commandSkipBytesMax: number
  recipientsMax: number
  /** Protocol errors since the last accepted message; one more ends the session. */
  errorsMax: number
  /** Refused recipients in a session; more than one full transaction of them is a dictionary attack. */
  refusedRecipientsMax: number
  /** Delay of each error reply after the first five; 0 is off. */
  errorDelayMs: number
  headerBytesMax: number
  headerLinesMax: number
  /** Received fields of a message. */
  hopsMax: number
  /** One line of message data without its CRLF. */
  lineBytesMax: number
  /** How much of a message that is refused already is read to its end, so that the client hears why and keeps its connection. */
  discardBytesMax: number
  /** Message data held by all sessions together; beyond it new data is answered 452. */
  memoryBytesMax: number
  /** Waits before greeting, to catch clients that talk first. With 0 only those are caught whose bytes came with the connection. */
  greetingDelayMs: number
  commandTimeoutMs: number
  /** The window in which data must come at the least rate. */
  dataTimeoutMs: number
  dataBytesPerSecondMin: number
  /** Afterwards the session ends at the next message boundary, and at twice the time wherever it is. */
  sessionTimeoutMs: number
  /** How long a closed connection may take to read our last reply. */
  lingerMs: number
  /** From one IPv4 address or one IPv6 /64; 0 is no limit. */
  connectionsPerAddressMax: number
  /** New connections that one such client may make a minute, and as many at once after a rest; 0 is no limit. */
  connectionsPerMinuteMax: number
  /** Whether these hold for this machine itself: a proxy or a test brings everybody's connections from there. */
  isLoopbackLimited: boolean
  connectionsMax: number
}

export const defaultLimits: Limits = {
  commandBytesMax: 1_000,
  commandSkipBytesMax: 16_384,
  recipientsMax: 100,
  errorsMax: 10,
  refusedRecipientsMax: 100,
  errorDelayMs: 1_000,
  headerBytesMax: 256 * 1024,
  headerLinesMax: 1_000,
  hopsMax: 50,
  lineBytesMax: 100 * 1024,
  discardBytesMax: 8 * 1024 * 1024,
  memoryBytesMax: 256 * 1024 * 1024,
  greetingDelayMs: 0,
  commandTimeoutMs: 300_000,
  dataTimeoutMs: 180_000,
  dataBytesPerSecondMin: 100,
  sessionTimeoutMs: 1_800_000,
  lingerMs: 2_000,
  connectionsPerAddressMax: 20,
  connectionsPerMinuteMax: 300,
  isLoopbackLimited: true,
  connectionsMax: 1_000,
}
