// Bodies of requests that end at the same time.
import { PassThrough } from 'node:stream'
import { setImmediate as nextIteration } from 'node:timers/promises'
import { afterEach, describe, expect, test, vi } from 'vitest'
import type { Caller } from '../../../core/caller.ts'
import { ApiError } from '../../../core/errors.ts'
import { BodyMemory, readBody } from './body-reader.ts'

afterEach(() => vi.restoreAllMocks())

test('large bodies that end at once are parsed in turns, and a small one does not wait', async () => {
  let nowMs = 0
  vi.spyOn(performance, 'now').mockImplementation(() => {
    nowMs += 30
    return nowMs
  })
  const bodies = new Map<string, unknown>()
  const send = (name: string, text: string): void => {
    const payload = new PassThrough({ highWaterMark: 1_000_000 })
    const request = { bodyBytesMax: 1_000_000, isBodyRaw: false, bodyMemory: new BodyMemory(null, '192.0.2.1') }
    readBody(request as never, payload as never, (_error, body) => bodies.set(name, body))
    payload.end(text)
  }
  await nextIteration()
  const large = 'x'.repeat(100_000)
  for (const name of ['first', 'second', 'third']) send(name, JSON.stringify(large))
  send('broken', `"${large}`)
  send('small', '"x"')
  await vi.waitFor(() => expect(bodies.has('small')).toBe(true), { interval: 0 })
  expect([...bodies.keys()]).toEqual(['small'])
  await vi.waitFor(() => expect(bodies.size).toBe(5))
  // The broken one ends a step before the others.
  expect([...bodies.keys()]).toEqual(['small', 'broken', 'first', 'second', 'third'])
  expect([bodies.get('second'), bodies.get('third'), bodies.get('small')]).toEqual([large, large, 'x'])
  expect(bodies.get('broken')).toBeInstanceOf(ApiError)
})

describe('the memory for bodies', () => {
  const megabyte = 1024 * 1024
  const callerOf = (organizationId: string, keyId: string) => ({ organizationId, keyId, session: null }) as unknown as Caller

  /** Takes bodies of 10 MB in turn until each is refused, 100 at most. Returns how many were taken. */
  const fill = (held: BodyMemory[], next: (index: number) => BodyMemory): number => {
    for (let index = 0; index < 100; index++) {
      const memory = next(index)
      if (!memory.count(10 * megabyte)) return index
      held.push(memory)
    }
    return 100
  }

  test('is kept for callers with a key, however many addresses send without one', () => {
    const held: BodyMemory[] = []
    expect(fill(held, (index) => new BodyMemory(null, `192.0.${index}.1`))).toBeLessThan(10)
    expect(fill(held, (index) => new BodyMemory(callerOf('org_one', `key_${index}`), '192.0.2.1'))).toBeGreaterThan(10)
    for (const memory of held) memory.close()
    const again = new BodyMemory(null, '192.0.2.1')
    expect(again.count(10 * megabyte)).toBe(true)
    again.close()
  })

  test('has room for a third organization when two have all they may take', () => {
    const held: BodyMemory[] = []
    for (const organization of ['org_one', 'org_two'])
      expect(fill(held, (index) => new BodyMemory(callerOf(organization, `key_${index}`), undefined))).toBeGreaterThan(10)
    expect(fill(held, (index) => new BodyMemory(callerOf('org_three', `key_${index}`), undefined))).toBeGreaterThan(10)
    for (const memory of held) memory.close()
  })
})
