// The only place that reads the clock.

/** Milliseconds since 1970, the wall clock. */
export const nowMs = (): number => Date.now()

/** The wall clock as a date. */
export const now = (): Date => new Date()

/** The date that many milliseconds from now. Negative values are in the past. */
export const inMs = (ms: number): Date => new Date(Date.now() + ms)
