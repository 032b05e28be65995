// One request to the server: address, key, time limit, retries of what may be repeated, and errors as classes.
import { ApiError, ConnectionError } from './errors.ts'

export type Fetch = (input: string, init: RequestInit) => Promise<Response>

export type ConnectionOptions = {
  /** Where the server is, such as `https://callsign.example`. A path before `/api/v1` is kept. */
  url: string
  /** An organization key, an agent key, or a console token. It is sent in a header, never in an address. */
  apiKey: string
  fetch?: Fetch
  /** For one attempt, its answer's body included. Default 60,000. */
  timeoutMs?: number
  /** How often a request that may be repeated is tried again. Default 2. */
  retriesMax?: number
}

/** What a caller may say about one request. */
export type RequestOptions = {
  signal?: AbortSignal
  timeoutMs?: number
  /** Names this effect, so that a repetition of yours has none; without one the client makes its own for its retries. */
  idempotencyKey?: string
}

export type Question = {
  method: 'GET' | 'POST' | 'PATCH' | 'PUT' | 'DELETE'
  /** Below `/api/v1`, made by `path`. */
  path: string
  query?: Record<string, unknown> | undefined
  body?: unknown
  /** True when the operation takes an Idempotency-Key: then it may be repeated. */
  isKeyed?: boolean
  options?: RequestOptions | undefined
}

/** No answer is larger: unlocking a full vault gives about 25 MB, a raw message 25 MB. */
const replyBytesMax = 64 * 1024 * 1024
/** A longer Retry-After is for the caller to wait out, not for us. */
const retryAfterMsMax = 30_000
const backoffMs = { first: 250, max: 5_000 }
const transientStatuses = [408, 429, 500, 502, 503, 504]

/** A path from a template, each value escaped as one segment. Throws on values that would change the path: empty, `.` and `..`. */
export function path(parts: TemplateStringsArray, ...values: string[]): string {
  return parts.reduce((text, part, i) => {
    const value = values[i - 1] as string
    if (value === '' || value === '.' || value === '..') throw new TypeError(`"${value}" cannot be part of an address`)
    return text + encodeURIComponent(value) + part
  })
}

export class Connection {
  /** The server's address without a slash at its end; the same for every way to write it. */
  readonly address: string
  readonly #apiKey: string
  readonly #fetch: Fetch
  readonly #timeoutMs: number
  readonly #retriesMax: number

  constructor(options: ConnectionOptions) {
    const url = new URL(options.url)
    if (url.protocol !== 'http:' && url.protocol !== 'https:') throw new TypeError('url has to begin with http:// or https://')
    if (url.username || url.password) throw new TypeError('url must not carry a user name or password')
    if (!/^[\x21-\x7e]+$/.test(options.apiKey)) throw new TypeError('apiKey has to be printable ASCII without spaces')
    this.address = `${url.origin}${url.pathname.replace(/\/+$/, '')}`
    this.#apiKey = options.apiKey
    this.#fetch = options.fetch ?? ((input, init) => fetch(input, init))
    this.#timeoutMs = options.timeoutMs ?? 60_000
    this.#retriesMax = options.retriesMax ?? 2
  }

  /** The key itself, for connections that are no requests. */
  get bearerToken(): string {
    return this.#apiKey
  }

