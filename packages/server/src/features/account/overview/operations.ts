// The operation behind the console's overview.
import { firstId } from '@callsign/contract/ids'
import { inMs, nowMs } from '../../../core/clock.ts'
import type { Database } from '../../../core/sql.ts'
import type { Session } from '../sessions/model.ts'
import { type Channel, channelsOf, type FirstSteps, type FolderCounts, type ServerFinding, type Waiting } from './model.ts'
import * as store from './store.ts'

type OverviewAnswer = { waiting: Waiting; channels: Channel[]; findings: ServerFinding[]; first_steps: FirstSteps | null }

export interface Overviews {
  /**
   * Waiting items, the traffic of the last 24 hours, problems of the server, and the first steps. An agent gets its own numbers, and neither
   * problems nor steps.
   */
  describe(session: Session): Promise<OverviewAnswer>
  /** The counts of folders of the organization, or of one agent. An agent gets its own. Counts stop at 1000. */
  countFolders(session: Session, handle: string | null): Promise<FolderCounts>
}

const dayMs = 86_400_000
/** Keys that expire within this time wait for a person. */
const expiryMs = 14 * dayMs

/** `findProblems` returns the problems of this server. */
export function createOverviews(db: Database, findProblems: () => ServerFinding[]): Overviews {
  return {
    countFolders: ({ organizationId, agentHandle }, handle) =>
      store.countFolders(db.reads, { organizationId, agentHandle: agentHandle ?? handle }),

    async describe({ organizationId, agentHandle, member }) {
      const scope = { organizationId, agentHandle }
      const fromMs = nowMs() - dayMs
      const none = { in: 0, out: 0, failed: 0 }
      const isAgent = agentHandle !== null
      const [waiting, events, tunnels, webhooks, vault, steps] = await Promise.all([
        store.countWaiting(db, scope, inMs(expiryMs)),
        store.countEvents(db, scope, firstId('event', fromMs)),
        store.countTunnelRequests(db, scope, firstId('tunnelRequest', fromMs)),
        isAgent ? none : store.countDeliveries(db, organizationId, new Date(fromMs)),
        isAgent ? none : store.countUnlocks(db, organizationId, firstId('audit', fromMs)),
        isAgent ? null : store.readFirstSteps(db, organizationId, member?.id ?? null),
      ])
      const channels: Channel[] = [
        ...channelsOf(events),
        { channel: 'tunnels', ...tunnels },
        { channel: 'webhooks', ...webhooks },
        { channel: 'vault', ...vault },
      ]
      return { waiting, channels, findings: isAgent ? [] : findProblems(), first_steps: steps }
    },
  }
}
