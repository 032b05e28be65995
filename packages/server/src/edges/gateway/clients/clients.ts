// Accepts tunnel clients: authenticates them, finds their tunnel and keeps the connection that carries requests to them.
import { createHash } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import type { Socket } from 'node:net'
import { connectMux } from '@callsign/contract/tunnel-connection'
import { tunnelProtocol, tunnelWebSocketProtocol } from '@callsign/contract/tunnel-frames'
import type { Goaway, TunnelMux } from '@callsign/contract/tunnel-mux'
import { WindowBudget } from '@callsign/contract/tunnel-window'
import type { Authenticate, Caller, RequestClient } from '../../../core/caller.ts'
import { now } from '../../../core/clock.ts'
import { ApiError } from '../../../core/errors.ts'
import { notePassing } from '../../../core/external-buffers.ts'
import { newId } from '../../../core/ids.ts'
import type { Log } from '../../../core/log.ts'
import type { OpenSession } from '../../../features/tunnels/model.ts'
import type { Presence } from '../../../features/tunnels/operations.ts'
import type { Directory } from '../nodes/directory.ts'
import { refusal, refusalText } from '../responses/error-response.ts'
import { ClientSession } from './client-session.ts'

/** Milliseconds within which a connected client has to send its hello. */
const helloMsMax = 10_000
const clientsPerTunnelMax = 64
const sessionBudgetBytes = 64 * 1024 * 1024
/** A connection with this many unread bytes is closed. Bodies already stop at 1 MB, and requests are refused at 4 MB. */
const unreadBytesMax = 8 * 1024 * 1024
const keepAliveMs = 30_000
// RFC 6455 section 1.3.
const webSocketGuid = '258EAFA5-E914-47DA-95CA-C5AB0DC85B11'

type Admission = { tunnelId: string; organizationId: string; handle: string; publicUrl: string }

type Parts = {
  presence: Presence
  directory: Directory
  authenticate: Authenticate
  readClient: (request: IncomingMessage) => RequestClient
  admit: (caller: Caller, reference: string) => Promise<Admission>
  processBudget: WindowBudget
  pingEveryMs: number
  log: Log
}

type Client = { clientSession: ClientSession; mux: TunnelMux; session: OpenSession; hasGone: boolean; socket: Socket }

const pathPattern = /^\/api\/v1\/tunnels\/([A-Za-z0-9_@%]{1,80})\/connect$/

/** The tunnel that a path asks to connect to, or null for any other path. */
export const connectReference = (url: string): string | null => {
  const reference = pathPattern.exec(url)?.[1]
  return reference === undefined ? null : reference.replaceAll('%40', '@')
}

/** The framing that the Upgrade header asks for, or null when the request does not come from a tunnel client. */
export function wantedWrapping(request: IncomingMessage): 'bare' | 'web-socket-server' | null {
  const upgrade = request.headers.upgrade?.toLowerCase()
  if (upgrade === tunnelProtocol) return 'bare'
  if (request.headers['sec-websocket-key'] === undefined) return null
  const offered = request.headers['sec-websocket-protocol']?.split(',').map((name) => name.trim()) ?? []
  return upgrade === 'websocket' && offered.includes(tunnelWebSocketProtocol) ? 'web-socket-server' : null
}

