// Processes of Callsign that share a database, a keyring and blobs.
import { cpSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { generateKey } from '../../packages/server/src/features/account/keys/model.ts'
import { createServerProcess, type ServerProcess } from '../crash/server-process.ts'

export type Node = ServerProcess & { name: string }

type Options = { folder: string; relayPort: number }

/** Makes processes of one installation. The first one has to be started before the next is made, because it creates the keyring. */
export function createInstallation({ folder, relayPort }: Options) {
  const bootstrapKey = generateKey()
  const blobsDir = join(folder, 'blobs')
  mkdirSync(blobsDir)
  const nodes: Node[] = []

  return {
    bootstrapKey,
    blobsDir,
    nodes,

    async createNode(name: string, databaseUrl: string, settings: Record<string, string> = {}): Promise<Node> {
      const server = await createServerProcess({
        relayPort,
        bootstrapKey,
        settings: {
          CALLSIGN_DATABASE_URL: databaseUrl,
          CALLSIGN_DATABASE_CONNECTIONS: '8',
          CALLSIGN_BLOBS: `file:${blobsDir}`,
          CALLSIGN_CONSOLE: 'off',
          CALLSIGN_METRICS_PORT: 'off',
          CALLSIGN_DNS_SERVERS: '127.0.0.1:9',
          CALLSIGN_OUTBOUND_ALLOW_CIDRS: '127.0.0.0/8',
          // The load answers the same correspondents again and again.
          CALLSIGN_AGENT_LOOP_SECONDS: '0',
          CALLSIGN_RATE_LIMIT_ORGANIZATION_KEY: '0',
          CALLSIGN_RATE_LIMIT_TUNNEL: '0',
          CALLSIGN_WEBHOOK_RETRY_SECONDS: Array.from({ length: 120 }, (_, index) => (index < 5 ? '0.1' : '1')).join(','),
          ...settings,
        },
      })
      const [first] = nodes
      if (first) cpSync(join(first.dataDir, 'keyring'), join(server.dataDir, 'keyring'), { recursive: true })
      const node = Object.assign(server, { name })
      nodes.push(node)
      return node
    },

    /** Ends every process at once and deletes what they stored. */
    destroy: () => Promise.all(nodes.map((node) => node.destroy())),
  }
}
