// A resolver in front of another for busy moments: answers are reused for a few seconds, and servers that do not work are given up early.
import { type DnsAnswer, type Resolver, resolverThrough } from '@callsign/mail/dns'
import { nowMs } from '../../core/clock.ts'
import { isName } from './resolver.ts'
import type { ObservedHealth } from './resolver-health.ts'

/** Names that are answered without asking a server (RFC 6761 §6.3, RFC 7686 §2), or are not asked at all: they prove nothing about the servers. */
const isAnsweredLocally = (name: string): boolean => !isName(name) || /(?:^|\.)(?:localhost|onion)\.?$/i.test(name)

export type ReuseSettings = {
  health: ObservedHealth
  /** Below any time to live in use: a burst from one sender asks once, a changed record is seen at once for a person. */
  reuseMs?: number
  answersMax?: number
  /** A question that is open for this long waits on only if the servers answer a probe. */
  waitMsMax?: number
}

/** Wraps a resolver. Failures are never reused. Concurrent equal queries are sent once. */
export function reuseAnswers(
  resolver: Resolver,
  { health, reuseMs = 5_000, answersMax = 10_000, waitMsMax = 500 }: ReuseSettings,
): Resolver {
  const answers = new Map<string, { until: number; answer: Promise<DnsAnswer<unknown>> }>()

  function ask<T>(type: string, name: string, question: () => Promise<DnsAnswer<T>>): Promise<DnsAnswer<T>> {
    const key = `${type} ${name.toLowerCase()}`
    const known = answers.get(key)
    if (known && known.until > nowMs()) return known.answer as Promise<DnsAnswer<T>>
    const answer = patiently(question, isAnsweredLocally(name))
    const entry = { until: Number.POSITIVE_INFINITY, answer }
    answers.delete(key)
    answers.set(key, entry)
    // Oldest first out: a map keeps the order of insertion.
    if (answers.size > answersMax) answers.delete(answers.keys().next().value as string)
    void answer.then(({ kind }) => {
      if (kind !== 'failure') entry.until = nowMs() + reuseMs
      else if (answers.get(key) === entry) answers.delete(key)
    })
    return answer
  }

  /** Names that do not answer cost their asker the whole time limit. Only servers that fail a probe are given up before. */
  async function patiently<T>(question: () => Promise<DnsAnswer<T>>, isLocal: boolean): Promise<DnsAnswer<T>> {
    const answer = question()
    if (!isLocal) void answer.then(health.observe)
    let timer: NodeJS.Timeout | undefined
    const givenUp = new Promise<DnsAnswer<T>>((resolve) => {
      timer = setTimeout(async () => {
        if (!(await health.isAnswering())) resolve({ kind: 'failure', reason: 'the DNS servers do not answer', isSilence: true })
      }, waitMsMax)
    })
    try {
      return await Promise.race([answer, givenUp])
    } finally {
      clearTimeout(timer)
    }
  }

  return resolverThrough(resolver, ask)
}
