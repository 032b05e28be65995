// The head of a target's answer as its visitor gets it.
import type { Log } from '../../core/log.ts'
import type { VisitorResponse } from './public-response.ts'
import type { RequestHead } from './request-head.ts'
import { type AnswerHead, BadAnswer } from './response-reader.ts'

/**
 * Begins the answer. Trailer (RFC 9110 section 6.6.2) goes on only where trailers can follow, behind chunks: Node throws at any other, and targets may
 * announce what they like.
 */
export function writeAnswerHead(response: VisitorResponse, { method, versionMinor }: RequestHead, head: AnswerHead): void {
  const hasChunks = head.isChunked && versionMinor > 0 && method !== 'HEAD' && head.status !== 204 && head.status !== 304
  response.writeHead(head.status, head.reason, hasChunks ? head.headers : withoutTrailer(head.headers))
}

function withoutTrailer(headers: string[]): string[] {
  let kept = headers
  for (let i = headers.length - 2; i >= 0; i -= 2) {
    const name = headers[i] as string
    if (name.length === 7 && name.toLowerCase() === 'trailer') kept = kept.toSpliced(i, 2)
  }
  return kept
}

/** Writes down why an answer was not passed on. Anything but BadAnswer is a bug of ours; it ends this exchange, not the process and everybody in it. */
export function noteBadAnswer(log: Log, tunnelId: string, error: unknown): void {
  if (error instanceof BadAnswer) log.debug({ reason: error.message, tunnel_id: tunnelId }, 'bad answer of a target')
  else log.error({ err: error, tunnel_id: tunnelId }, 'the answer of a target could not be passed on')
}
