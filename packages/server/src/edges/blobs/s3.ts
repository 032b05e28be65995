// Large bytes as objects of an S3-compatible store, over plain signed HTTP.
import { createHash } from 'node:crypto'
import { Readable } from 'node:stream'
import { setTimeout as delay } from 'node:timers/promises'
import { AwsV4Signer } from 'aws4fetch'
import type { Agent, Dispatcher } from 'undici'
import { BlobMissing, type Blobs, BlobsUnavailable } from '../../core/blobs.ts'
import { nowMs } from '../../core/clock.ts'
import { checkBlobKey, checkBlobRange, isBlobKey } from './key.ts'
import { element, elements, failureOf, isTemporary, type S3Call, S3Failure, textOf } from './s3-answers.ts'
import { askChecksum, checksumHeader, verifyChecksum } from './s3-checksum.ts'
import { createMultipart, partBytes } from './s3-multipart.ts'

/**
 * `endpoint` is a base URL such as `http://minio:9000`. Without one, AWS in `region` is used. `prefix` may be empty. `pathStyle` puts the
 * bucket into the path instead of the host name, which most stores other than AWS need.
 */
export type S3Options = {
  bucket: string
  prefix: string
  region: string
  accessKeyId: string
  secretAccessKey: string
  sessionToken?: string | undefined
  endpoint?: string | undefined
  pathStyle: boolean
  /** Per attempt, up to the head of the response, and again between two chunks of its body. */
  timeoutMs?: number
}

// One attempt and three retries, with about 1.5 s of delay in total. The calling jobs are retried later.
const retryDelaysMs = [100, 400, 1000]

