// Every limit of an SMTP session, with its default.

/** Sizes are in octets, times in milliseconds. */
export type Limits = {
  /** Command line with its CRLF. RFC 5321 §4.5.3.1.4 requires 512 plus the octets of extensions. */
  commandBytesMax: number
  /** Octets of an over-long command line that are skipped before the connection is closed. */
  commandSkipBytesMax: number
  recipientsMax: number
  /** Protocol errors since the last accepted message. One more ends the session. */
  errorsMax: number
  /** Refused recipients per session. More than one full transaction of them is a dictionary attack. */
  refusedRecipientsMax: number
  /** Delay of each error reply after the first five. 0 disables it. */
  errorDelayMs: number
  headerBytesMax: number
  headerLinesMax: number
  /** Received fields of a message. */
  hopsMax: number
  /** One line of message data without its CRLF. */
  lineBytesMax: number
  /** Octets of a refused message that are read to its end, so that the client gets the reply and keeps its connection. */
  discardBytesMax: number
  /** Message data held by all sessions together. Above it new data gets 452. */
  memoryBytesMax: number
  /** The same for the sessions of one IPv4 address or IPv6 /64. */
  memoryPerAddressBytesMax: number
  /** Wait of a complete message for memory, before it gets 452. */
  memoryWaitMs: number
  /** Octets of messages in transfer on the disk, of all sessions, and of those of one address. Above them new data gets 452. */
  spoolBytesMax: number
  spoolPerAddressBytesMax: number
  /** Wait before the greeting, to catch clients that send first. With 0 only bytes that arrived with the connection are caught. */
  greetingDelayMs: number
  commandTimeoutMs: number
  /** Window for the minimum rate of data. */
  dataTimeoutMs: number
  dataBytesPerSecondMin: number
  /** Time for the data of one message. Checked once per window. */
  dataTotalMs: number
  /** After this time the session ends at the next message boundary, and after twice the time at any point. */
  sessionTimeoutMs: number
  /** Milliseconds that a closed connection may take to read the last reply. */
  lingerMs: number
  /** Per IPv4 address or IPv6 /64. 0 disables the limit. */
  connectionsPerAddressMax: number
  /** New connections per minute per such client, and burst after a pause. 0 disables the limit. */
  connectionsPerMinuteMax: number
  /** True when the limits per address apply to this machine itself. A proxy or a test brings every client's connections from there. */
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
  memoryPerAddressBytesMax: 64 * 1024 * 1024,
  memoryWaitMs: 30_000,
  spoolBytesMax: 4 * 1024 * 1024 * 1024,
  spoolPerAddressBytesMax: 512 * 1024 * 1024,
  greetingDelayMs: 0,
  commandTimeoutMs: 300_000,
  dataTimeoutMs: 180_000,
  dataBytesPerSecondMin: 100,
  dataTotalMs: 900_000,
  sessionTimeoutMs: 1_800_000,
  lingerMs: 2_000,
  connectionsPerAddressMax: 20,
  connectionsPerMinuteMax: 300,
  isLoopbackLimited: true,
  connectionsMax: 1_000,
}
