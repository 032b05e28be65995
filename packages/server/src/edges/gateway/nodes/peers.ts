// Connections between gateway nodes: a listener for other nodes, and one link to each node with a client that this node needs.
// Both ends prove that they have the installation's keyring (TLS with a pre-shared key, RFC 5489). The traffic is encrypted.
import type { AddressInfo, Socket } from 'node:net'
import { connect, createServer, type Server, type TLSSocket } from 'node:tls'
import { connectMux } from '@callsign/contract/tunnel-connection'
import { resetCodes } from '@callsign/contract/tunnel-frames'
import type { TunnelMux } from '@callsign/contract/tunnel-mux'
import type { StreamListener, TunnelStream } from '@callsign/contract/tunnel-stream'
import { WindowBudget } from '@callsign/contract/tunnel-window'
import type { Log } from '../../../core/log.ts'
import type { RemoteSession } from '../../../features/tunnels/model.ts'
import { ClientSession } from '../clients/client-session.ts'

const identity = 'callsign-gateway'
const tlsOptions = { ciphers: 'ECDHE-PSK-CHACHA20-POLY1305', minVersion: 'TLSv1.2', maxVersion: 'TLSv1.2' } as const
const connectMsMax = 3000
/** Milliseconds without another attempt after connecting to a node failed. */
const avoidMs = 1000
const linkBudgetBytes = 128 * 1024 * 1024

export type Peers = ReturnType<typeof createPeers>

type Parts = {
  key: Buffer
  processBudget: WindowBudget
  /** The client with this session on this node, or null. */
  findHere: (sessionId: string) => ClientSession | null
  log: Log
}