/** Blobs in one bucket under one prefix. Every operation is idempotent, so 5xx, 429 and broken connections are retried. */
export function createS3Blobs(options: S3Options): Blobs {
  const { bucket, region, accessKeyId, secretAccessKey, sessionToken, pathStyle, timeoutMs = 30_000 } = options
  const prefix = options.prefix === '' || options.prefix.endsWith('/') ? options.prefix : `${options.prefix}/`
  const base = new URL(options.endpoint ?? `https://s3.${region}.amazonaws.com`)
  if (!pathStyle) base.hostname = `${bucket}.${base.hostname}`
  const basePath = `${base.pathname.replace(/\/$/, '')}/${pathStyle ? `${bucket}/` : ''}`
  /** Opened at the first request, because undici takes 6 MB and a server with blobs on disk does not need it. */
  let agent: Agent | null = null
  const agentOptions: Agent.Options = {
    connectTimeout: Math.min(timeoutMs, 10_000),
    headersTimeout: timeoutMs,
    bodyTimeout: timeoutMs,
    allowH2: false,
  }
  const signingKeys = new Map<string, ArrayBuffer>()

  async function attempt({ method, key, query = {}, headers = {}, body }: S3Call): Promise<Dispatcher.ResponseData> {
    const url = new URL(base)
    url.pathname = basePath + (key && encodeURI(prefix + key))
    for (const [name, value] of Object.entries(query)) url.searchParams.set(name, value)
    const signed = await new AwsV4Signer({
      method,
      url: url.href,
      // Signed for this body, so that the store refuses a damaged one.
      headers: {
        ...headers,
        'x-amz-content-sha256': createHash('sha256')
          .update(body ?? '')
          .digest('hex'),
      },
      accessKeyId,
      secretAccessKey,
      ...(sessionToken === undefined ? {} : { sessionToken }),
      service: 's3',
      region,
      cache: signingKeys,
    }).sign()
    const undici = await import('undici')
    agent ??= new undici.Agent(agentOptions)
    return await undici.request(signed.url, { method, headers: Object.fromEntries(signed.headers), body: body ?? null, dispatcher: agent })
  }

  /**
   * The first response that is not a failure of the store, or the last failure. The caller must read or dump the body of a returned
   * response.
   */
  async function call(given: S3Call): Promise<Dispatcher.ResponseData> {
    for (let tries = 0; ; tries++) {
      const waitMs = retryDelaysMs[tries]
      try {
        const answer = await attempt(given)
        if (waitMs === undefined || !isTemporary(answer)) return answer
        await answer.body.dump()
      } catch (error) {
        if (!isConnectionFailure(error)) throw error
        if (waitMs === undefined)
          throw new BlobsUnavailable(`the S3 store cannot be reached: ${(error as Error).message}`, { cause: error })
      }
      // Jitter, so that many writers do not retry at once.
      await delay(waitMs * (0.5 + Math.random()))
    }
  }

  /** The response to a read, or null for a range after the end. */
  async function read(key: string, range?: { start: number; end: number }): Promise<Dispatcher.ResponseData | null> {
    checkBlobKey(key)
    checkBlobRange(range)
    // HTTP has no empty range. One byte is requested, so that a missing object is noticed.
    const isEmpty = range !== undefined && range.start === range.end
    const headers = range ? { range: `bytes=${range.start}-${isEmpty ? range.start : range.end - 1}` } : askChecksum
    const answer = await call({ method: 'GET', key, headers })
    const isFound = answer.statusCode === (range ? 206 : 200)
    if (isFound && !isEmpty) return answer
    if (isFound || (range && answer.statusCode === 416)) {
      await answer.body.dump()
      return null
    }
    const failure = await failureOf('GET', answer)
    throw failure instanceof S3Failure && failure.code === 'NoSuchKey' ? new BlobMissing(`no blob ${key}`) : failure
  }

  const multipart = createMultipart(call, prefix)

  return {
    async put(key, bytes) {
      checkBlobKey(key)
      if (bytes.length > partBytes) return multipart.put(key, bytes)
      const answer = await call({ method: 'PUT', key, headers: checksumHeader(bytes), body: bytes })
      if (answer.statusCode !== 200) throw await failureOf('PUT', answer)
      await answer.body.dump()
    },

    async get(key, range) {
      for (let tries = 0; ; tries++) {
        const answer = await read(key, range)
        if (!answer) return Buffer.alloc(0)
        try {
          const bytes = Buffer.from(await answer.body.arrayBuffer())
          if (range === undefined) verifyChecksum(key, bytes, answer.headers)
          return bytes
        } catch (error) {
          // The connection broke inside the body.
          if (tries === 1 || !isConnectionFailure(error)) throw error
        }
      }
    },

    async stream(key, range) {
      return (await read(key, range))?.body ?? Readable.from([])
    },

    async delete(key) {
      checkBlobKey(key)
      const answer = await call({ method: 'DELETE', key })
      if (answer.statusCode !== 204 && answer.statusCode !== 200 && answer.statusCode !== 404) throw await failureOf('DELETE', answer)
      await answer.body.dump()
    },

    async *list(olderThanMs) {
      await multipart.sweep()
      const writtenBeforeMs = nowMs() - olderThanMs
      for (let token: string | undefined, isFirst = true; isFirst || token !== undefined; isFirst = false) {
        const query = { 'list-type': '2', prefix, ...(token !== undefined && { 'continuation-token': token }) }
        const answer = await call({ method: 'GET', key: '', query })
        if (answer.statusCode !== 200) throw await failureOf('LIST', answer)
        const page = await textOf(answer)
        for (const content of elements(page, 'Contents')) {
          const key = element(content, 'Key')?.slice(prefix.length)
          const writtenMs = Date.parse(element(content, 'LastModified') ?? '')
          if (key !== undefined && isBlobKey(key) && writtenMs < writtenBeforeMs) yield key
        }
        token = element(page, 'IsTruncated') === 'true' ? element(page, 'NextContinuationToken') : undefined
      }
    },
  }
}

const connectionErrors =
  /^(ECONNREFUSED|ECONNRESET|EPIPE|ETIMEDOUT|EAI_AGAIN|ENETUNREACH|EHOSTUNREACH|UND_ERR_SOCKET|UND_ERR_CONNECT_TIMEOUT|UND_ERR_HEADERS_TIMEOUT|UND_ERR_BODY_TIMEOUT)$/

function isConnectionFailure(error: unknown): boolean {
  if (error instanceof AggregateError) return error.errors.some(isConnectionFailure)
  return error instanceof Error && 'code' in error && connectionErrors.test(String(error.code))
}
