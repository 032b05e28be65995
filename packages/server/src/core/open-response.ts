// The response that is open on a connection. Pipelined requests behind it wait, and nothing else may be written before them.
import type { ServerResponse } from 'node:http'
import type { Socket } from 'node:net'

/** The response that Node is writing to the connection, or null between requests. Responses behind it have no socket yet. */
export const openResponse = (socket: Socket): ServerResponse | null =>
  (socket as Socket & { _httpMessage?: ServerResponse | null })._httpMessage ?? null
