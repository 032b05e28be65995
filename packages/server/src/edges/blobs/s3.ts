// Large bytes as objects of an S3-compatible store, over plain signed HTTP.
import { createHash } from 'node:crypto'
import { Readable } from 'node:stream'
import { setTimeout as delay } from 'node:timers/promises'
import { AwsV4Signer } from 'aws4fetch'
import { Agent, type Dispatcher, request } from 'undici'
import { BlobMissing, type Blobs } from '../../core/blobs.ts'
import { nowMs } from '../../core/clock.ts'
import { checkBlobKey, checkBlobRange, isBlobKey } from './key.ts'

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

/** An error response of the store, with its status and code. Its message is not kept. */
export class S3Failure extends Error {
  override name = 'S3Failure'
  readonly status: number
  readonly code: string

  constructor(operation: string, status: number, code: string) {
    super(`S3 ${operation} failed: ${status} ${code}`)
    this.status = status
    this.code = code
  }
}

type Call = {
  method: 'GET' | 'PUT' | 'DELETE'
  key: string
  query?: Record<string, string>
  headers?: Record<string, string>
  body?: Buffer
}

// One attempt and three retries, with about 1.5 s of delay in total. The calling jobs are retried later.
const retryDelaysMs = [100, 400, 1000]
const answerBytesMax = 4 * 1024 * 1024

/** Blobs in one bucket under one prefix. Every operation is idempotent, so 5xx, 429 and broken connections are retried. */
export function createS3Blobs(options: S3Options): Blobs {
  const { bucket, region, accessKeyId, secretAccessKey, sessionToken, pathStyle, timeoutMs = 30_000 } = options
  const prefix = options.prefix === '' || options.prefix.endsWith('/') ? options.prefix : `${options.prefix}/`
  const base = new URL(options.endpoint ?? `https://s3.${region}.amazonaws.com`)
  if (!pathStyle) base.hostname = `${bucket}.${base.hostname}`
  const basePath = `${base.pathname.replace(/\/$/, '')}/${pathStyle ? `${bucket}/` : ''}`
  const agent = new Agent({
    connectTimeout: Math.min(timeoutMs, 10_000),
    headersTimeout: timeoutMs,
    bodyTimeout: timeoutMs,
    allowH2: false,
  })
  const signingKeys = new Map<string, ArrayBuffer>()

  async function attempt({ method, key, query = {}, headers = {}, body }: Call): Promise<Dispatcher.ResponseData> {
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
    return await request(signed.url, { method, headers: Object.fromEntries(signed.headers), body: body ?? null, dispatcher: agent })
  }

  /**
   * The first response that is not a failure of the store, or the last failure. The caller must read or dump the body of a returned
   * response.
   */
  async function call(given: Call): Promise<Dispatcher.ResponseData> {
    for (let tries = 0; ; tries++) {
      const waitMs = retryDelaysMs[tries]
      try {
        const answer = await attempt(given)
        if (waitMs === undefined || (answer.statusCode < 500 && answer.statusCode !== 429)) return answer
        await answer.body.dump()
      } catch (error) {
        if (waitMs === undefined || !isConnectionFailure(error)) throw error
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
    const headers = range && { range: `bytes=${range.start}-${isEmpty ? range.start : range.end - 1}` }
    const answer = await call({ method: 'GET', key, ...(headers && { headers }) })
    const isFound = answer.statusCode === (range ? 206 : 200)
    if (isFound && !isEmpty) return answer
    if (isFound || (range && answer.statusCode === 416)) {
      await answer.body.dump()
      return null
    }
    const failure = await failureOf('GET', answer)
    throw failure.code === 'NoSuchKey' ? new BlobMissing(`no blob ${key}`) : failure
  }

  return {
    async put(key, bytes) {
      checkBlobKey(key)
      const answer = await call({ method: 'PUT', key, body: bytes })
      if (answer.statusCode !== 200) throw await failureOf('PUT', answer)
      await answer.body.dump()
    },

    async get(key, range) {
      for (let tries = 0; ; tries++) {
        const answer = await read(key, range)
        if (!answer) return Buffer.alloc(0)
        try {
          return Buffer.from(await answer.body.arrayBuffer())
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
      const writtenBeforeMs = nowMs() - olderThanMs
      for (let token: string | undefined, isFirst = true; isFirst || token !== undefined; isFirst = false) {
        const query = { 'list-type': '2', prefix, ...(token !== undefined && { 'continuation-token': token }) }
        const answer = await call({ method: 'GET', key: '', query })
        if (answer.statusCode !== 200) throw await failureOf('LIST', answer)
        const page = await textOf(answer)
        for (const [, content = ''] of page.matchAll(/<Contents>([\s\S]*?)<\/Contents>/g)) {
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

async function failureOf(operation: string, answer: Dispatcher.ResponseData): Promise<S3Failure> {
  return new S3Failure(operation, answer.statusCode, element(await textOf(answer).catch(() => ''), 'Code')?.slice(0, 64) ?? 'unknown')
}

async function textOf({ body }: Dispatcher.ResponseData): Promise<string> {
  const chunks: Buffer[] = []
  let length = 0
  for await (const chunk of body as AsyncIterable<Buffer>) {
    chunks.push(chunk)
    length += chunk.length
    if (length > answerBytesMax) throw new Error(`the S3 store's answer is larger than ${answerBytesMax} bytes`)
  }
  return Buffer.concat(chunks).toString()
}

/** The text of the first element of that name, its XML entities resolved. */
function element(xml: string, name: string): string | undefined {
  const start = xml.indexOf(`<${name}>`)
  const end = start < 0 ? -1 : xml.indexOf(`</${name}>`, start)
  if (end < 0) return undefined
  const entities: Record<string, string> = { lt: '<', gt: '>', quot: '"', apos: "'", amp: '&' }
  return xml.slice(start + name.length + 2, end).replace(/&(lt|gt|quot|apos|amp);/g, (_whole, entity: string) => entities[entity] as string)
}
