// Reads the body of a request, within the size limit of the operation and the memory limit of all bodies together.
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { FastifyRequest } from 'fastify'
import { ApiError } from '../../core/errors.ts'
import { parseBody } from './body-check.ts'
import { payloadTooLarge } from './failure.ts'

/** Memory limit, in bytes, for the bodies of all requests in flight. Above it large bodies get 503. */
const bytesInFlightMax = 512 * 1024 * 1024

/** Bodies up to this size are not counted, because the number of connections limits them. */
const uncountedBytesMax = 1024 * 1024

let bytesInFlight = 0

/**
 * Reserves memory for a body until the response is complete: the announced length, or the maximum. Throws 503 when the limit is reached,
 * before anything is read.
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
 * Fastify's content type parser for every type. A body that is refused arrives as the ApiError, and validation throws it.
 * An error passed to `done` would make Fastify close the connection of a client that is still sending, which would lose the response.
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
    // Node discards the rest once the response is sent.
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

/** A broken connection is reported by `close` as well. */
const ignore = (): void => {}
