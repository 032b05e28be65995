// Records a request as it passes: always sizes and times, and headers and the start of bodies when the tunnel captures them.
import { now } from '../../../core/clock.ts'
import { newId } from '../../../core/ids.ts'
import {
  capturedBytesMax,
  type HeaderPairs,
  pathCharactersMax,
  type RequestRecord,
  type TunnelRoute,
} from '../../../features/tunnels/model.ts'
import { pairsOf, type RequestHead } from '../requests/request-head.ts'
import { BufferedBytes } from '../responses/buffered-bytes.ts'

class CapturedBody {
  readonly #bytes = new BufferedBytes()
  isWhole = true

  add(piece: Buffer): void {
    const room = capturedBytesMax - this.#bytes.size
    if (piece.length > room) this.isWhole = false
    if (room > 0) this.#bytes.add(piece.subarray(0, room))
  }

  /** A copy of exactly the recorded size, because the record may wait before it is stored. */
  take(): Buffer {
    return Buffer.from(this.#bytes.take())
  }
}

export class ProxiedRequestRecorder {
  readonly #route: TunnelRoute
  readonly #head: RequestHead
  readonly #startedMs = performance.now()
  readonly #at = now()
  readonly #requestBody: CapturedBody | null
  readonly #responseBody: CapturedBody | null
  #requestBytes = 0
  #isRequestWhole: boolean
  #responseBytes = 0
  #status: number | null = null
  #responseHeaders: HeaderPairs | null = null
  readonly #replayOf: string | null

  constructor(route: TunnelRoute, head: RequestHead, replayOf: string | null = null) {
    this.#replayOf = replayOf
    this.#route = route
    this.#head = head
    this.#isRequestWhole = head.fields.body === 'none'
    const keepsBodies = route.capture === 'bodies'
    this.#requestBody = keepsBodies ? new CapturedBody() : null
    this.#responseBody = keepsBodies ? new CapturedBody() : null
  }

  addRequestBody(piece: Buffer): void {
    this.#requestBytes += piece.length
    this.#requestBody?.add(piece)
  }

  /** The request body is complete. */
  requestEnded(): void {
    this.#isRequestWhole = true
  }

  addResponseBody(piece: Buffer): void {
    this.#responseBytes += piece.length
    this.#responseBody?.add(piece)
  }

  answered(head: { status: number; headers: string[] }): void {
    this.#status = head.status
    if (this.#route.capture !== 'off') this.#responseHeaders = pairsOf(head.headers)
  }

  /** The gateway answers in place of the target. */
  refused(status: number): void {
    this.#status = status
    this.#responseHeaders = null
  }

  /** Completes the record. `error` is the code of a failure on the way, or null when the whole response was sent. */
  finish(error: string | null): RequestRecord {
    return {
      id: newId('tunnelRequest'),
      organizationId: this.#route.organizationId,
      tunnelId: this.#route.id,
      method: this.#head.method,
      path: this.#head.target.slice(0, pathCharactersMax),
      status: this.#status,
      error,
      remoteAddress: this.#head.fields.publicAddress,
      requestBytes: this.#requestBytes,
      responseBytes: this.#responseBytes,
      durationMs: Math.round(performance.now() - this.#startedMs),
      replayOf: this.#replayOf,
      captured:
        this.#route.capture === 'off'
          ? null
          : {
              requestHeaders: pairsOf(this.#head.fields.raw),
              responseHeaders: this.#responseHeaders,
              requestBody: this.#requestBody?.take() ?? null,
              responseBody: this.#responseBody?.take() ?? null,
              isRequestBodyWhole: this.#isRequestWhole && (this.#requestBody ? this.#requestBody.isWhole : this.#requestBytes === 0),
              isResponseBodyWhole: this.#responseBody ? this.#responseBody.isWhole && error === null : this.#responseBytes === 0,
            },
      at: this.#at,
    }
  }

  /** The report for the client. */
  report(record: RequestRecord): Record<string, unknown> {
    return {
      at: record.at.toISOString(),
      method: record.method,
      path: record.path,
      status: record.status,
      error: record.error,
      duration_ms: record.durationMs,
      request_bytes: record.requestBytes,
      response_bytes: record.responseBytes,
      remote_address: record.remoteAddress,
    }
  }
}
