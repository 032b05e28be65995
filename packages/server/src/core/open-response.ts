// The response that is open on a connection. Pipelined requests behind it wait, and nothing else may be written before them.
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'

/** The response that Node is writing to the connection, or null between requests. Responses behind it have no socket yet. */
export const openResponse = (socket: Socket): ServerResponse | null =>
  (socket as Socket & { _httpMessage?: ServerResponse | null })._httpMessage ?? null

/** Node emits `upgrade` at once. Behind an open response the request is served in its turn, as if it had not asked for the upgrade. */
export function dropUpgradeOutOfTurn(request: IncomingMessage): void {
  if (openResponse(request.socket) !== null) delete request.headers.upgrade
}
