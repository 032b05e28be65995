// Kills and partitions an S3 server under load, and the processes that use it, between the blobs and the commits that name them.
import { randomBytes } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import { readConfig } from '../../packages/server/src/config/settings.ts'
import { createBusinessEvents } from '../../packages/server/src/core/business-events.ts'
import { createLog } from '../../packages/server/src/core/log.ts'
import { openKeyring } from '../../packages/server/src/edges/keyring/keyring.ts'
import { connect } from '../../packages/server/src/edges/postgres/connect.ts'
import { startEmbedded } from '../../packages/server/src/edges/postgres/embedded/supervisor.ts'
import { createBlobs } from '../../packages/server/src/wiring/parts.ts'
import { createServerParts } from '../../packages/server/src/wiring/server.ts'
import type { Node } from '../chaos/nodes.ts'
import { type ChaosOptions, type ChaosReport, runUnderLoad } from '../chaos/run.ts'
import { waitForProgress } from '../crash/world.ts'
import type { Ceph } from './ceph.ts'
import { startLink } from './link.ts'

export const faultKinds = ['gateway killed', 'link cut', 'link hung', 'server killed'] as const
export type BlobFault = { kind: (typeof faultKinds)[number]; ms: number }

const faultMsMax = 6_000
/** Every blob, also one that was just written. The clock of S3 has whole seconds. */
const everyAgeMs = -60_000
/** A worker may be killed between the answer of the relay and its record. */
const relayCopiesMax = 3

type Options = ChaosOptions & { faults: number; ceph: Ceph; bucket: string }

/** Two processes of all roles, which reach the store through a link. */
export async function runOutages({ ceph, bucket, ...options }: Options): Promise<ChaosReport<BlobFault>> {
  const link = await startLink(ceph.port)
  const stops: (() => Promise<void>)[] = [link.stop]
  const stored = {
    CALLSIGN_BLOBS: `s3://${bucket}/mail`,
    CALLSIGN_BLOB_KEYS: `chaos:${randomBytes(32).toString('base64')}`,
    AWS_ACCESS_KEY_ID: ceph.user.accessKeyId,
    AWS_SECRET_ACCESS_KEY: ceph.user.secretAccessKey,
  }
  try {
    return await runUnderLoad<BlobFault>(
      options,
      { mayBreak: true, relayCopiesMax },
      async ({ folder, installation, random, ledger, limit, say }) => {
        const log = createLog('warn')
        const postgres = await startEmbedded({ dataDir: `${folder}/database`, log, settings: { max_connections: '100' } })
        stops.unshift(postgres.stop)
        const { host, port, user, database } = postgres.connection
        const url = `postgres://${user}@/${database}?host=${encodeURIComponent(host)}&port=${port}`
        const settings = { ...stored, CALLSIGN_S3_ENDPOINT: `http://127.0.0.1:${link.port}` }
        const nodes: Node[] = []
        for (const name of ['first', 'second']) {
          const node = await installation.createNode(name, url, settings)
          await node.start()
          nodes.push(node)
        }
        const ports = nodes.map((node) => node.httpPort)
        const direct = {
          ...stored,
          CALLSIGN_S3_ENDPOINT: ceph.endpoint,
          CALLSIGN_DATABASE_URL: url,
          CALLSIGN_DATA_DIR: nodes[0]?.dataDir as string,
        }

        async function strike(kind: BlobFault['kind'], ms: number): Promise<void> {
          if (kind === 'server killed') {
            const node = random.pick(nodes)
            await node.kill('server')
            await node.start()
            return
          }
          if (kind === 'gateway killed') await ceph.killGateway()
          else if (kind === 'link cut') link.cut()
          else link.hang()
          await delay(ms)
          if (kind === 'gateway killed') await ceph.startGateway()
          else link.mend()
        }

        return {
          httpPorts: ports,
          smtpPorts: nodes.map((node) => node.smtpPort),
          clientPorts: ports,
          publicPorts: ports,
          database: postgres.connection,
          store: { blobs: createBlobs(readConfig(direct)), sweep: () => sweep(direct) },
          async strike() {
            const done: BlobFault[] = []
            while (done.length < options.faults && !limit.aborted) {
              const kind = faultKinds[done.length % faultKinds.length] as BlobFault['kind']
              const ms = random.whole(200, faultMsMax)
              await waitForProgress(ledger, limit)
              await strike(kind, ms)
              done.push({ kind, ms })
              say(`${done.length} faults, ${ledger.acceptedCount()} messages acknowledged`)
            }
            return done
          },
        }
      },
    )
  } finally {
    for (const stop of stops) await stop()
  }
}

/** The server's own sweep, of blobs of every age. */
async function sweep(environment: Record<string, string>): Promise<number> {
  const config = readConfig(environment)
  const log = createLog('warn')
  const db = connect({ connectionString: config.databaseUrl as string }, { poolSize: 2, log })
  const running = { worker: null, publicUrl: '' }
  const parts = createServerParts({
    config,
    db,
    keyring: await openKeyring(config.dataDir),
    log,
    businessEvents: createBusinessEvents(log),
    running,
  })
  try {
    return await parts.messages.sweepBlobs(everyAgeMs)
  } finally {
    await parts.close()
    await db.close()
  }
}
