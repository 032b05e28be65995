// Carries MCP between standard input and output, and the endpoint /mcp of the server. It passes messages on unread, so it speaks every revision.
import { createInterface } from 'node:readline'
import type { Readable } from 'node:stream'
import { fetchByEnvironment } from '@callsign/sdk'

type Id = string | number
type Message = { id?: Id; method?: string; params?: Record<string, unknown>; result?: { protocolVersion?: unknown } }

export type BridgeOptions = {
  url: URL
  apiKey: string
  input: Readable
  /** Writes one message as a line. */
  write: (line: string) => void
  note: (text: string) => void
  signal: AbortSignal
  /** Waits before a further attempt to connect. */
  wait: (ms: number) => Promise<void>
}

/** Waits before each further attempt to reach the server. Together 31 seconds, in which a server restarts. */
const retryWaitsMs = [1000, 2000, 4000, 8000, 16_000]
const versionKey = 'io.modelcontextprotocol/protocolVersion'

/** Runs until standard input ends, and the requests in flight are answered. */
export async function runBridge(options: BridgeOptions): Promise<void> {
  const { input, write, note, signal } = options
  const inFlight = new Map<Id, AbortController>()
  const open = new Set<Promise<void>>()
  /** The revision that `initialize` agreed on. Requests of 2026-07-28 name their own. */
  let version: string | undefined

  function observe(line: string): void {
    const { result } = readMessage(line) ?? {}
    if (typeof result?.protocolVersion === 'string') version ??= result.protocolVersion
    write(line)
  }

  async function forward(line: string, message: Message): Promise<void> {
    const stopped = new AbortController()
    if (message.id !== undefined && message.method !== undefined) inFlight.set(message.id, stopped)
    try {
      const response = await connect(options, line, headersOf(message, version), AbortSignal.any([signal, stopped.signal]))
      await relay(response, observe)
    } catch (error) {
      if (stopped.signal.aborted || signal.aborted) return
      const reason = `The Callsign server cannot be reached: ${reasonOf(error)}`
      note(reason)
      if (message.id !== undefined && message.method !== undefined) write(failure(message.id, reason))
    } finally {
      if (message.id !== undefined) inFlight.delete(message.id)
    }
  }

  for await (const given of createInterface({ input, signal, crlfDelay: Number.POSITIVE_INFINITY })) {
    // Shells on Windows write a byte order mark before the first line.
    const line = given.replace(/^\ufeff/, '')
    if (line.trim() === '') continue
    const message = readMessage(line)
    if (!message) {
      write('{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"The line is not JSON."}}')
      continue
    }
    // Over HTTP, a request is cancelled by closing its response.
    const cancelled = message.method === 'notifications/cancelled' ? message.params?.requestId : undefined
    inFlight.get(cancelled as Id)?.abort()
    const work = forward(line, message)
    open.add(work)
    void work.finally(() => open.delete(work))
    // The revision is known after the answer to `initialize`.
    if (message.method === 'initialize') await work
  }
  await Promise.all(open)
}

function readMessage(line: string): Message | null {
  try {
    const value: unknown = JSON.parse(line)
    return typeof value === 'object' && value !== null ? (value as Message) : null
  } catch {
    return null
  }
}

/** Headers that repeat parts of the message, which the revisions require over HTTP. */
function headersOf({ method, params }: Message, version: string | undefined): Record<string, string> {
  const meta = params?._meta as Record<string, unknown> | undefined
  const own = meta?.[versionKey]
  const revision = typeof own === 'string' ? own : version
  const name = params?.name ?? params?.uri
  return {
    ...(revision === undefined ? {} : { 'mcp-protocol-version': revision }),
    ...(typeof own === 'string' && method !== undefined ? { 'mcp-method': method } : {}),
    ...(typeof own === 'string' && typeof name === 'string' ? { 'mcp-name': headerText(name) } : {}),
  }
}

/** A header value. Other characters than visible ASCII are sent as base64. */
const headerText = (text: string): string =>
  /^[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?$/.test(text) && !text.startsWith('=?base64?')
    ? text
    : `=?base64?${Buffer.from(text).toString('base64')}?=`

/** Posts the message. A connection that was refused carried nothing, so it is tried again while the server restarts. */
async function connect(
  { url, apiKey, wait }: BridgeOptions,
  body: string,
  more: Record<string, string>,
  signal: AbortSignal,
): Promise<Response> {
  const headers = {
    authorization: `Bearer ${apiKey}`,
    'content-type': 'application/json',
    accept: 'application/json, text/event-stream',
    ...more,
  }
  for (const waitMs of [...retryWaitsMs, null]) {
    try {
      return await fetchByEnvironment(url.href, { method: 'POST', headers, body, signal, redirect: 'error' })
    } catch (error) {
      if (waitMs === null || codeOf(error) !== 'ECONNREFUSED') throw error
      await wait(waitMs)
    }
  }
  throw new Error('unreachable')
}

const codeOf = (error: unknown): unknown => (error as { cause?: { code?: unknown } } | null)?.cause?.code

const reasonOf = (error: unknown): string => String(codeOf(error) ?? (error instanceof Error ? error.message : error))

const failure = (id: Id, message: string): string => JSON.stringify({ jsonrpc: '2.0', id, error: { code: -32000, message } })

/** Writes the messages of a response: one JSON document, or server-sent events as they arrive. */
async function relay(response: Response, write: (line: string) => void): Promise<void> {
  const type = response.headers.get('content-type') ?? ''
  if (type.startsWith('text/event-stream') && response.body) {
    for await (const data of readEvents(response.body)) write(JSON.stringify(JSON.parse(data)))
    return
  }
  const text = await response.text()
  const message = readMessage(text)
  if (message && 'jsonrpc' in message) write(JSON.stringify(message))
  else if (!response.ok) throw new Error(messageIn(message) ?? `it answered ${response.status}.`)
}

/** The sentence of an error of the API. */
const messageIn = (body: unknown): string | undefined => (body as { error?: { message?: string } } | null)?.error?.message

/** The data of each event (WHATWG HTML, section 9.2). */
async function* readEvents(body: ReadableStream<Uint8Array>): AsyncGenerator<string> {
  const decoder = new TextDecoder()
  let rest = ''
  for await (const chunk of body as unknown as AsyncIterable<Uint8Array>) {
    rest += decoder.decode(chunk, { stream: true })
    const events = rest.split(/\r?\n\r?\n/)
    rest = events.pop() as string
    for (const event of events) {
      const data = event.split(/\r?\n/).flatMap((line) => (line.startsWith('data:') ? [line.slice(5).replace(/^ /, '')] : []))
      if (data.length > 0) yield data.join('\n')
    }
  }
}
