// Stores the first response of an Idempotency-Key in the transaction of its effect, and returns it for every repetition.
import { createHash, type Hash } from 'node:crypto'
import type { Operation } from '@callsign/contract/operation'
import { accessIdOf, type Caller } from '../../core/caller.ts'
import { ApiError } from '../../core/errors.ts'
import type { ReplayScope, Replays, StoredAnswer } from '../../core/replay.ts'
import type { Transact } from '../../core/sql.ts'

/** A response with its exact text, which is empty for 204. */
export type Answer = { status: number; body: string; isReplay: boolean }

/** Milliseconds that keys are kept. Callers of the store's `sweep` use this value. */
export const keptMs = 7 * 24 * 60 * 60 * 1000

/** A longer path is stored as its hash, because the database limits the size of a key. */
const pathCharactersMax = 500

const inProgress = (): ApiError =>
  new ApiError('idempotency_in_progress', 'A request with this Idempotency-Key is still running. Retry in a moment.', {
    headers: { 'Retry-After': '1' },
  })

/** The key of this request, or null without the header. Throws 400 when it is malformed. */
export function readKey(header: string | string[] | undefined): string | null {
  if (header === undefined) return null
  if (typeof header !== 'string' || !/^[\x20-\x7e]{1,255}$/.test(header)) {
    throw new ApiError('validation_error', 'Idempotency-Key must be 1 to 255 printable ASCII characters.')
  }
  return header
}

/**
 * The scope of the key. The path is built from the pattern and the parameters, so that two spellings of one path are equal.
 * An agent has its own scope, and so have several agents of one key. Otherwise its key could see the answer to a request for another agent, or that there was one. Where the answer
 * holds a secret, each API key has its own scope.
 */
export function scopeOf(caller: Caller, shape: ScopedOperation, params: Record<string, string>, key: string): ReplayScope {
  const concrete = shape.path.replace(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(params[name] ?? ''))
  const path = concrete.length <= pathCharactersMax ? concrete : `sha256:${createHash('sha256').update(concrete).digest('hex')}`
  const owner = shape.hasSecretReply ? accessIdOf(caller) : caller.agents?.map((agent) => agent.identityId).join('+')
  return { organizationId: caller.organizationId, method: shape.method, path: owner === undefined ? path : `${path}#${owner}`, key }
}

type ScopedOperation = Pick<Operation, 'method' | 'path' | 'hasSecretReply'>

/** SHA-256 over the body's JSON with sorted fields, because a client may send them in another order the second time. */
export function hashBody(body: unknown): Buffer {
  const hash = createHash('sha256')
  hashValue(hash, body)
  return hash.digest()
}

function hashValue(hash: Hash, value: unknown): void {
  if (Array.isArray(value)) {
    hash.update('[')
    for (const item of value) {
      hashValue(hash, item)
      hash.update(',')
    }
    hash.update(']')
  } else if (typeof value === 'object' && value !== null) {
    hash.update('{')
    for (const name of Object.keys(value).sort()) {
      hash.update(`${JSON.stringify(name)}:`)
      hashValue(hash, (value as Record<string, unknown>)[name])
      hash.update(',')
    }
    hash.update('}')
  } else {
    hash.update(JSON.stringify(value) ?? 'null')
  }
}

/** Rolls the transaction back because another request has committed the answer meanwhile. */
class Overtaken extends Error {
  override name = 'Overtaken'
}

type Attempt = {
  scope: ReplayScope
  bodyHash: Buffer
  status: number
  /** The text of a result as sent. */
  serialize: (result: unknown) => string
  /** The operation. It gets the transaction function that claims the key and stores the answer. */
  run: (transact: Transact) => Promise<unknown>
}

/** Runs operations at most once per key. */
export function createOnce(replays: Replays, transact: Transact): (attempt: Attempt) => Promise<Answer> {
  const running = new Set<string>()

  const replay = (stored: StoredAnswer, bodyHash: Buffer): Answer => {
    if (!stored.bodyHash.equals(bodyHash)) {
      throw new ApiError('idempotency_key_reused', 'This Idempotency-Key was used with another body. Send a new key with a new request.')
    }
    return { status: stored.status, body: stored.body, isReplay: true }
  }

  const runFirst = async ({ scope, bodyHash, status, serialize, run }: Attempt): Promise<Answer> => {
    let kept: string | null = null
    const transactOnce: Transact = (work) => {
      if (kept !== null) throw new Error('An idempotent operation has to make its effect in one transaction.')
      return transact(async (tx) => {
        const claim = await replays.claim(tx, scope, bodyHash)
        if (claim === 'taken') throw new Overtaken()
        if (claim === 'running') throw inProgress()
        const result = await work(tx)
        // Set again when the transaction is retried, because the last try is the one that commits.
        kept = serialize(result)
        await replays.store(tx, scope, status, kept)
        return result
      })
    }
    const result = await run(transactOnce)
    return { status, body: kept ?? serialize(result), isReplay: false }
  }

  return async (attempt) => {
    const { scope, bodyHash } = attempt
    const name = JSON.stringify([scope.organizationId, scope.method, scope.path, scope.key])
    if (running.has(name)) throw inProgress()
    running.add(name)
    try {
      const stored = await replays.find(scope)
      if (stored) return replay(stored, bodyHash)
      try {
        return await runFirst(attempt)
      } catch (error) {
        if (!(error instanceof Overtaken || error instanceof ApiError)) throw error
        // Checked again, because the first attempt may have committed since: the database still completes statements of a killed server.
        // A refusal may then only be a consequence of that attempt, such as a draft that is already sent.
        const meanwhile = await replays.find(scope)
        if (meanwhile) return replay(meanwhile, bodyHash)
        throw error instanceof Overtaken ? inProgress() : error
      }
    } finally {
      running.delete(name)
    }
  }
}