export function createPeers({ key, processBudget, findHere, log }: Parts) {
  const links = new Map<string, Promise<TunnelMux>>()
  const clientSessions = new Map<string, ClientSession>()
  const avoided = new Map<string, number>()
  const accepted = new Set<TunnelMux>()
  let server: Server | null = null
  let passing = 0

  const shared = (socket: Socket, onClose: (reason: string) => void) => ({
    defer: setImmediate as (work: () => void) => void,
    allocate: Buffer.allocUnsafe as (bytes: number) => Uint8Array,
    budget: new WindowBudget(linkBudgetBytes, processBudget),
    onClose: (reason: string) => {
      onClose(reason)
      socket.destroySoon()
    },
    streamsMax: 100_000,
  })

  function accept(socket: TLSSocket): void {
    socket.setNoDelay(true)
    const passed = new Map<number, { clientSession: ClientSession; local: TunnelStream }>()
    const mux: TunnelMux = connectMux(socket, 'bare', Buffer.alloc(0), {
      ...shared(socket, () => accepted.delete(mux)),
      onOpen: (stream) => {
        const clientSession = typeof stream.about.session === 'string' ? findHere(stream.about.session) : null
        if (!clientSession) return stream.reset(resetCodes.notHere)
        passing++
        let isOver = false
        const over = () => {
          if (isOver) return
          isOver = true
          passing--
          passed.delete(stream.id)
          clientSession.release()
        }
        // The first bytes arrive with the opening. They open the local stream.
        stream.listener = {
          onData(bytes) {
            const local = clientSession.open(bytes)
            passed.set(stream.id, { clientSession, local })
            stream.taken(bytes.length)
            relayStreams(stream, local, over)
          },
          onEnd() {},
          onReset: over,
          onDrain() {},
        }
      },
      onReport: (id, about) => {
        const found = passed.get(id)
        if (found?.clientSession.isOpen && found.clientSession.wantsReports) found.clientSession.report(found.local, about)
      },
    })
    mux.hello({})
    accepted.add(mux)
  }

  function dial(nodeId: string, address: string): Promise<TunnelMux> {
    const colon = address.lastIndexOf(':')
    const host = address.slice(0, colon).replace(/^\[|\]$/g, '')
    return new Promise((resolve, reject) => {
      const socket = connect({
        host,
        port: Number(address.slice(colon + 1)),
        ...tlsOptions,
        pskCallback: () => ({ psk: key, identity }),
        // The pre-shared key authenticates the node, so no certificate is verified.
        checkServerIdentity: () => undefined,
      })
      const timer = setTimeout(() => socket.destroy(new Error('timed out')), connectMsMax)
      const fail = (error: Error) => {
        clearTimeout(timer)
        links.delete(nodeId)
        avoided.set(nodeId, performance.now() + avoidMs)
        reject(error)
      }
      socket.once('error', fail)
      socket.once('secureConnect', () => {
        clearTimeout(timer)
        socket.off('error', fail)
        socket.setNoDelay(true)
        const mux: TunnelMux = connectMux(socket, 'bare', Buffer.alloc(0), {
          ...shared(socket, (reason) => {
            log.info({ node_id: nodeId, reason }, 'link to a gateway node closed')
            links.delete(nodeId)
            for (const [id, clientSession] of clientSessions) if (!clientSession.isOpen) clientSessions.delete(id)
          }),
          // The node is draining. Its clients can leave as soon as no idle stream is kept for another request.
          onGoaway: () => {
            for (const clientSession of clientSessions.values()) if (clientSession.isOver(mux)) clientSession.startDraining()
          },
        })
        mux.hello({})
        resolve(mux)
      })
    })
  }

  return {
    /** Number of relayed requests of other nodes. */
    get passing() {
      return passing
    },

    /** Listens for other nodes and returns the port. */
    async listen(host: string, port: number): Promise<number> {
      const listener = createServer({ ...tlsOptions, pskCallback: (_socket, name) => (name === identity ? key : null) }, accept)
      server = listener
      listener.on('tlsClientError', (error) =>
        log.warn({ reason: error.message }, 'the TLS handshake of a connection to the node port failed'),
      )
      await new Promise<void>((resolve, reject) => {
        listener.once('error', reject)
        listener.listen(port, host, () => {
          listener.off('error', reject)
          resolve()
        })
      })
      return (listener.address() as AddressInfo).port
    },

    /** False for a node to which connecting failed within the last `avoidMs`. */
    isWorthTrying: (nodeId: string): boolean => (avoided.get(nodeId) ?? 0) <= performance.now(),

    /** The session of a client on another node. Rejects when connecting to the node fails. */
    async reach(session: RemoteSession): Promise<ClientSession> {
      const known = clientSessions.get(session.id)
      if (known?.isOpen) return known
      let link = links.get(session.nodeId)
      if (!link) {
        link = dial(session.nodeId, session.address)
        links.set(session.nodeId, link)
      }
      const mux = await link
      // Streams learn of a closed link before `links` does.
      if (mux.isClosed) throw new Error('the link has just closed')
      const again = clientSessions.get(session.id)
      if (again?.isOpen) return again
      const clientSession = new ClientSession({
        id: session.id,
        tunnelId: session.tunnelId,
        hostHeader: session.hostHeader,
        targetScheme: session.targetScheme,
        wantsReports: true,
        mux,
        about: { session: session.id },
      })
      clientSessions.set(session.id, clientSession)
      return clientSession
    },

    forget: (clientSession: ClientSession): void => {
      clientSessions.delete(clientSession.id)
    },

    /** Announces to the other nodes that this one is draining. */
    startDraining(): void {
      for (const mux of accepted) mux.goaway({ code: 'drain', reason: 'This node is stopping.' })
    },

    sweep(nowMs: number): void {
      for (const clientSession of clientSessions.values()) clientSession.sweep(nowMs)
      for (const [nodeId, until] of avoided) if (until < nowMs) avoided.delete(nodeId)
    },

    async close(): Promise<void> {
      const closed = server && new Promise<void>((resolve) => server?.close(() => resolve()))
      for (const mux of accepted) mux.close('stopped')
      for (const link of links.values()) await link.then((mux) => mux.close('stopped')).catch(() => {})
      await closed
    },
  }
}

/** Relays bytes, ends and resets, with backpressure. `onOver` is called once, when both streams have ended. */
function relayStreams(left: TunnelStream, right: TunnelStream, onOver: () => void): void {
  let isOver = false
  const over = () => {
    if (isOver) return
    isOver = true
    onOver()
  }
  const [first, second] = [
    { stream: left, held: 0 },
    { stream: right, held: 0 },
  ]
  left.listener = joined(first, second, over)
  right.listener = joined(second, first, over)
}

/** `held` counts the bytes that the other stream has no room for yet. */
type Side = { stream: TunnelStream; held: number }

function joined(from: Side, to: Side, over: () => void): StreamListener {
  return {
    onData(bytes) {
      if (to.stream.write(bytes)) from.stream.taken(bytes.length)
      else from.held += bytes.length
    },
    onDrain() {
      const bytes = to.held
      to.held = 0
      to.stream.taken(bytes)
    },
    onEnd() {
      to.stream.end()
      if (to.stream.isClosed) over()
    },
    onReset(code) {
      to.stream.reset(code)
      over()
    },
  }
}
