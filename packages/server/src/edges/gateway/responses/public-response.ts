// The part of a response that proxied requests use. Node's ServerResponse and BareResponse implement it.

/** Bytes up to which copying a chunk next to its head is cheaper than a separate write. */
export const joinedBytesMax = 8 * 1024

export type PublicResponse = {
  /** Set to false before the head to close the connection after this response. */
  shouldKeepAlive: boolean
  readonly headersSent: boolean
  /** True while the public client reads too slowly. `onPublicDrain` of the proxied request follows. */
  readonly writableNeedDrain: boolean
  readonly writableEnded: boolean
  /** The socket, or null while an earlier response on the connection is unfinished. */
  readonly socket: { write(text: string, encoding: 'latin1'): boolean } | null
  /** `headers` alternates names and values. */
  writeHead(status: number, reason: string, headers: string[]): unknown
  /** Sends the head before the first bytes of the body. */
  flushHeaders(): void
  write(bytes: Buffer): boolean
  end(): unknown
  /** Ends the response with its last bytes. Small ones are passed as text, to be sent in one write with the head. */
  end(last: Buffer): unknown
  end(last: string, encoding: 'latin1'): unknown
  addTrailers(trailers: [string, string][]): void
  writeContinue(): void
  destroy(): unknown
}

/** Events of a public connection. */
export type PublicConnectionEvents = {
  /** The connection is closed, whether or not the response was complete. */
  onPublicClose(): void
  /** The socket has drained. */
  onPublicDrain(): void
}
