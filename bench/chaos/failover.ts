// Kills, freezes and cuts off the primary of a cluster under load, and checks that nothing acknowledged was lost or doubled.
import { setTimeout as delay } from 'node:timers/promises'
import type { InFlight } from '../crash/ledger.ts'
import { waitForProgress } from '../crash/world.ts'
import { type Fault, restPort, startCluster } from './cluster.ts'
import { startHaproxy } from './haproxy.ts'
import { type Probe, startProbe } from './probe.ts'
import { type ChaosOptions, type ChaosReport, runUnderLoad } from './run.ts'

const proxyPort = 5000
/** Promised after the new primary commits. */
const backMsPromised = 2_000
const backMsMax = 60_000
const faults: Fault[] = ['killed', 'frozen', 'cut off']

/** One fault: the time until a new primary committed, and from then until each process served again. */
export type Failover = { fault: Fault; isReset: boolean; inFlight: InFlight; primaryMs: number; backMs: number[] }

export const pathNames = ['HAProxy that closes sessions', 'several hosts in the URL']

/** Two processes share the cluster. One reaches it through HAProxy, the other by the addresses of all servers. */
export async function runFailover(options: ChaosOptions & { faults: number }): Promise<ChaosReport<Failover>> {
  return runUnderLoad<Failover>(
    options,
    { mayBreak: false, relayCopiesMax: 1 },
    async ({ folder, installation, random, ledger, limit, say }) => {
      const cluster = await startCluster(folder)
      const database = {
        name: 'database',
        port: proxyPort,
        mode: 'tcp' as const,
        check: ['option httpchk OPTIONS /primary', 'http-check expect status 200'],
        servers: cluster.hosts.map(({ address }) => `${address}:5432 port ${restPort}`),
      }
      await startHaproxy(folder, [database])
      const proxied = await installation.createNode('proxied', `postgres://callsign@127.0.0.1:${proxyPort}/callsign`)
      await proxied.start()
      const direct = await installation.createNode('direct', cluster.url)
      await direct.start()
      const nodes = [proxied, direct]
      let probes: Probe[] = []

      async function fail(number: number): Promise<Failover> {
        await waitForProgress(ledger, limit)
        await delay(random.whole(20, 700))
        const fault = faults[number % faults.length] as Fault
        const isReset = random.isHit(0.5)
        const primary = await cluster.primary()
        const inFlight = ledger.inFlight()
        const struckMs = performance.now()
        await cluster.strike(primary, fault)
        const next = await cluster.whenCommitting(primary)
        const committedMs = performance.now()
        const backMs = await Promise.all(probes.map((probe) => probe.backAfter(committedMs, backMsMax)))
        backMs.forEach((ms, index) => {
          if (ms > backMsPromised)
            ledger.report(`fault ${number + 1} (${fault}): ${pathNames[index]} served ${ms.toFixed(0)} ms after the new primary`)
        })
        const primaryMs = committedMs - struckMs
        say(
          `fault ${number + 1} ${fault.padEnd(7)} host ${primary.number} -> ${next.number}: new primary after ${primaryMs.toFixed(0)} ms, ` +
            `service ${backMs.map((ms) => ms.toFixed(0)).join(' and ')} ms later; in flight ${inFlight.requests} requests, ${inFlight.transactions} SMTP`,
        )
        await cluster.heal(primary, fault, isReset)
        await cluster.whenHealthy()
        return { fault, isReset, inFlight, primaryMs, backMs }
      }

      return {
        httpPorts: nodes.map((node) => node.httpPort),
        smtpPorts: nodes.map((node) => node.smtpPort),
        clientPorts: nodes.map((node) => node.httpPort),
        publicPorts: nodes.map((node) => node.httpPort),
        database: { connectionString: cluster.url },
        async strike(mailboxes) {
          const done: Failover[] = []
          const [mailbox] = mailboxes
          if (mailbox) probes = nodes.map((node) => startProbe(node.httpPort, mailbox))
          while (done.length < options.faults && !limit.aborted) done.push(await fail(done.length))
          await Promise.all(probes.map((probe) => probe.stop()))
          for (const node of nodes) {
            const ended = await Promise.race([node.ended(), delay(0, null)])
            if (ended !== null) ledger.report(`the process ${node.name} ended: ${ended}`)
          }
          return done
        },
      }
    },
  )
}
