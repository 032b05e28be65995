// One operation with its place in the document.
import type { PathOperation } from '@callsign/contract/openapi-types'

/** `method` is in capitals. */
export type Entry = { path: string; method: string; operation: PathOperation }
