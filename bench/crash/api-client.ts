// Requests to the API as a client makes them. It knows if a request was sent and if its answer arrived.
import { Agent, request } from 'node:http'

/** `canRetry` is false for a 503 without Retry-After. */
export type ApiAnswer = { status: number; isReplayed: boolean; canRetry: boolean; body: Buffer }

/** The answer did not arrive. `wasSent` is false when the server cannot have seen the request. */
export class Unanswered extends Error {
  override name = 'Unanswered'
  readonly wasSent: boolean
  constructor(cause: Error, wasSent: boolean) {
    super(`no answer: ${cause.message}`, { cause })
    this.wasSent = wasSent
  }
}

type ApiRequest = {
  method: 'GET' | 'POST' | 'PATCH'
  path: string
  apiKey: string
  body?: unknown
  idempotencyKey?: string | null
  /** Called when the last byte of the request went out. */
  onSent?: () => void
}

const answerMsMax = 45_000

export type ApiClient = ReturnType<typeof createApiClient>

/** A client with its own keep-alive connections, as usual clients have. */
export function createApiClient(port: number) {
  const agent = new Agent({ keepAlive: true, maxSockets: 4 })

  function call({ method, path, apiKey, body, idempotencyKey, onSent }: ApiRequest): Promise<ApiAnswer> {
    return new Promise((resolve, reject) => {
      const bytes = body === undefined ? null : Buffer.from(JSON.stringify(body))
      let wasSent = false
      const outgoing = request({
        host: '127.0.0.1',
        port,
        method,
        path,
        agent,
        timeout: answerMsMax,
        headers: {
          authorization: `Bearer ${apiKey}`,
          ...(bytes ? { 'content-type': 'application/json', 'content-length': bytes.length } : {}),
          ...(idempotencyKey ? { 'idempotency-key': idempotencyKey } : {}),
        },
      })
      const fail = (error: Error) => reject(new Unanswered(error, wasSent))
      outgoing.once('socket', (socket) => {
        // Part of a request may arrive even when the rest is not sent. It counts as unsent only when the connection failed.
        if (socket.connecting) socket.once('connect', () => (wasSent = true))
        else wasSent = true
      })
      outgoing.once('finish', () => onSent?.())
      outgoing.once('timeout', () => outgoing.destroy(new Error(`silence for ${answerMsMax} ms`)))
      outgoing.once('error', fail)
      outgoing.once('response', (response) => {
        const chunks: Buffer[] = []
        response.on('data', (chunk: Buffer) => chunks.push(chunk))
        response.once('error', fail)
        // A response that breaks off closes without `end`. If the promise is still pending, this rejects it.
        response.once('close', () => fail(new Error('the answer broke off')))
        response.once('end', () => {
          if (!response.complete) return
          const status = response.statusCode ?? 0
          // A reverse proxy answers 503 before it has passed a request on, and 502 or 504 afterwards.
          if (status >= 502 && response.headers['x-request-id'] === undefined) {
            wasSent = status !== 503
            return fail(new Error(`the proxy answered ${status}`))
          }
          resolve({
            status,
            canRetry: status !== 503 || response.headers['retry-after'] !== undefined,
            isReplayed: response.headers['idempotent-replayed'] === 'true',
            body: Buffer.concat(chunks),
          })
        })
      })
      outgoing.end(bytes ?? undefined)
    })
  }

  return {
    call,

    /** GETs a JSON answer. Throws unless the status is 200. */
    async get<T>(path: string, apiKey: string): Promise<T> {
      return JSON.parse((await this.getBytes(path, apiKey)).toString()) as T
    },

    async getBytes(path: string, apiKey: string): Promise<Buffer> {
      const answer = await call({ method: 'GET', path, apiKey })
      if (answer.status !== 200) throw new Error(`GET ${path} was answered ${answer.status}: ${answer.body.toString().slice(0, 300)}`)
      return answer.body
    },

    close: () => agent.destroy(),
  }
}

export const mailboxPath = (address: string): string => `/api/v1/mailboxes/${encodeURIComponent(address)}`
