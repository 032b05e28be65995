// Writes the head of a target's response to the public client.
import type { ServerResponse } from 'node:http'
import type { Log } from '../../../core/log.ts'
import type { RequestFields, RequestHead, TargetAddress } from '../requests/request-head.ts'
import { type Answered, headersFor } from './response-filter.ts'
import { type AnswerHead, BadAnswer } from './response-reader.ts'

/**
 * Starts the response. Trailer (RFC 9110 section 6.6.2) is passed on only with chunked framing, because Node throws for any other. Targets
 * may send it in any response.
 */
export function writeAnswerHead(
  response: ServerResponse,
  { method, versionMinor, fields }: RequestHead,
  target: TargetAddress | null,
  head: AnswerHead,
): void {
  const hasChunks = head.isChunked && versionMinor > 0 && method !== 'HEAD' && head.status !== 204 && head.status !== 304
  const headers = headersFor(head, answeredOf(fields, target))
  response.writeHead(head.status, head.reason, hasChunks ? [...headers, 'Transfer-Encoding', 'chunked'] : withoutTrailer(headers))
}

/** The head as text, for responses that are not followed by a body. */
export function answerHeadText(head: AnswerHead, { fields }: RequestHead, target: TargetAddress | null, added = ''): string {
  const headers = headersFor(head, answeredOf(fields, target))
  let text = `HTTP/1.1 ${head.status} ${head.reason}\r\n${added}`
  for (let i = 0; i < headers.length; i += 2) text += `${headers[i]}: ${headers[i + 1]}\r\n`
  return `${text}\r\n`
}

const answeredOf = ({ askedHost, publicOrigin }: RequestFields, target: TargetAddress | null): Answered => ({
  askedHost,
  publicOrigin,
  targetOrigin: target?.origin ?? null,
})

function withoutTrailer(headers: string[]): string[] {
  let kept = headers
  for (let i = headers.length - 2; i >= 0; i -= 2) {
    const name = headers[i] as string
    if (name.length === 7 && name.toLowerCase() === 'trailer') kept = [...kept.slice(0, i), ...kept.slice(i + 2)]
  }
  return kept
}

/** Logs why a response was not passed on. Anything but BadAnswer is a bug of the gateway. It ends this request only, not the process. */
export function noteBadAnswer(log: Log, tunnelId: string, error: unknown): void {
  if (error instanceof BadAnswer) log.debug({ reason: error.message, tunnel_id: tunnelId }, 'the target returned an invalid response')
  else log.error({ err: error, tunnel_id: tunnelId }, 'relaying the response of a target failed')
}
