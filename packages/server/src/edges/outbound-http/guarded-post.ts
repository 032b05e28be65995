// Posts to a URL supplied by a caller, on a connection with a checked peer that may be kept.
import type { Socket } from 'node:net'
import { nowMs } from '../../core/clock.ts'
import { FetchRefused, type GuardedPost } from '../../core/web.ts'
import type { PostAnswer } from './answer-reader.ts'
import { withinTime } from './failures.ts'
import { KeptConnections } from './kept-connections.ts'
import { type OutboundTarget, parseOutboundUrl } from './outbound-url.ts'
import { PostLine } from './post-line.ts'

/** Targets whose URLs were read lately. */
const targetsMax = 1000

/** A checked URL, and the part of the request's head that does not change. */
type PostTarget = { target: OutboundTarget; headStart: string }
type Sent = { target: OutboundTarget; head: string; body: Buffer; snippetBytesMax: number; leftMs: () => number }

type Parts = {
  /** A new connection with a checked peer. Rejects with FetchRefused, also when the signal is aborted. */
  open: (target: OutboundTarget, signal: AbortSignal) => Promise<Socket>
  userAgent: string
}

/** `close` ends the kept connections. */
export function createGuardedPost({ open, userAgent }: Parts): Pick<GuardedPost, 'post'> & { close: () => void } {
  const kept = new KeptConnections()
  const targets = new Map<string, PostTarget>()

  function targetOf(url: string): PostTarget {
    let found = targets.get(url)
    if (!found) {
      const target = parseOutboundUrl(url)
      const { host, pathname, search } = target.url
      const headStart = `POST ${pathname}${search} HTTP/1.1\r\nhost: ${host}\r\nuser-agent: ${userAgent}\r\naccept-encoding: identity\r\n`
      found = { target, headStart }
      if (targets.size >= targetsMax) targets.delete(targets.keys().next().value as string)
      targets.set(url, found)
    }
    return found
  }

  const openLine = ({ target, leftMs }: Sent): Promise<PostLine> =>
    withinTime(leftMs(), async (signal) => new PostLine(await open(target, signal)))

  const send = (line: PostLine, { head, body, snippetBytesMax, leftMs }: Sent): Promise<PostAnswer> =>
    line.post(head, body, snippetBytesMax, leftMs())

  async function postOnce(sent: Sent): Promise<PostAnswer> {
    const line = await openLine(sent)
    const answer = await send(line, sent)
    line.close()
    return answer
  }

  /** Like `postOnce`, on a kept connection if there is one. If the server has just closed it, a new one is opened once. */
  async function postKept(sent: Sent): Promise<PostAnswer> {
    const { origin } = sent.target.url
    const old = kept.take(origin)
    let line = old ?? (await openLine(sent))
    let answer: PostAnswer
    try {
      answer = await send(line, sent)
    } catch (error) {
      if (!old || old.isAnswered || !isLost(error)) throw error
      line = await openLine(sent)
      answer = await send(line, sent)
    }
    if (answer.keptMs !== null) kept.give(origin, line, answer.keptMs)
    return answer
  }

  return {
    close: () => kept.close(),

    async post(url, { headers, body, timeoutMs, snippetBytesMax, keepAlive = false }) {
      const startedMs = nowMs()
      const durationMs = () => Math.max(0, nowMs() - startedMs)
      try {
        const { target, headStart } = targetOf(url)
        const head = `${headStart}${fieldsOf(headers)}content-length: ${body.length}\r\nconnection: ${keepAlive ? 'keep-alive' : 'close'}\r\n\r\n`
        const sent: Sent = { target, head, body, snippetBytesMax, leftMs: () => Math.max(1, timeoutMs - durationMs()) }
        const { status, retryAfter, snippet } = await (keepAlive ? postKept(sent) : postOnce(sent))
        return { kind: 'answered', status, retryAfter: retryAfter?.slice(0, 64) ?? null, snippet, durationMs: durationMs() }
      } catch (error) {
        if (!(error instanceof FetchRefused)) throw error
        return { kind: 'failed', failure: error.failure, message: error.message, durationMs: durationMs() }
      }
    },
  }
}

/** True when the connection ended during the request. */
const isLost = (error: unknown): boolean => error instanceof FetchRefused && error.failure === 'connection_lost'

const fieldPattern = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+: [\t\x20-\x7e\x80-\xff]*$/

/** A line break in a name or value would start another field, or another request. */
function fieldsOf(headers: Record<string, string>): string {
  let text = ''
  for (const name in headers) {
    const field = `${name}: ${headers[name]}`
    if (!fieldPattern.test(field)) throw new Error(`The header ${JSON.stringify(name)} cannot be sent.`)
    text += `${field}\r\n`
  }
  return text
}