  /** The public id inside a Callsign key, or null for any other token. It is no secret. */
  get keyId(): string | null {
    return /^svc_live_([0-9A-Za-z]{16})[0-9A-Za-z]{49}$/.exec(this.#apiKey)?.[1] ?? null
  }

  /** The JSON body of success; undefined when the answer has none. */
  async request<T>(question: Question): Promise<T> {
    const bytes = await this.requestBytes(question)
    if (bytes.length === 0) return undefined as T
    try {
      return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes)) as T
    } catch {
      throw new ConnectionError('reply_unusable', 'The answer is not JSON: is this the address of a Callsign server?')
    }
  }

  /** The body of success as it came. */
  async requestBytes(question: Question): Promise<Uint8Array<ArrayBuffer>> {
    const key = question.options?.idempotencyKey ?? (question.isKeyed ? randomName() : undefined)
    const isRepeatable = question.method === 'GET' || question.method === 'DELETE' || (question.isKeyed === true && key !== undefined)
    for (let attempt = 0; ; attempt++) {
      try {
        return await this.#attempt(question, key)
      } catch (error) {
        const waitMs = this.#waitBefore(error, attempt, isRepeatable)
        if (waitMs === null) throw error
        await sleep(waitMs, question.options?.signal)
      }
    }
  }

  /** The body of an answer without an end, as it comes. The time limit holds for its beginning; it is not tried again. */
  async open(path: string, query: Record<string, unknown>, signal: AbortSignal | undefined): Promise<ReadableStream<Uint8Array>> {
    const controller = new AbortController()
    const timer = setTimeout(() => controller.abort(), this.#timeoutMs)
    try {
      const response = await this.#fetch(`${this.address}/api/v1${path}${queryText(query)}`, {
        method: 'GET',
        headers: { Authorization: `Bearer ${this.#apiKey}`, Accept: 'text/event-stream' },
        redirect: 'manual',
        signal: signal ? AbortSignal.any([signal, controller.signal]) : controller.signal,
      })
      if (response.status === 200 && response.body) return response.body
      throw readError(response, await readBody(response))
    } catch (error) {
      signal?.throwIfAborted()
      if (error instanceof ApiError || error instanceof ConnectionError) throw error
      throw new ConnectionError('connection_failed', `No answer came from ${this.address}: ${reasonOf(error)}`, { cause: error })
    } finally {
      clearTimeout(timer)
    }
  }

  /** How long to wait before the next attempt; null when there is to be none. */
  #waitBefore(error: unknown, attempt: number, isRepeatable: boolean): number | null {
    if (attempt >= this.#retriesMax) return null
    const backoff = Math.min(backoffMs.max, backoffMs.first * 2 ** attempt) * (0.5 + Math.random() / 2)
    if (error instanceof ApiError) {
      // A 429 says that nothing was done, so even a change may be asked for again.
      const isWorthIt =
        error.status === 429 || (isRepeatable && (transientStatuses.includes(error.status) || error.code === 'idempotency_in_progress'))
      if (!isWorthIt || (error.retryAfterMs ?? 0) > retryAfterMsMax) return null
      return Math.max(backoff, error.retryAfterMs ?? 0)
    }
    const isTransient = error instanceof ConnectionError && (error.code === 'connection_failed' || error.code === 'timeout')
    return isTransient && isRepeatable ? backoff : null
  }

  async #attempt(question: Question, idempotencyKey: string | undefined): Promise<Uint8Array<ArrayBuffer>> {
    const caller = question.options?.signal
    caller?.throwIfAborted()
    const timeout = AbortSignal.timeout(question.options?.timeoutMs ?? this.#timeoutMs)
    const headers: Record<string, string> = { Authorization: `Bearer ${this.#apiKey}`, Accept: 'application/json, */*;q=0.5' }
    if (idempotencyKey !== undefined) headers['Idempotency-Key'] = idempotencyKey
    // A redirect is never followed: it would take the key, and what the body holds, to another place.
    const init: RequestInit = {
      method: question.method,
      headers,
      redirect: 'manual',
      signal: caller ? AbortSignal.any([caller, timeout]) : timeout,
    }
    if (question.body !== undefined) {
      headers['Content-Type'] = 'application/json'
      init.body = JSON.stringify(question.body)
    }
    let response: Response
    let bytes: Uint8Array<ArrayBuffer>
    try {
      response = await this.#fetch(`${this.address}/api/v1${question.path}${queryText(question.query)}`, init)
      bytes = await readBody(response)
    } catch (error) {
      caller?.throwIfAborted()
      if (error instanceof ConnectionError) throw error
      if (timeout.aborted) throw new ConnectionError('timeout', `No whole answer came from ${this.address} in time.`, { cause: error })
      throw new ConnectionError('connection_failed', `No answer came from ${this.address}: ${reasonOf(error)}`, { cause: error })
    }
    if (response.status >= 200 && response.status < 300) return bytes
    if (response.type === 'opaqueredirect' || (response.status >= 300 && response.status < 400)) {
      throw new ConnectionError(
        'reply_unusable',
        `${this.address} answered with a redirect, which is not followed: use the address it leads to.`,
      )
    }
    throw readError(response, bytes)
  }
}

function queryText(query: Record<string, unknown> | undefined): string {
  const parameters = new URLSearchParams()
  for (const [name, value] of Object.entries(query ?? {})) if (value !== undefined && value !== null) parameters.set(name, String(value))
  const text = parameters.toString()
  return text === '' ? '' : `?${text}`
}

async function readBody(response: Response): Promise<Uint8Array<ArrayBuffer>> {
  if (!response.body) return new Uint8Array(0)
  const chunks: Uint8Array[] = []
  let size = 0
  const reader = response.body.getReader()
  for (;;) {
    const { done, value } = await reader.read()
    if (done) break
    size += value.length
    if (size > replyBytesMax) {
      await reader.cancel()
      throw new ConnectionError('reply_too_large', `The answer is larger than ${replyBytesMax} bytes.`)
    }
    chunks.push(value)
  }
  const whole = new Uint8Array(size)
  let offset = 0
  for (const chunk of chunks) {
    whole.set(chunk, offset)
    offset += chunk.length
  }
  return whole
}

/** The server's error, or one of its status alone when something between us and it answered. */
function readError(response: Response, bytes: Uint8Array): ApiError {
  const seconds = Number(response.headers.get('retry-after') ?? Number.NaN)
  const fields = {
    status: response.status,
    requestId: response.headers.get('x-request-id'),
    retryAfterMs: Number.isFinite(seconds) && seconds >= 0 ? seconds * 1000 : null,
  }
  try {
    const { error } = JSON.parse(new TextDecoder().decode(bytes)) as { error?: Record<string, unknown> }
    if (typeof error?.code === 'string' && typeof error.message === 'string') {
      const requestId = typeof error.request_id === 'string' ? error.request_id : fields.requestId
      return new ApiError({ ...fields, requestId, code: error.code, message: error.message, details: error.details })
    }
  } catch {
    // Not ours: the status has to do.
  }
  return new ApiError({
    ...fields,
    code: `http_${response.status}`,
    message: `The server answered ${response.status}.`,
    details: undefined,
  })
}

function reasonOf(error: unknown): string {
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error
  if (!(cause instanceof Error)) return String(cause)
  const code = (cause as { code?: unknown }).code
  return cause.message || (typeof code === 'string' ? code : cause.name)
}

/** 128 random bits in hexadecimal; `crypto.randomUUID` is missing on pages without TLS. */
function randomName(): string {
  return Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, '0')).join('')
}

/** Resolves after so many milliseconds; rejects when the signal fires. */
export function sleep(ms: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    const onAbort = () => {
      clearTimeout(timer)
      reject(signal?.reason)
    }
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', onAbort)
      resolve()
    }, ms)
    signal?.addEventListener('abort', onAbort, { once: true })
    if (signal?.aborted) onAbort()
  })
}
