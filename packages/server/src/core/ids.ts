// New identifiers, stamped with the one clock.
import { type IdKind, newId as stamp } from '@callsign/contract/ids'
import { nowMs } from './clock.ts'

/** A new id of this kind; ids made by one process sort in the order in which they were made. */
export const newId = (kind: IdKind): string => stamp(kind, nowMs())
