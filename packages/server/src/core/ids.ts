// New identifiers, with timestamps from the one clock.
import { type IdKind, newId as stamp } from '@callsign/contract/ids'
import { nowMs } from './clock.ts'

/** A new id of this kind, with the given time or that of the clock. Ids made by one process sort in order of creation. */
export const newId = (kind: IdKind, atMs = nowMs()): string => stamp(kind, atMs)
