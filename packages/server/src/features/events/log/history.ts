// Finds a reader's place in the event log, also when a failover or a restore has replaced the log by one without the reader's last events.
import { firstId, timeOfId } from '@callsign/contract/ids'
import { batchLoader } from '../../../core/batch.ts'
import { nowMs } from '../../../core/clock.ts'
import { invalid } from '../../../core/errors.ts'
import { newId } from '../../../core/ids.ts'
import type { Database } from '../../../core/sql.ts'
import { keptMs } from './model.ts'
import * as store from './store.ts'

/** The last event of a reader. `id` is null for one before every event. */
export type Mark = store.Head

/** The start of a reader. `lost` is the reader's last event when the log does not have it any more. */
export type Start = Mark & { lost: string | null }

/** Between the clocks of two nodes. */
const clockSkewMsMax = 60_000

export type History = ReturnType<typeof createHistory>

export function createHistory(db: Database) {
  const loadEntry = batchLoader((ids) => store.findEntries(db, ids))

  /**
   * The position of an event. Null when it was lost. An event that was swept is older than every stored one, and has position 0. Throws 400
   * for `field` when it cannot have existed.
   */
  async function findPlace(organizationId: string, id: string, field: string): Promise<number | null> {
    let entry = await loadEntry(id)
    if (entry?.organization_id === organizationId && entry.position === null) {
      await store.placeEvents(db)
      entry = await loadEntry(id)
    }
    if (entry?.organization_id === organizationId && entry.position !== null) return entry.position
    // Compared with a new id, because ids stay ahead of a clock that was set back.
    if (timeOfId(id) > timeOfId(newId('event')) + clockSkewMsMax) throw invalid(field, 'is not the id of an event of this organization')
    const oldest = (await store.findOldest(db, organizationId)) ?? firstId('event', nowMs() - keptMs)
    return id < oldest ? 0 : null
  }

  return {
    findPlace,

    /**
     * True when the log still has this event at its position. Otherwise the log has another past, or the event was swept or deleted with
     * its organization. No rights beyond those of the tables are needed, and a failover that lost nothing changes nothing.
     */
    async has({ id, position }: Mark): Promise<boolean> {
      return id === null || (await loadEntry(id))?.position === position
    },

    /**
     * Where a reader continues after this event. If the event was lost, the reader starts before everything that happened since that event,
     * so that it misses nothing and may get some events again.
     */
    async startAfter(organizationId: string, id: string): Promise<Start> {
      const position = await findPlace(organizationId, id, '/after')
      if (position !== null) return { id: position === 0 ? null : id, position, lost: null }
      const before = await store.findPositionBefore(db, organizationId, new Date(timeOfId(id)))
      const last = await store.findLastOfOrganization(db, organizationId, before)
      return { ...(last ?? { id: null, position: 0 }), lost: id }
    },
  }
}
