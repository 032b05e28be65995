// Collects the response to a POST in a bounded buffer, without the stream and the promises that `client.request` makes for each.
import type { Client, Dispatcher } from 'undici'
import { FetchRefused } from '../../core/web.ts'

type Headers = Dispatcher.ResponseData['headers']

/** A response. `isWhole` is false when it broke off behind its headers, or was cut at the maximum. Its connection is then unusable. */
export type PostAnswer = { status: number; headers: Headers; bytes: Buffer; isWhole: boolean }

const firstBytes = 2048
const none = Buffer.alloc(0)

/** One growing buffer. A list of chunks would let a sender of one-byte chunks use a hundred times the limit in objects. */
export class BoundedBytes {
  readonly #bytesMax: number
  #held = none
  #length = 0

  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax
  }

  /** Appends a copy. Returns false when the chunk exceeds the maximum, and keeps the part up to it. */
  append(chunk: Buffer): boolean {
    const taken = Math.min(chunk.length, this.#bytesMax - this.#length)
    if (this.#length + taken > this.#held.length) {
      const larger = Buffer.allocUnsafe(Math.min(this.#bytesMax, Math.max(this.#held.length * 2, this.#length + taken, firstBytes)))
      this.#held.copy(larger, 0, 0, this.#length)
      this.#held = larger
    }
    chunk.copy(this.#held, this.#length, 0, taken)
    this.#length += taken
    return taken === chunk.length
  }

  get bytes(): Buffer {
    return this.#held.subarray(0, this.#length)
  }
}

/**
 * Sends a request and resolves with its response. Rejects when the connection ends before the response's headers. The status decides, so a body that
 * breaks off later does not change the result.
 */
export function receivePost(client: Client, options: Dispatcher.DispatchOptions, bytesMax: number): Promise<PostAnswer> {
  return new Promise((resolve, reject) => {
    const body = new BoundedBytes(bytesMax)
    let status = 0
    let headers: Headers = {}
    const finish = (isWhole: boolean): void => resolve({ status, headers, bytes: body.bytes, isWhole })
    client.dispatch(options, {
      onRequestStart() {},
      onResponseStart(_controller, code, fields) {
        // Interim responses come first (RFC 9110 §15.2).
        if (code < 200) return
        status = code
        headers = fields
      },
      onResponseData(controller, chunk) {
        if (body.append(chunk)) return
        finish(false)
        controller.abort(new FetchRefused('The answer is too long.', 'too_large'))
      },
      onResponseEnd: () => finish(true),
      onResponseError(_controller, error) {
        if (status === 0) reject(error)
        else finish(false)
      },
    })
  })
}
