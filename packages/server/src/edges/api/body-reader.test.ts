// Bodies of requests that end at the same time.
import { PassThrough } from 'node:stream'
import { setImmediate as nextIteration } from 'node:timers/promises'
import { afterEach, expect, test, vi } from 'vitest'
import { ApiError } from '../../core/errors.ts'
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
  await vi.waitFor(() => expect(bodies.has('first')).toBe(true), { interval: 0 })
  expect([...bodies.keys()].sort()).toEqual(['first', 'small'])
  await vi.waitFor(() => expect(bodies.size).toBe(5))
  expect([bodies.get('second'), bodies.get('third'), bodies.get('small')]).toEqual([large, large, 'x'])
  expect(bodies.get('broken')).toBeInstanceOf(ApiError)
})
