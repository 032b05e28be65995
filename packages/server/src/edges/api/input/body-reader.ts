// Reads the body of a request, within the size limit of the operation and the memory limits of its key, its organization and the server.
import type { IncomingMessage } from 'node:http'
import type { FastifyRequest } from 'fastify'
import { ByteBudget, type Owner } from '../../../core/byte-budget.ts'
import { type Caller, limitIdOf } from '../../../core/caller.ts'
import { clientGroup } from '../../../core/client-address.ts'
import { ApiError } from '../../../core/errors.ts'
import { shareThread } from '../../../core/turn.ts'
import { payloadTooLarge } from '../failure.ts'
import { parseBody, parseInTurns } from './body-check.ts'

/** Memory limits, in bytes, for the bodies of all requests in flight. A body above a limit gets 503. */
const allBytesMax = 512 * 1024 * 1024
/** A part of it, so that a few organizations together leave room for others. */
const organizationBytesMax = 128 * 1024 * 1024
/** A part of that, with room for two bodies of the largest size. */
const keyBytesMax = 96 * 1024 * 1024
/** All requests without a key, which anyone can send, and those of one client address. The rest is kept for keys. */
const keylessBytesMax = 64 * 1024 * 1024
const addressBytesMax = 32 * 1024 * 1024

/** The first bytes of a body are not counted, because the number of connections limits them. Small requests therefore always pass. */
const uncountedBytes = 64 * 1024

const memory = new ByteBudget(allBytesMax)

export const tooMany = (): ApiError =>
  new ApiError('unavailable', 'Too many large requests at once. Try again in a few seconds.', { headers: { 'Retry-After': '2' } })

/** The memory of one body as it arrives, until `close`. */
export class BodyMemory {
  /** Its organization, or the address of a client without a key. They take turns. */
  readonly owner: string
  readonly #owners: Owner[]
  #counted = 0
  #isClosed = false

  constructor(caller: Caller | null, address: string | undefined) {
    this.owner = caller?.organizationId ?? clientGroup(address)
    this.#owners = caller
      ? [
          { name: `key ${limitIdOf(caller)}`, bytesMax: keyBytesMax },
          { name: `organization ${caller.organizationId}`, bytesMax: organizationBytesMax },
        ]
      : [
          { name: 'without a key', bytesMax: keylessBytesMax },
          { name: `address ${clientGroup(address)}`, bytesMax: addressBytesMax },
        ]
  }

  /** Gives the bytes back. Called when the response is complete or broken off. */
  close(): void {
    this.giveBack()
    this.#isClosed = true
  }

  /** The refusal of an announced length that does not fit now, so that it is not sent in vain. Nothing is reserved for it. */
  refuseUnfit(announced: number): ApiError | undefined {
    return announced > uncountedBytes && !memory.fits(announced - uncountedBytes, this.#owners) ? tooMany() : undefined
  }

  /** Counts the bytes that have arrived so far. Returns false when they exceed a limit. */
  count(arrived: number): boolean {
    const bytes = arrived - uncountedBytes - this.#counted
    if (bytes <= 0 || this.#isClosed) return true
    if (!memory.take(bytes, this.#owners)) return false
    this.#counted += bytes
    return true
  }

  giveBack(): void {
    memory.give(this.#counted, this.#owners)
    this.#counted = 0
  }
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
  const bodyMemory = request.bodyMemory as BodyMemory

  const onData = (chunk: Buffer): void => {
    size += chunk.length
    // Node discards the rest once the response is sent.
    if (size > bytesMax) refuse(payloadTooLarge(bytesMax))
    else if (!bodyMemory.count(size)) refuse(tooMany())
    else chunks.push(chunk)
  }
  const refuse = (error: ApiError): void => {
    chunks.length = 0
    bodyMemory.giveBack()
    finish(error)
  }
  const onEnd = (): void => {
    payload.off('close', onCut)
    if (size === 0) finish(undefined)
    else if (request.isBodyRaw) finish(Buffer.concat(chunks, size))
    else if (size <= uncountedBytes) finish(parsed(Buffer.concat(chunks, size)))
    // Parsing a large body takes longer than small requests of others should wait.
    else parseInTurns(chunks, (step) => shareThread(bodyMemory.owner, step)).then(finish, finish)
  }
  const onCut = (): void => finish(new ApiError('validation_error', 'The body is shorter than its Content-Length.'))
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

/** The value of a body, or the error of its form. */
function parsed(bytes: Buffer): unknown {
  try {
    return parseBody(bytes)
  } catch (error) {
    return error
  }
}

/** A broken connection is reported by `close` as well. */
const ignore = (): void => {}
