// What a feature may ask of the web: fetching an address that a caller supplied, through the one outbound guard.

/** Headers that open a file to us. They go to this origin alone: a redirect elsewhere goes without them. */
export type FileAccess = { origin: string; headers: Record<string, string> }

export type FetchedFile = { bytes: Buffer; contentType: string }

/** What kind of failure it was, for attempt logs that programs read. */
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

/** Why a fetch was refused or failed, in words for the caller; the words never hold a resolved address. */
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
   * Downloads a file: http(s) only, no credentials, public addresses only (the literal, every resolved address and the connected peer),
   * at most `redirectsMax` redirects (3 unless given), each checked again. Rejects with FetchRefused, whose message may be shown to the caller.
   */
  fetchFile(
    url: string,
    limits: { bytesMax: number; timeoutMs: number; access?: FileAccess | null; redirectsMax?: number },
  ): Promise<FetchedFile>
}

/** How one POST ended; `message` may be shown to the caller. */
export type PostResult =
  | { kind: 'answered'; status: number; retryAfter: string | null; snippet: string; durationMs: number }
  | { kind: 'failed'; failure: FetchFailure; message: string; durationMs: number }

export interface GuardedPost {
  /** What is wrong with an address by its text alone, before any name is looked up; null when it may be tried. */
  findUrlProblem(url: string): FetchRefused | null
  /**
   * One POST to an address that a caller supplied, through the same guard as fetchFile; redirects are answers like any other and never followed.
   * Whatever the address or the server does is a result, never a rejection. With `keepAlive` the connection may be one that was checked and used
   * before, and may be used again: for many posts to one server. `snippet` is at most `snippetBytesMax` bytes of the answer as text that a database can hold.
   */
  post(
    url: string,
    request: { headers: Record<string, string>; body: Buffer; timeoutMs: number; snippetBytesMax: number; keepAlive?: boolean },
  ): Promise<PostResult>
}
