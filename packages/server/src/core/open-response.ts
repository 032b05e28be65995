// The response that is open on an HTTP connection. Pipelined requests behind it wait, and nothing else may be written before its end.

/** A response of Node, as far as it is known from its connection. */
export type OpenResponse = { headersSent: boolean; writableEnded: boolean }

/** The response that Node is writing to the connection, or null between requests. Responses behind it have no socket yet. */
export const openResponse = (socket: object): OpenResponse | null => (socket as { _httpMessage?: OpenResponse | null })._httpMessage ?? null

/** Node emits `upgrade` at once. Behind an open response the request is served in its turn, as if it had not asked for the upgrade. */
export function dropUpgradeOutOfTurn(request: { socket: object; headers: { upgrade?: string | undefined } }): void {
  if (openResponse(request.socket) !== null) delete request.headers.upgrade
}

/** True when Node reports a late head on a connection that this server does not read. The head may have arrived in time. */
export const isLateUnread = (error: Error & { code?: string }, socket: { isPaused(): boolean }): boolean =>
  error.code === 'ERR_HTTP_REQUEST_TIMEOUT' && socket.isPaused()
