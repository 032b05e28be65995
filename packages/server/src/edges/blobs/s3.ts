// Large bytes as objects of an S3-compatible store, spoken to over plain signed HTTP.
import { createHash } from 'node:crypto'
import { Readable } from 'node:stream'
import { setTimeout as delay } from 'node:timers/promises'
import { AwsV4Signer } from 'aws4fetch'
import { Agent, type Dispatcher, request } from 'undici'
import { BlobMissing, type Blobs } from '../../core/blobs.ts'
import { nowMs } from '../../core/clock.ts'
import { checkBlobKey, checkBlobRange, isBlobKey } from './key.ts'

/**
 * `endpoint` is a base URL such as `http://minio:9000`; without one, AWS in `region`. `prefix` may be empty. `pathStyle` puts the bucket into the path
 * instead of the host name, which most stores other than AWS need.
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
  /** For one attempt, until the head of the answer and again between two pieces of its body. */
  timeoutMs?: number
}

/** An answer of the store that is no success: its status and its own code, never its message. */
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

// The first attempt and three more, about 1.5 s of waiting in all; whoever calls is a job that is tried again later.
const retryDelaysMs = [100, 400, 1000]
const answerBytesMax = 4 * 1024 * 1024

/** Blobs in one bucket under one prefix. Every operation is idempotent, so 5xx answers, 429 and broken connections are tried again. */
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
      // Signed for this body and no other; the store refuses what was damaged on the way.
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

  /** The first answer that is not the store's own failure, or the last failure. The body of an answer that is given back must be read or dumped. */
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
      // Jitter, so that many writers do not come back at once.
      await delay(waitMs * (0.5 + Math.random()))
    }
  }

  /** The answer to a read, or null for a range that lies behind the end. */
  async function read(key: string, range?: { start: number; end: number }): Promise<Dispatcher.ResponseData | null> {
    checkBlobKey(key)
    checkBlobRange(range)
    // HTTP has no empty range; a byte is asked for all the same, so that a missing object is noticed.
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

const connectionTroubles =
  /^(ECONNREFUSED|ECONNRESET|EPIPE|ETIMEDOUT|EAI_AGAIN|ENETUNREACH|EHOSTUNREACH|UND_ERR_SOCKET|UND_ERR_CONNECT_TIMEOUT|UND_ERR_HEADERS_TIMEOUT|UND_ERR_BODY_TIMEOUT)$/

function isConnectionFailure(error: unknown): boolean {
  if (error instanceof AggregateError) return error.errors.some(isConnectionFailure)
  return error instanceof Error && 'code' in error && connectionTroubles.test(String(error.code))
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
