// DNS limits per message.
import { expect, onTestFinished, test, vi } from 'vitest'
import type { DnsAnswer, Resolver } from '../dns.ts'
import { limitQuestions } from './dns-questions.ts'

function createPuppet(txt: (name: string) => Promise<DnsAnswer<string>>) {
  const asked: string[] = []
  const never = () => new Promise<never>(() => {})
  const counted = (name: string) => {
    asked.push(name)
    return txt(name)
  }
  const resolver: Resolver = { txt: counted, mx: never, a: never, aaaa: never, cname: never, ptr: never }
  return { resolver, asked }
}
const found = (text: string): DnsAnswer<string> => ({ kind: 'found', records: [text] })

test('a question is asked once, up to a maximum of different ones', async () => {
  const { resolver, asked } = createPuppet(async (name) => found(name))
  const questions = limitQuestions(resolver, { limitMs: 60_000, questionsMax: 2 })
  await Promise.all([questions.txt('a'), questions.txt('A'), questions.txt('b'), questions.txt('b')])
  expect(await questions.txt('c')).toMatchObject({ kind: 'failure', reason: 'too many questions for one message' })
  expect(await questions.txt('a')).toEqual(found('a'))
  expect(asked).toEqual(['a', 'b'])
  questions.close()
})

test('questions in flight at the deadline fail, and so do later ones', async () => {
  const { resolver } = createPuppet(() => new Promise(() => {}))
  const questions = limitQuestions(resolver, { limitMs: 20, questionsMax: 9 })
  const late = { kind: 'failure', reason: 'the time for this message is over' }
  // Clocks are set back, and timers fire a millisecond before the clock says so.
  vi.useFakeTimers({ toFake: ['Date'], now: Date.now() - 60_000 })
  onTestFinished(() => void vi.useRealTimers())
  expect(await Promise.all([questions.txt('a'), questions.aaaa('b')])).toEqual([late, late])
  expect(await questions.txt('c')).toEqual(late)
})

test('a resolver that breaks is failure', async () => {
  const { resolver } = createPuppet(() => Promise.reject(new Error('out of order')))
  const questions = limitQuestions(resolver, { limitMs: 60_000, questionsMax: 9 })
  expect(await questions.txt('a.example')).toEqual({ kind: 'failure', reason: 'out of order for a.example' })
  questions.close()
})
