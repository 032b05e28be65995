// Reads the body of a request, within the size that the operation takes and the memory that all bodies together may take.
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { FastifyRequest } from 'fastify'
import { ApiError } from '../../core/errors.ts'
import { parseBody } from './body-check.ts'
import { payloadTooLarge } from './failure.ts'

/** What the bodies of all requests in flight may take together, in bytes; beyond it large bodies are answered 503. */
const bytesInFlightMax = 512 * 1024 * 1024

/** Bodies up to this size are not counted: the number of connections bounds them. */
const uncountedBytesMax = 1024 * 1024

let bytesInFlight = 0

/**
 * Sets memory for a body aside until the response is over: the length that the client announced, or the most it may send. Throws 503
 * when there is no room, before anything is read.
 */
export function reserveMemory(announced: number | null, bytesMax: number, response: ServerResponse): void {
  const bytes = announced ?? bytesMax
  if (bytes <= uncountedBytesMax) return
  if (bytesInFlight + bytes > bytesInFlightMax) {
    throw new ApiError('unavailable', 'Too many large requests at once. Try again in a few seconds.', { headers: { 'Retry-After': '2' } })
  }
  bytesInFlight += bytes
  response.once('close', () => {
    bytesInFlight -= bytes
  })
}

/**
 * Fastify's content type parser for every type. A body that cannot be taken arrives as the ApiError that says why, and validation throws it:
 * an error given to `done` would make Fastify close the connection under a client that is still sending, and the answer would be lost.
 */
export function readBody(request: FastifyRequest, payload: IncomingMessage, done: (error: Error | null, body?: unknown) => void): void {
  const bytesMax = request.bodyBytesMax
  if (bytesMax === 0) {
    done(null, undefined)
    return
  }
  const chunks: Buffer[] = []
  let size = 0

  const onData = (chunk: Buffer): void => {
    size += chunk.length
    if (size <= bytesMax) chunks.push(chunk)
    // Node discards the rest once the answer is out.
    else finish(payloadTooLarge(bytesMax))
  }
  const onEnd = (): void => {
    const bytes = chunks.length === 1 ? (chunks[0] as Buffer) : Buffer.concat(chunks, size)
    if (bytes.length === 0 || request.isBodyRaw) {
      finish(bytes.length === 0 ? undefined : bytes)
      return
    }
    try {
      finish(parseBody(bytes))
    } catch (error) {
      finish(error)
    }
  }
  const onCut = (): void => finish(new ApiError('validation_error', 'The body ended before its announced length.'))
  const finish = (body: unknown): void => {
    payload.off('data', onData)
    payload.off('end', onEnd)
    payload.off('close', onCut)
    done(null, body)
  }
  payload.on('data', onData)
  payload.on('end', onEnd)
  payload.on('close', onCut)
  payload.on('error', ignore)
}

/** A cut connection is reported by `close` as well. */
const ignore = (): void => {}
