// Answers are reused briefly, failures never, and the wait for an open question depends on a probe of the servers.
import type { DnsAnswer, Resolver } from '@callsign/mail/dns'
import { expect, test } from 'vitest'
import { reuseAnswers } from './reused-answers.ts'

/** A resolver with TXT answers from the test. `asked` counts the questions. */
function createPuppet(answer: (name: string) => Promise<DnsAnswer<string>>) {
  const asked: string[] = []
  const never = () => new Promise<never>(() => {})
  const txt = (name: string) => {
    asked.push(name)
    return answer(name)
  }
  const resolver: Resolver = { txt, mx: never, a: never, aaaa: never, cname: never, ptr: never }
  return { resolver, asked }
}
const working = { observe: () => {}, isAnswering: async () => true }
const found = (text: string): DnsAnswer<string> => ({ kind: 'found', records: [text] })

test('the same question is asked once in any letter case, also while it is in flight', async () => {
  const { resolver, asked } = createPuppet(async (name) => found(name))
  const reused = reuseAnswers(resolver, { health: working })
  const [first, second] = await Promise.all([reused.txt('a.example'), reused.txt('A.example')])
  expect([first, second, await reused.txt('a.example')]).toEqual([found('a.example'), found('a.example'), found('a.example')])
  await reused.txt('b.example')
  expect(asked).toEqual(['a.example', 'b.example'])
})

test('an answer or an absence is reused for its lifetime, and a failure is not reused', async () => {
  const short = createPuppet(async () => ({ kind: 'no-name' }))
  const forgetful = reuseAnswers(short.resolver, { health: working, reuseMs: -1 })
  await forgetful.txt('a')
  await forgetful.txt('a')
  expect(short.asked).toHaveLength(2)
  const absent = createPuppet(async () => ({ kind: 'no-name' }))
  const reused = reuseAnswers(absent.resolver, { health: working })
  await reused.txt('a')
  await reused.txt('a')
  expect(absent.asked).toHaveLength(1)
  const sick = createPuppet(async () => ({ kind: 'failure', reason: 'ESERVFAIL' }))
  const hopeful = reuseAnswers(sick.resolver, { health: working })
  await hopeful.txt('a')
  await hopeful.txt('a')
  expect(sick.asked).toHaveLength(2)
})

test('the cache keeps up to its limit and drops the oldest answers first', async () => {
  const { resolver, asked } = createPuppet(async (name) => found(name))
  const reused = reuseAnswers(resolver, { health: working, answersMax: 2 })
  for (const name of ['a', 'b', 'c', 'b', 'c', 'a']) await reused.txt(name)
  expect(asked).toEqual(['a', 'b', 'c', 'a'])
})

test('an unanswered question is given up when the servers fail a probe, and waits on when they pass it', async () => {
  let isAlive = false
  let answerLate: (answer: DnsAnswer<string>) => void = () => {}
  const { resolver } = createPuppet(() => new Promise((resolve) => (answerLate = resolve)))
  const reused = reuseAnswers(resolver, { health: { observe: () => {}, isAnswering: async () => isAlive }, waitMsMax: 1 })
  // This question would wait forever.
  expect(await reused.txt('a')).toMatchObject({ kind: 'failure', isSilence: true })
  isAlive = true
  const patient = reused.txt('b')
  await new Promise((resolve) => setTimeout(resolve, 20))
  answerLate(found('at last'))
  expect(await patient).toEqual(found('at last'))
})
