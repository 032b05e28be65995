// Writes the head of a target's response to the public client.
import type { Log } from '../../core/log.ts'
import type { PublicResponse } from './public-response.ts'
import type { RequestHead } from './request-head.ts'
import { type AnswerHead, BadAnswer } from './response-reader.ts'

/**
 * Starts the response. Trailer (RFC 9110 section 6.6.2) is passed on only with chunked framing, because Node throws for any other. Targets
 * may send it in any response.
 */
export function writeAnswerHead(response: PublicResponse, { method, versionMinor }: RequestHead, head: AnswerHead): void {
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

/** Logs why a response was not passed on. Anything but BadAnswer is a bug of the gateway. It ends this request only, not the process. */
export function noteBadAnswer(log: Log, tunnelId: string, error: unknown): void {
  if (error instanceof BadAnswer) log.debug({ reason: error.message, tunnel_id: tunnelId }, 'bad answer of a target')
  else log.error({ err: error, tunnel_id: tunnelId }, 'the answer of a target could not be passed on')
}