export function createClients({ presence, directory, authenticate, readClient, admit, processBudget, pingEveryMs, log }: Parts) {
  const clients = new Map<ClientSession, Client>()
  const sockets = new Set<Socket>()
  /** Connections per tunnel, including those that have not sent a hello yet. */
  const counts = new Map<string, number>()
  let isDraining = false

  async function check(request: IncomingMessage, reference: string): Promise<{ caller: Caller; tunnel: Admission }> {
    const { authorization = '' } = request.headers
    const caller = /^bearer /i.test(authorization) ? await authenticate(authorization.slice(7).trim(), readClient(request)) : null
    if (!caller)
      throw new ApiError('unauthorized', 'An API key is required to connect to a tunnel. Send it as Authorization: Bearer svc_live_…')
    const tunnel = await admit(caller, reference)
    if (isDraining) throw new ApiError('unavailable', 'This node is stopping. Reconnect.', { headers: { 'Retry-After': '1' } })
    if ((counts.get(tunnel.tunnelId) ?? 0) >= clientsPerTunnelMax)
      throw new ApiError('rate_limited', `A tunnel can have at most ${clientsPerTunnelMax} clients per node. Disconnect one first.`, {
        headers: { 'Retry-After': '5' },
      })
    return { caller, tunnel }
  }

  function count(tunnelId: string, more: 1 | -1): void {
    const left = (counts.get(tunnelId) ?? 0) + more
    if (left > 0) counts.set(tunnelId, left)
    else counts.delete(tunnelId)
  }

  function refuse(socket: Socket, error: unknown): void {
    if (!(error instanceof ApiError)) log.error({ err: error }, 'connecting a tunnel client failed')
    const known =
      error instanceof ApiError
        ? error
        : new ApiError('unavailable', 'The gateway is temporarily unavailable. Retry after the seconds in Retry-After.')
    const more = {
      'X-Request-Id': newId('request'),
      ...(known.code === 'unauthorized' ? { 'WWW-Authenticate': 'Bearer' } : {}),
      ...known.headers,
    }
    socket.end(refusalText(refusal(known.status, known.code, known.message), more), () => socket.destroy())
  }

  /** Upgrades the connection of a client, or refuses it. */
  async function accept(request: IncomingMessage, socket: Socket, head: Buffer, reference: string): Promise<void> {
    socket.on('error', () => {})
    sockets.add(socket)
    socket.once('close', () => sockets.delete(socket))
    let admitted: { caller: Caller; tunnel: Admission }
    try {
      admitted = await check(request, reference)
    } catch (error) {
      return refuse(socket, error)
    }
    if (socket.destroyed) return
    count(admitted.tunnel.tunnelId, 1)
    socket.once('close', () => count(admitted.tunnel.tunnelId, -1))
    const wrapping = wantedWrapping(request) as 'bare' | 'web-socket-server'
    socket.setNoDelay(true)
    socket.setKeepAlive(true, keepAliveMs)
    socket.setTimeout(0)
    const lines = ['HTTP/1.1 101 Switching Protocols', 'Connection: Upgrade']
    if (wrapping === 'bare') lines.push(`Upgrade: ${tunnelProtocol}`)
    else {
      const accepted = createHash('sha1').update(`${request.headers['sec-websocket-key']}${webSocketGuid}`).digest('base64')
      lines.push('Upgrade: websocket', `Sec-WebSocket-Accept: ${accepted}`, `Sec-WebSocket-Protocol: ${tunnelWebSocketProtocol}`)
    }
    socket.write(`${lines.join('\r\n')}\r\n\r\n`)
    begin(socket, wrapping, head, admitted.caller, admitted.tunnel)
  }

  function begin(socket: Socket, wrapping: 'bare' | 'web-socket-server', head: Buffer, caller: Caller, tunnel: Admission): void {
    let client: Client | null = null
    const late = setTimeout(() => mux.close('no hello'), helloMsMax)
    const mux: TunnelMux = connectMux(socket, wrapping, head, {
      defer: setImmediate as (work: () => void) => void,
      allocate: Buffer.allocUnsafe as (bytes: number) => Uint8Array,
      budget: new WindowBudget(sessionBudgetBytes, processBudget),
      unreadBytesMax,
      pingEveryMs,
      onHello: (about) => {
        if (client) return
        clearTimeout(late)
        client = enter(mux, socket, about, caller, tunnel)
      },
      onGoaway: () => {
        // A client that disconnects gets no new requests, and closes the connection when those in flight are done.
        client?.clientSession.startDraining()
      },
      onClose: (reason) => {
        clearTimeout(late)
        if (client) leave(client, reason)
      },
    })
    socket.on('data', (bytes: Buffer) => notePassing(bytes.length))
  }

  function enter(mux: TunnelMux, socket: Socket, about: Record<string, unknown>, caller: Caller, tunnel: Admission): Client {
    const { instance, host, scheme } = about
    const session: OpenSession = {
      id: newId('tunnelSession'),
      tunnelId: tunnel.tunnelId,
      organizationId: tunnel.organizationId,
      instanceId: typeof instance === 'string' && /^[\x21-\x7e]{1,64}$/.test(instance) ? instance : newId('tunnelSession'),
      keyId: caller.keyId,
      hostHeader: typeof host === 'string' && /^[A-Za-z0-9._:[\]-]{1,255}$/.test(host) ? host : null,
      targetScheme: scheme === 'https' ? 'https' : 'http',
      connectedAt: now(),
    }
    const clientSession = new ClientSession({
      id: session.id,
      tunnelId: tunnel.tunnelId,
      hostHeader: session.hostHeader,
      targetScheme: session.targetScheme,
      wantsReports: about.reports === true,
      mux,
    })
    const client: Client = { clientSession, mux, session, hasGone: false, socket }
    clients.set(clientSession, client)
    presence.open(session).then(
      (result) => {
        if (result !== 'opened') return end(client, result === 'gone' ? 'deleted' : 'disabled')
        if (client.hasGone) return void close(client, 'closed')
        directory.add(clientSession, tunnel.handle, caller.keyId)
        mux.hello({
          session: session.id,
          tunnel: tunnel.tunnelId,
          agent_handle: tunnel.handle,
          public_url: tunnel.publicUrl,
          node: presence.nodeId,
          has_other_nodes: presence.hasOthers,
        })
        if (isDraining) mux.goaway(drainWord)
      },
      (err) => {
        log.error({ err }, 'storing a tunnel client failed')
        mux.close('unavailable')
      },
    )
    return client
  }

  function leave(client: Client, reason: string): void {
    client.hasGone = true
    clients.delete(client.clientSession)
    directory.remove(client.clientSession)
    void close(client, reason)
  }

  const close = (client: Client, reason: string): Promise<void> =>
    presence.close(client.session, reason.slice(0, 100)).catch((err) => log.warn({ err }, 'storing the end of a tunnel connection failed'))

  const sentences = {
    disabled: 'This tunnel was disabled.',
    deleted: 'This tunnel was deleted.',
    revoked: 'The key of this connection was revoked.',
  }
  const drainWord: Goaway = { code: 'drain', reason: 'This node is stopping. Reconnect.' }

  function end(client: Client, code: keyof typeof sentences): void {
    client.mux.goaway({ code, reason: sentences[code] })
    client.mux.close(code)
  }

  return {
    accept,

    /** Disconnects a client that must not connect again. */
    end(clientSession: ClientSession, code: keyof typeof sentences): void {
      const client = clients.get(clientSession)
      if (client) end(client, code)
    },

    get count(): number {
      return clients.size
    },

    /** Asks every client to connect elsewhere. Clients keep this connection until their requests in flight are done. */
    startDraining(): void {
      isDraining = true
      for (const { clientSession, mux } of clients.values()) {
        clientSession.startDraining()
        mux.goaway(drainWord)
      }
    },

    sweep(nowMs: number): void {
      for (const clientSession of clients.keys()) clientSession.sweep(nowMs)
    },

    /** Closes every connection. Resolves when the ends are stored. */
    async closeAll(): Promise<void> {
      const all = [...clients.values()]
      for (const { mux } of all) mux.close('stopped')
      for (const socket of sockets) socket.destroySoon()
      // Closed a second time to wait for the row, which the connection's own end may be storing already.
      await Promise.all(all.map((client) => close(client, 'stopped')))
    },
  }
}
