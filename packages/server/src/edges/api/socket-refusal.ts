// Answers sockets whose bytes are not a request that the API can take, and closes them.
import type { ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { ApiError } from '../../core/errors.ts'
import { newId } from '../../core/ids.ts'
import { parserFailure, refusalText } from './failure.ts'

/** Answers bytes that are not a request. */
export function refuseSocket(error: Error & { code?: string }, socket: Socket): void {
  if (error.code === 'ECONNRESET') socket.destroy()
  else refuseUnanswered(socket, parserFailure(error))
}

/** Refuses the request. Closes the connection if a response has started on it, because a second one would be read as its continuation. */
export function refuseUnanswered(socket: Socket, failure: ApiError): void {
  const pending = (socket as Socket & { _httpMessage?: ServerResponse | null })._httpMessage
  if (!socket.writable || pending?.headersSent) socket.destroy()
  else refuse(socket, failure)
}

/** Writes a response and closes the connection after it. */
export function refuse(socket: Socket, failure: ApiError): void {
  socket.end(refusalText(failure, newId('request')), () => socket.destroy())
}
