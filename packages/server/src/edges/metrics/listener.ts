// The listener for Prometheus. Metrics are on a port of their own, so that clients of the API cannot read them.
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

/** `port` 0 selects any free port. */
export type MetricsListenerOptions = { host: string; port: number; registry: { contentType: string; metrics(): Promise<string> } }

export interface MetricsListener {
  /** Resolves with the port. Rejects when the address is in use. */
  listen(): Promise<number>
  /** Ends every connection. */
  close(): Promise<void>
}

const headersTimeoutMs = 10_000
const keepAliveTimeoutMs = 65_000
const headerBytesMax = 8 * 1024

/** A listener that answers GET /metrics, and 404 to all other paths. */
export function createMetricsListener({ host, port, registry }: MetricsListenerOptions): MetricsListener {
  let page: Promise<string> | null = null
  // Concurrent scrapes share one page, because it may cost a round trip to the database.
  const read = (): Promise<string> => {
    page ??= registry.metrics().finally(() => {
      page = null
    })
    return page
  }

  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    if (request.url?.split('?')[0] !== '/metrics') return end(response, 404, 'Metrics are at /metrics.\n')
    if (request.method !== 'GET' && request.method !== 'HEAD') {
      response.setHeader('allow', 'GET, HEAD')
      return end(response, 405, 'Use GET.\n')
    }
    const text = await read()
    response.setHeader('content-type', registry.contentType)
    end(response, 200, request.method === 'HEAD' ? '' : text)
  }

  const server = createServer(
    { maxHeaderSize: headerBytesMax, headersTimeout: headersTimeoutMs, keepAliveTimeout: keepAliveTimeoutMs },
    (request, response) => {
      request.resume()
      answer(request, response).catch(() => end(response, 500, 'Collecting the metrics failed.\n'))
    },
  )

  return {
    listen: () =>
      new Promise((resolve, reject) => {
        server.once('error', reject)
        server.listen(port, host, () => {
          server.off('error', reject)
          resolve((server.address() as AddressInfo).port)
        })
      }),
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}

function end(response: ServerResponse, status: number, text: string): void {
  response.statusCode = status
  if (!response.hasHeader('content-type')) response.setHeader('content-type', 'text/plain; charset=utf-8')
  response.end(text)
}
