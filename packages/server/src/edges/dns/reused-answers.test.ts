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

test('the same question is asked once, whatever its case, also while it is under way', async () => {
  const { resolver, asked } = createPuppet(async (name) => found(name))
  const reused = reuseAnswers(resolver, { health: working })
  const [first, second] = await Promise.all([reused.txt('a.example'), reused.txt('A.example')])
  expect([first, second, await reused.txt('a.example')]).toEqual([found('a.example'), found('a.example'), found('a.example')])
  await reused.txt('b.example')
  expect(asked).toEqual(['a.example', 'b.example'])
})

test('an answer is good for its time, absence too, failure for none', async () => {
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

test('no more answers are kept than allowed, the oldest go first', async () => {
  const { resolver, asked } = createPuppet(async (name) => found(name))
  const reused = reuseAnswers(resolver, { health: working, answersMax: 2 })
  for (const name of ['a', 'b', 'c', 'b', 'c', 'a']) await reused.txt(name)
  expect(asked).toEqual(['a', 'b', 'c', 'a'])
})

test('a question that stays open is given up once the servers fail a probe, and waits on when they pass it', async () => {
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
