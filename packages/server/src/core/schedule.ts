// The next attempt, from a list of delays.

/**
 * Milliseconds to the next attempt after `attempts` tries, or null when the list is used up. Delays are in seconds. Jitter is a share of
 * the delay (0.2 is 80 % to 120 %), drawn with `random` in [0, 1).
 */
export function nextAttemptMs(delaysSeconds: readonly number[], attempts: number, jitter: number, random: number): number | null {
  const delay = delaysSeconds[attempts - 1]
  if (delay === undefined) return null
  return Math.round(delay * 1000 * (1 + jitter * (2 * random - 1)))
}
