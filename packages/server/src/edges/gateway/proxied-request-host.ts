// What an exchange asks of the gateway that it belongs to.
import type { Log } from '../../core/log.ts'
import type { RequestRecord } from '../../features/tunnels/model.ts'
import type { Carrier } from './client-session.ts'
import type { UnderWayList } from './in-flight.ts'

/** A visitor or a target that moves no byte for this long, while the other side waits for it, has gone. */
export const stalledMsMax = 300_000

export type ExchangeHost = {
  exchanges: UnderWayList
  /** A client of the tunnel that is not among those tried; at once when one is connected here. */
  pick(tunnelId: string, tried: Set<string>): Carrier | null | Promise<Carrier | null>
  /** The way to this client leads nowhere. */
  forget(carrier: Carrier): void
  record(record: RequestRecord): void
  /** How long a target may take to begin its answer. */
  answerMsMax: number
  /** Requests that one client may have under way. */
  streamsMax: number
  log: Log
}
