// A resolver in front of another for busy moments: answers are reused for a few seconds, and servers that do not answer are waited for less.
import { nowMs } from '../../core/clock.ts'
import { type DnsAnswer, type Resolver, resolverThrough } from '../../core/dns.ts'

export type ReuseSettings = {
  /** Below any time to live that is meant: a burst from one sender asks once, a changed record is seen at once for a person. */
  reuseMs?: number
  answersMax?: number
  /** Once nothing has answered for so many questions in a row, each waits only so long, until one is answered again. */
  silencesMax?: number
  impatientMs?: number
}

/** Wraps a resolver. Trouble is never reused; the same question asked twice at once is sent once. */
export function reuseAnswers(resolver: Resolver, settings: ReuseSettings = {}): Resolver {
  const { reuseMs = 5_000, answersMax = 10_000, silencesMax = 5, impatientMs = 500 } = settings
  const answers = new Map<string, { until: number; answer: Promise<DnsAnswer<unknown>> }>()
  let silences = 0

  function ask<T>(type: string, name: string, question: () => Promise<DnsAnswer<T>>): Promise<DnsAnswer<T>> {
    const key = `${type} ${name.toLowerCase()}`
    const known = answers.get(key)
    if (known && known.until > nowMs()) return known.answer as Promise<DnsAnswer<T>>
    const answer = patiently(question)
    const entry = { until: Number.POSITIVE_INFINITY, answer }
    answers.delete(key)
    answers.set(key, entry)
    // Oldest first out: a map keeps the order of insertion.
    if (answers.size > answersMax) answers.delete(answers.keys().next().value as string)
    void answer.then(({ kind }) => {
      if (kind !== 'trouble') entry.until = nowMs() + reuseMs
      else if (answers.get(key) === entry) answers.delete(key)
    })
    return answer
  }

  async function patiently<T>(question: () => Promise<DnsAnswer<T>>): Promise<DnsAnswer<T>> {
    const answer = question()
    void answer.then((found) => {
      silences = found.kind === 'trouble' && found.isSilence ? silences + 1 : 0
    })
    if (silences < silencesMax) return answer
    let timer: NodeJS.Timeout | undefined
    const late = new Promise<DnsAnswer<T>>((resolve) => {
      timer = setTimeout(() => resolve({ kind: 'trouble', reason: 'the DNS servers do not answer', isSilence: true }), impatientMs)
    })
    try {
      return await Promise.race([answer, late])
    } finally {
      clearTimeout(timer)
    }
  }

  return resolverThrough(resolver, ask)
}
