// DNS limits per message: each question once, a maximum number of questions, and a deadline.
import { type DnsAnswer, type Resolver, resolverThrough } from '../dns.ts'

const nameShownMax = 100

/** A resolver for one message. The answer is `failure` after the deadline, after too many questions, and when the resolver throws. */
export type Questions = Resolver & {
  /** Cancels the deadline. Questions in flight may then never be answered. */
  close: () => void
}

/** `limitMs` is the time of all questions together, from now. Uses one timer per message. */
export function limitQuestions(resolver: Resolver, limits: { limitMs: number; questionsMax: number }): Questions {
  const answers = new Map<string, Promise<DnsAnswer<unknown>>>()
  const waiting = new Set<(answer: DnsAnswer<never>) => void>()
  // Only the timer decides: the wall clock may be behind it, and a question after the timer would wait forever.
  let isOver = false
  const timer = setTimeout(() => {
    isOver = true
    for (const answer of waiting) answer({ kind: 'failure', reason: 'the time for this message is over' })
    waiting.clear()
  }, limits.limitMs)

  function ask<T>(type: string, name: string, question: () => Promise<DnsAnswer<T>>): Promise<DnsAnswer<T>> {
    const key = `${type} ${name.toLowerCase()}`
    const known = answers.get(key)
    if (known) return known as Promise<DnsAnswer<T>>
    const answer = askNow(name, question)
    answers.set(key, answer)
    return answer
  }

  function askNow<T>(name: string, question: () => Promise<DnsAnswer<T>>): Promise<DnsAnswer<T>> {
    if (answers.size >= limits.questionsMax) return Promise.resolve({ kind: 'failure', reason: 'too many questions for one message' })
    if (isOver) return Promise.resolve({ kind: 'failure', reason: 'the time for this message is over' })
    return new Promise((resolve) => {
      waiting.add(resolve)
      const finish = (answer: DnsAnswer<T>) => {
        waiting.delete(resolve)
        resolve(answer)
      }
      question().then(finish, (error: unknown) =>
        finish({ kind: 'failure', reason: `${error instanceof Error ? error.message : 'unknown'} for ${name.slice(0, nameShownMax)}` }),
      )
    })
  }

  return { ...resolverThrough(resolver, ask), close: () => clearTimeout(timer) }
}
