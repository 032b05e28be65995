// What tunnels are made of: the feature, the gateway, and what each needs of the other.
import { join } from 'node:path'
import type { Config } from '../config/settings.ts'
import type { BusinessEvents } from '../core/business-events.ts'
import { nowMs } from '../core/clock.ts'
import type { Emit } from '../core/event.ts'
import { newId } from '../core/ids.ts'
import type { Log } from '../core/log.ts'
import type { Database } from '../core/sql.ts'
import { TokenBuckets } from '../edges/api/rate-limit.ts'
import { createGateway, type Gateway } from '../edges/gateway/gateway.ts'
import { createHttpsListener } from '../edges/gateway/https-listener.ts'
import { localCertificate } from '../edges/gateway/local-authority.ts'
import type { ScheduledTask } from '../edges/jobs/scheduled-tasks.ts'
import type { Keyring } from '../edges/keyring/keyring.ts'
import type { Keys } from '../features/account/keys/operations.ts'
import type { Accounts } from '../features/account/organizations/operations.ts'
import { createPresence, createRecorder, createTunnels } from '../features/tunnels/operations.ts'
import { tunnelRoutes } from '../features/tunnels/routes.ts'

type Parts = {
  config: Config
  db: Database
  keyring: Keyring
  accounts: Accounts
  keys: Keys
  emit: Emit
  businessEvents: BusinessEvents
  log: Log
}

const hourMs = 3_600_000

/** Tunnels on their gateway, nothing started yet. A process without the role sends requests for replays only, over the others. */
export function createTunnelParts({ config, db, keyring, accounts, keys, emit, businessEvents, log }: Parts) {
  const isGateway = config.roles.includes('gateway')
  // The embedded database has one process.
  const hasPeers = config.databaseUrl !== null && config.gatewayPort !== null
  const tunnels = createTunnels({
    db,
    accounts,
    tunnelDomain: config.tunnelDomain,
    connectUrl: config.tunnelConnectUrl,
    onChange: (tunnelId) => gateway.changed(tunnelId),
    repeat: (tunnel, request) => gateway.repeat(tunnel, request),
  })
  const recorder = createRecorder(db, log.child({ part: 'tunnels' }))
  const requests = new TokenBuckets(config.tunnelPerSecond, 2 * config.tunnelPerSecond)
  const gateway: Gateway = createGateway({
    tunnelDomain: config.tunnelDomain,
    presence: createPresence({ db, emit, businessEvents, nodeId: newId('gatewayNode'), findUnusableKeys: keys.findUnusable }),
    recorder,
    admit: tunnels.admit,
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
    log: log.child({ part: 'gateway' }),
  })
  const https =
    isGateway && config.tunnelHttpsPort !== null
      ? createHttpsListener({
          host: config.host,
          port: config.tunnelHttpsPort,
          certificate:
            config.tunnelTlsCertFile && config.tunnelTlsKeyFile
              ? { cert: config.tunnelTlsCertFile, key: config.tunnelTlsKeyFile }
              : localCertificate(join(config.dataDir, 'tunnel-authority'), config.tunnelDomain),
          gateway,
          log: log.child({ part: 'tunnel-https' }),
        })
      : null
  const scheduledTasks: ScheduledTask[] = [
    { name: 'sweep requests of tunnels', everyMs: hourMs, isDueAtStart: true, run: () => tunnels.sweep() },
  ]
  return { gateway, https, routes: tunnelRoutes(tunnels), scheduledTasks }
}
