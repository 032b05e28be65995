// Builds tunnels on the gateway.
import { nowMs } from '../core/clock.ts'
import { newId } from '../core/ids.ts'
import { TokenBuckets } from '../edges/api/authenticate.ts'
import type { AccessLog } from '../edges/api/logs/access-log.ts'
import { createGateway, type Gateway } from '../edges/gateway/gateway.ts'
import { createHttpsListener } from '../edges/gateway/https-listener.ts'
import {
  createPresence,
  createRecorder,
  createRequestSealing,
  createTunnelAdmission,
  createTunnels,
} from '../features/tunnels/operations.ts'
import { tunnelRoutes } from '../features/tunnels/routes.ts'
import type { AccountArea } from './account.ts'
import type { Certificates } from './certificates.ts'
import type { EventArea } from './events.ts'
import { type Area, hourMs, type SharedParts } from './parts.ts'

/** The HTTPS listener for public requests to tunnels. */
export interface HttpsListener {
  /** Resolves with the port. */
  listen(): Promise<number>
  drain(): Promise<void>
  close(): void
}

export type TunnelArea = Area & { gateway: Gateway; https: HttpsListener | null }

/** A process without the gateway role has a gateway for replays only, which sends them through the nodes with that role. */
export function createTunnelArea(
  shared: SharedParts,
  { accounts, keys }: AccountArea,
  { emit }: EventArea,
  certificates: Certificates,
  accessLog: AccessLog | null,
): TunnelArea {
  const { config, db, keyring, businessEvents, log } = shared
  const isGateway = config.roles.includes('gateway')
  // The embedded database serves one process only.
  const hasPeers = config.databaseUrl !== null && config.gatewayPort !== null
  const sealing = createRequestSealing(keyring.subkey('tunnel-requests'))
  const recorder = createRecorder(db, sealing, log.child({ part: 'tunnels' }))
  const requests = new TokenBuckets(config.tunnelPerSecond, 2 * config.tunnelPerSecond)
  const gateway = createGateway({
    tunnelDomain: config.tunnelDomain,
    presence: createPresence({ db, emit, businessEvents, nodeId: newId('gatewayNode'), findUnusableKeys: keys.findUnusable }),
    recorder,
    admit: createTunnelAdmission(db, shared.tunnelUrls).admit,
    authenticate: keys.authenticate,
    takeRequest: config.tunnelPerSecond === 0 ? () => 0 : (tunnelId) => requests.take(tunnelId, nowMs()),
    trustedProxies: config.trustedProxies,
    isServing: isGateway,
    peerKey: keyring.subkey('gateway-nodes'),
    listener: hasPeers ? { host: config.gatewayHost, port: config.gatewayPort as number, address: config.gatewayAddress } : null,
    answerMsMax: config.tunnelAnswerSeconds * 1000,
    streamsMax: config.tunnelRequestsMax,
    pingEveryMs: config.tunnelPingSeconds * 1000,
    windowBytesMax: config.tunnelWindowMegabytes * 1024 * 1024,
    noteAccess: accessLog?.writePublic ?? null,
    log: log.child({ part: 'gateway' }),
  })
  const https =
    isGateway && config.tunnelHttpsPort !== null
      ? createHttpsListener({
          host: config.host,
          port: config.tunnelHttpsPort,
          tls: certificates.openForTunnels(),
          gateway,
        })
      : null
  const tunnels = createTunnels({ db, accounts, urls: shared.tunnelUrls, connectUrl: config.tunnelConnectUrl, gateway, sealing })
  return {
    gateway,
    https,
    routes: tunnelRoutes(tunnels),
    scheduledTasks: [{ name: 'sweep requests of tunnels', everyMs: hourMs, isDueAtStart: true, run: () => tunnels.sweep() }],
  }
}
