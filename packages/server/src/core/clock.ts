// The only place that asks what time it is.

/** Milliseconds since 1970, the wall clock. */
export const nowMs = (): number => Date.now()

/** The wall clock as a date. */
export const now = (): Date => new Date()

/** The date that many milliseconds from now (negative: before now). */
export const inMs = (ms: number): Date => new Date(Date.now() + ms)
