// The HTTP interface of features, which fetches addresses supplied by callers through the one outbound guard.

/** Headers that authorize a download. They are sent to this origin only, and dropped on a redirect to another. */
export type FileAccess = { origin: string; headers: Record<string, string> }

export type FetchedFile = { bytes: Buffer; contentType: string }

/** The kind of failure, for attempt logs that programs read. */
export type FetchFailure =
  | 'invalid_url'
  | 'blocked_address'
  | 'dns'
  | 'connect_refused'
  | 'connect_timeout'
  | 'connection_lost'
  | 'tls_expired'
  | 'tls_hostname'
  | 'tls_untrusted'
  | 'tls_failed'
  | 'timeout'
  | 'too_large'
  | 'bad_response'

/** A refused or failed fetch. Its message is for the caller and never contains a resolved address. */
export class FetchRefused extends Error {
  override name = 'FetchRefused'
  readonly failure: FetchFailure

  constructor(message: string, failure: FetchFailure = 'bad_response') {
    super(message)
    this.failure = failure
  }
}

export interface Web {
  /**
   * Downloads a file over http(s), without credentials and from public addresses only. The literal, every resolved address and the
   * connected peer are checked.
   * Follows at most `redirectsMax` redirects (3 by default), with the same checks for each. Rejects with FetchRefused, whose message may be
   * shown to the caller.
   */
  fetchFile(
    url: string,
    limits: { bytesMax: number; timeoutMs: number; access?: FileAccess | null; redirectsMax?: number },
  ): Promise<FetchedFile>
}

/** Result of one POST. `message` may be shown to the caller. */
export type PostResult =
  | { kind: 'answered'; status: number; retryAfter: string | null; snippet: string; durationMs: number }
  | { kind: 'failed'; failure: FetchFailure; message: string; durationMs: number }

export interface GuardedPost {
  /** The error in an address as text, before any name is resolved, or null when it may be tried. */
  findUrlProblem(url: string): FetchRefused | null
  /**
   * Sends one POST to an address supplied by a caller, through the same guard as fetchFile. Redirects are results and are not followed.
   * Every failure of the address or the server is a result, never a rejection.
   * With `keepAlive` the connection may be a checked one that is reused, for many posts to one server. `snippet` holds at most
   * `snippetBytesMax` bytes of the answer, as text that a database can store.
   */
  post(
    url: string,
    request: { headers: Record<string, string>; body: Buffer; timeoutMs: number; snippetBytesMax: number; keepAlive?: boolean },
  ): Promise<PostResult>
}
