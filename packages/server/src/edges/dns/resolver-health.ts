// Probes if the DNS servers answer at all, with random names below top-level domains, because a mail sender can control every other name.
import { randomBytes } from 'node:crypto'
import type { DnsAnswer, Resolver, ResolverHealth } from '@callsign/mail/dns'
import { nowMs } from '../../core/clock.ts'

export type HealthSettings = {
  /** Two independent registries. Both have to fail, so that an outage of one of them proves nothing. */
  topLevels?: readonly string[]
  /** Time for which the result of a probe is reused. */
  freshMs?: number
}

export type ObservedHealth = ResolverHealth & {
  /** Records an answer of the servers to any question: an answer about a name proves that they work, a failure proves nothing. */
  observe: (answer: DnsAnswer<unknown>) => void
}

/**
 * Probes through a resolver of its own, so that questions about other names cannot get in its way. Nothing is sent until `isAnswering` is called.
 * The labels are random: a cached answer would hide that the servers are cut off.
 */
export function createResolverHealth(prober: Resolver, settings: HealthSettings = {}): ObservedHealth {
  const { topLevels = ['com', 'org'], freshMs = 10_000 } = settings
  let isAlive = true
  let probedAtMs = Number.NEGATIVE_INFINITY
  let answers = 0
  let probe: Promise<boolean> | null = null

  async function askOnce(): Promise<boolean> {
    const label = `callsign-probe-${randomBytes(8).toString('hex')}`
    const answersBefore = answers
    const probes = await Promise.all(topLevels.map((topLevel) => prober.txt(`${label}.${topLevel}`)))
    isAlive = answers > answersBefore || probes.some((answer) => answer.kind !== 'failure')
    probedAtMs = nowMs()
    return isAlive
  }

  return {
    observe(answer) {
      if (answer.kind === 'failure') return
      answers++
      isAlive = true
    },

    async isAnswering() {
      if (Math.abs(nowMs() - probedAtMs) < freshMs) return isAlive
      probe ??= askOnce().finally(() => (probe = null))
      return probe
    },
  }
}
