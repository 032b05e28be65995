// The limit on messages between two agents: those that may go, and the wait of the others.
import { expect, test } from 'vitest'
import { findHoldMs } from './agent-loop.ts'

const rule = { messagesMax: 3, windowMs: 1000 }
const now = 10_000
const ago = (ms: number) => new Date(now - ms)

test('messages up to the limit are sent, and messages older than the window do not count', () => {
  expect(findHoldMs([], now, rule)).toBeNull()
  expect(findHoldMs([ago(1), ago(2)], now, rule)).toBeNull()
  expect(findHoldMs([ago(1), ago(2), ago(1000), ago(5000)], now, rule)).toBeNull()
})

test('the next one waits until one has left the window', () => {
  expect(findHoldMs([ago(900), ago(500), ago(1)], now, rule)).toBe(100)
  expect(findHoldMs([ago(1), ago(500), ago(900)], now, rule)).toBe(100)
  expect(findHoldMs([ago(900), ago(500), ago(200), ago(1)], now, rule)).toBe(500)
})

test('those that wait go first: each of them wants a place of its own', () => {
  expect(findHoldMs([null, null], now, rule)).toBeNull()
  expect(findHoldMs([ago(900), ago(500), ago(1), null], now, rule)).toBe(500)
  expect(findHoldMs([ago(900), null, null], now, rule)).toBe(100)
  expect(findHoldMs([null, null, null], now, rule)).toBe(1000)
})

test('a window of 0 holds no message', () => {
  expect(findHoldMs(Array<null>(50).fill(null), now, { messagesMax: 3, windowMs: 0 })).toBeNull()
})
