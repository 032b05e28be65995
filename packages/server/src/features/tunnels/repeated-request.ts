// Makes the request of a replay from a captured request and the changes of the caller.
import type { BodyOf } from '@callsign/contract/operation'
import type { replayTunnelRequest } from '@callsign/contract/tunnels'
import { ApiError } from '../../core/errors.ts'
import { decodeBase64 } from '../mail/attachments/model.ts'
import { masked } from './masking.ts'
import { type HeaderPairs, pathCharactersMax, type RepeatedRequest, type RequestRow } from './model.ts'

export type ReplayChanges = NonNullable<BodyOf<typeof replayTunnelRequest>>

const conflict = (message: string) => new ApiError('conflict', message)

/** Throws 409 for a part that was not captured whole and is not replaced. */
export function toRepeated(row: RequestRow, changes: ReplayChanges): RepeatedRequest {
  const headers = headersOf(row, changes)
  if (headers.some(([name, value]) => name.toLowerCase() === 'upgrade' && value.toLowerCase() === 'websocket'))
    throw conflict('A WebSocket is a conversation and not a request: it cannot be sent again.')
  return {
    method: changes.method ?? row.method,
    path: changes.path ?? pathOf(row),
    headers: headers.filter(([, value]) => !value.includes(masked)),
    body: changes.body === undefined ? bodyOf(row) : decodeBase64(changes.body, '', 'body'),
    replayOf: row.id,
  }
}

/** The sentence that refuses a replay without changes, or null. */
export function replayRefusal(row: RequestRow): string | null {
  try {
    toRepeated(row, {})
    return null
  } catch (error) {
    if (error instanceof ApiError) return error.message
    throw error
  }
}

function headersOf(row: RequestRow, changes: ReplayChanges): HeaderPairs {
  if (changes.headers) return changes.headers
  if (!row.request_headers)
    throw conflict(
      'This request was not captured. Send `headers` with the replay, or set `capture` to headers or bodies for later requests.',
    )
  return row.request_headers
}

function pathOf({ path }: RequestRow): string {
  if (path.length >= pathCharactersMax)
    throw conflict('The path of this request was too long to be kept whole, so it cannot be sent again. Send `path` with the replay.')
  if (path.includes(masked))
    throw conflict('The query of this request held a secret that was not kept, so it cannot be sent again. Send `path` with the replay.')
  return path
}

function bodyOf(row: RequestRow): Buffer {
  if (!row.is_request_body_whole)
    throw conflict('The body of this request was not kept whole, so it cannot be sent again. Send `body` with the replay.')
  if (row.request_body?.includes(masked))
    throw conflict('The body of this request held a secret that was not kept, so it cannot be sent again. Send `body` with the replay.')
  return row.request_body ?? Buffer.alloc(0)
}
