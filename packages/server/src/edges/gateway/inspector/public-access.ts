// Notes public requests for the access log: those that reached a tunnel, and those that were refused before.
import type { IncomingMessage } from 'node:http'
import type { RequestClient } from '../../../core/caller.ts'
import type { PublicAccess, RequestRecord, TunnelRoute } from '../../../features/tunnels/model.ts'
import type { RequestHead } from '../requests/request-head.ts'

/** Status of a request whose public client left before the response, as nginx has it. */
const clientClosed = 499

export type AccessNotes = {
  /** A request through a tunnel has ended. */
  ended(record: RequestRecord, route: TunnelRoute, head: RequestHead): void
  /** A request was refused before it reached a tunnel. */
  refused(handle: string, request: IncomingMessage, status: number): void
}

export function createAccessNotes({
  tunnelDomain,
  readClient,
  note,
}: {
  tunnelDomain: string
  readClient: (request: IncomingMessage) => RequestClient
  /** Null when the access log is off. */
  note: ((access: PublicAccess) => void) | null
}): AccessNotes {
  const pathOf = (target: string): string => target.split('?', 1)[0] as string
  const hostOf = (handle: string): string => `${handle}.${tunnelDomain}`
  return {
    ended(record, route, head) {
      note?.({
        client: record.remoteAddress,
        host: hostOf(route.handle),
        method: record.method,
        path: pathOf(record.path),
        protocol: `HTTP/1.${head.versionMinor}`,
        status: record.status ?? clientClosed,
        bytes: record.responseBytes,
        ms: record.durationMs,
      })
    },
    refused(handle, request, status) {
      note?.({
        client: readClient(request).address,
        host: hostOf(handle),
        method: request.method ?? '',
        path: pathOf(request.url ?? ''),
        protocol: `HTTP/${request.httpVersion}`,
        status,
        bytes: 0,
        ms: 0,
      })
    },
  }
}
