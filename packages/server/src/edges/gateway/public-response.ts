// What a visitor is answered with, as far as an exchange needs it: Node's ServerResponse has it, and so has BareResponse.

/** A piece up to this size is cheaper copied beside its head or framing than handed to the system apart from it. */
export const joinedBytesMax = 8 * 1024

export type VisitorResponse = {
  /** Set to false before the head: the connection ends with this answer. */
  shouldKeepAlive: boolean
  readonly headersSent: boolean
  /** True while the visitor reads no faster; `visitorReady` of its exchange follows. */
  readonly writableNeedDrain: boolean
  readonly writableEnded: boolean
  /** The socket, once this answer's turn on it has come. */
  readonly socket: { write(text: string, encoding: 'latin1'): boolean } | null
  /** `headers` are names and values by turns. */
  writeHead(status: number, reason: string, headers: string[]): unknown
  /** Sends the head without waiting for a body. */
  flushHeaders(): void
  write(bytes: Buffer): boolean
  end(): unknown
  /** With the last bytes; as text when they are few, to go out in one piece with the head. */
  end(last: Buffer): unknown
  end(last: string, encoding: 'latin1'): unknown
  addTrailers(trailers: [string, string][]): void
  writeContinue(): void
  destroy(): unknown
}

/** Whom a visitor's connection tells what happens to it. */
export type VisitorEvents = {
  /** The connection is closed, whether the answer was whole or not. */
  visitorGone(): void
  /** There is room again. */
  visitorReady(): void
}
