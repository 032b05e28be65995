// Kills, freezes and restarts processes of every role at random under load, behind HAProxy, and checks that nothing acknowledged was lost.
import { setTimeout as delay } from 'node:timers/promises'
import { createLog } from '../../packages/server/src/core/log.ts'
import { startEmbedded } from '../../packages/server/src/edges/postgres/embedded/supervisor.ts'
import { createRandom } from '../crash/random.ts'
import { startHaproxy } from './haproxy.ts'
import type { Node } from './nodes.ts'
import { type ChaosOptions, type ChaosReport, runUnderLoad } from './run.ts'

const ports = { api: 8080, smtp: 2525, gateway: 8081 }
const counts = { api: 3, smtp: 2, worker: 3, gateway: 2 }
const kinds = ['killed', 'frozen', 'rolled'] as const
/** Longer than the lease of a job, so that another worker takes over what a frozen one has begun. */
const freezeMsMax = 40_000
const longFreezeShare = 0.15
const restartMsMax = 2_000
const pauseMsMax = 2_500
/** Faults at the same time, of different processes. */
const strikers = 2
/** A worker may be killed between the answer of the relay and its record, and so may the next one. */
const relayCopiesMax = 3

export type Role = keyof typeof counts
export type ProcessFault = { role: Role; kind: (typeof kinds)[number] }

type Member = { node: Node; role: Role; isBusy: boolean }

/** Runs for `minutes`. */
export async function runProcesses(options: ChaosOptions & { minutes: number }): Promise<ChaosReport<ProcessFault>> {
  return runUnderLoad<ProcessFault>(options, { mayBreak: true, relayCopiesMax }, async ({ folder, installation, ledger, limit, say }) => {
    const postgres = await startEmbedded({ dataDir: `${folder}/database`, log: createLog('warn'), settings: { max_connections: '200' } })
    const { host, port, user, database } = postgres.connection
    const url = `postgres://${user}@/${database}?host=${encodeURIComponent(host)}&port=${port}`
    const members: Member[] = []
    const settings = {
      CALLSIGN_TUNNEL_CONNECT_URL: `http://127.0.0.1:${ports.gateway}`,
      CALLSIGN_DATABASE_CONNECTIONS: '6',
      // Everything comes through one proxy.
      CALLSIGN_SMTP_CONNECTIONS_PER_CLIENT: '100',
    }
    for (const role of Object.keys(counts) as Role[])
      for (let number = 1; number <= counts[role]; number++) {
        const node = await installation.createNode(`${role}${number}`, url, { ...settings, CALLSIGN_ROLES: role })
        // The first one makes the keyring and the tables.
        if (members.length === 0) await node.start()
        members.push({ node, role, isBusy: false })
      }
    await Promise.all(members.slice(1).map(({ node }) => node.start()))
    const checked = (['api', 'smtp', 'gateway'] as const).map((role) => ({
      name: role,
      port: ports[role],
      mode: role === 'api' ? ('http' as const) : ('tcp' as const),
      check: ['option httpchk GET /readyz', 'http-check expect status 200'],
      servers: members
        .filter((member) => member.role === role)
        .map(({ node }) => `127.0.0.1:${role === 'smtp' ? node.smtpPort : node.httpPort} port ${node.httpPort}`),
    }))
    await startHaproxy(folder, checked)

    /** A process whose role has another one that works. */
    const isFree = ({ role, isBusy }: Member) => !isBusy && !members.some((other) => other.role === role && other.isBusy)

    return {
      httpPorts: [ports.api],
      smtpPorts: [ports.smtp],
      clientPorts: [ports.api],
      publicPorts: [ports.gateway],
      database: postgres.connection,
      async strike() {
        const untilMs = performance.now() + options.minutes * 60_000
        const done: ProcessFault[] = []
        await Promise.all(
          Array.from({ length: strikers }, async (_, index) => {
            const random = createRandom(options.seed + 2000 + index)
            while (performance.now() < untilMs && !limit.aborted) {
              await delay(random.whole(0, pauseMsMax))
              const member = random.pick(members.filter(isFree))
              member.isBusy = true
              const kind = random.pick(kinds)
              await strikeOne(member.node, kind, random)
              member.isBusy = false
              done.push({ role: member.role, kind })
              if (done.length % 10 === 0) say(`${done.length} faults, ${ledger.acceptedCount()} messages acknowledged`)
            }
          }),
        )
        return done
      },
    }

    async function strikeOne(node: Node, kind: ProcessFault['kind'], random: ReturnType<typeof createRandom>): Promise<void> {
      const before = await Promise.race([node.ended(), delay(0, null)])
      if (before !== null) ledger.report(`the process ${node.name} ended by itself: ${before}`)
      if (kind === 'frozen') {
        node.signal('SIGSTOP')
        await delay(random.whole(500, random.isHit(longFreezeShare) ? freezeMsMax : 6_000))
        node.signal('SIGCONT')
        return
      }
      if (kind === 'killed') await node.kill('server')
      else for (const problem of await node.stop()) ledger.report(`${node.name}, rolled: ${problem}`)
      await delay(random.whole(0, restartMsMax))
      await node.start()
    }
  })
}
