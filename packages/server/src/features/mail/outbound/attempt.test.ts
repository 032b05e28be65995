// The change to a recipient after an attempt, and the time during which a message is tried.
import { expect, test } from 'vitest'
import type { MessageRow, RecipientRow } from '../stored/model.ts'
import { type Attempt, changeOf, lifetimeMs, storedAnswer, suppressionsOf } from './attempt.ts'
import type { DeliveryResult } from './provider.ts'

const recipient: RecipientRow = {
  message_id: 'msg_1',
  position: 0,
  kind: 'to',
  name: '',
  address: 'ann@x.test',
  status: 'queued',
  attempts: 1,
  last_answer: '451 4.3.0 later',
  diagnostic_code: '4.3.0',
  last_attempt_at: null,
  next_attempt_at: null,
  log: [],
}
const delays = [60, 3600, 7200]
const acceptedAt = new Date('2026-01-01T00:00:00Z')
const after = (ms: number) => new Date(acceptedAt.getTime() + ms)
const postponed: DeliveryResult = { kind: 'retry', answer: 'the server is busy', diagnosticCode: '4.4.5', isPostponed: true }
const deferred: DeliveryResult = { kind: 'retry', answer: '451 4.7.1 greylisted', diagnosticCode: '4.7.1' }

test('a postponed attempt does not count and is not logged', () => {
  const at = after(30_000)
  const change = changeOf({ recipient, result: postponed }, recipient, acceptedAt, delays, at)
  expect(change).toMatchObject({ status: 'queued', attempts: 1, lastAnswer: recipient.last_answer, diagnosticCode: '4.3.0', entry: null })
  expect(change.nextAttemptAt?.getTime()).toBeGreaterThan(at.getTime())
})

test('a message is tried as long as its schedule lasts from when it was accepted, however often it was put back or held', () => {
  const limitMs = lifetimeMs(delays)
  expect(limitMs).toBeGreaterThanOrEqual((60 + 3600 + 7200) * 1000)
  const ends = [
    { recipient, result: postponed },
    { recipient, result: deferred },
    { recipient, result: deferred, heldMs: 60_000 },
  ]
  for (const attempt of ends) {
    const change = (ms: number) => changeOf(attempt, recipient, acceptedAt, delays, after(ms))
    expect(change(limitMs - 1).status).toBe('queued')
    expect(change(limitMs)).toMatchObject({ status: 'failed', nextAttemptAt: null, lastAnswer: attempt.result.answer })
    expect(change(limitMs).entry).toMatchObject({ answer: attempt.result.answer })
  }
})

test('a message whose server was down for longer is still tried, and its acceptance counts', () => {
  const taken: DeliveryResult = { kind: 'delivered', answer: '250 2.0.0 ok', final: false }
  expect(changeOf({ recipient, result: taken }, recipient, acceptedAt, delays, after(10 * lifetimeMs(delays))).status).toBe('sent')
})

test('an address is suppressed by a refusal that ends it, of an outside server, about the recipient', () => {
  const row = { id: 'msg_1', organization_id: 'org_1' } as MessageRow
  const isSuppressed = (kind: 'refused' | 'retry', answer: string, diagnosticCode: string | null, more: Partial<Attempt> = {}) =>
    suppressionsOf(row, [{ recipient, result: { kind, answer, diagnosticCode }, ...more }]).length > 0
  expect(
    suppressionsOf(row, [{ recipient, result: { kind: 'refused', answer: '550 No such user here', diagnosticCode: '5.7.1' } }]),
  ).toEqual([{ organizationId: 'org_1', address: 'ann@x.test', source: 'bounce', reason: '550 No such user here', messageId: 'msg_1' }])
  expect(isSuppressed('refused', '550 5.1.1 user unknown', '5.1.1')).toBe(true)
  expect(isSuppressed('refused', '550 5.1.1 user unknown', '5.1.1', { isHosted: true })).toBe(false)
  expect(isSuppressed('retry', '530 5.1.1 user unknown', '5.1.1')).toBe(false)
  expect(isSuppressed('refused', '550 5.1.1 too many recipients', '5.1.1')).toBe(false)
  expect(isSuppressed('refused', '550 5.1.1 user unknown (in reply to MAIL FROM)', '5.1.1')).toBe(false)
})

test.each<[string, string | null, string | null]>([
  ['250 2.0.0 Ok', null, '2.0.0'],
  ['550-5.1.1 No such user', null, '5.1.1'],
  ['451 4.7.1 greylisted', '4.3.0', '4.3.0'],
  ['250 Ok 2.0.0', null, null],
  ['x250 2.0.0 Ok', null, null],
  ['350 2.0.0 Ok', null, null],
  ['2x0 2.0.0 Ok', null, null],
  ['250:2.0.0 Ok', null, null],
  ['250 2.0.0000 Ok', null, null],
])('the answer %j with the code %j has the enhanced code %j in the log', (answer, diagnosticCode, enhanced) => {
  const change = changeOf(
    { recipient, result: { ...deferred, answer, diagnosticCode } as DeliveryResult },
    recipient,
    acceptedAt,
    delays,
    after(1000),
  )
  expect(change).toMatchObject({ diagnosticCode, entry: { enhanced_status: enhanced, answer } })
})

test('a delivery has no code of an error, and its own code in the log', () => {
  const at = after(1000)
  const result = { kind: 'delivered', answer: '250 2.6.0 Queued', hop: { host: 'mx.x.test', tls: null } } as unknown as DeliveryResult
  expect(changeOf({ recipient, result }, recipient, acceptedAt, delays, at)).toMatchObject({
    ...{ attempts: 2, lastAnswer: result.answer, diagnosticCode: null, lastAttemptAt: at, nextAttemptAt: null },
    entry: { result: 'taken', host: 'mx.x.test', tls: null, enhanced_status: '2.6.0' },
  })
})

test('a held attempt does not count and is logged as held', () => {
  const at = after(1000)
  const change = changeOf({ recipient, result: deferred, heldMs: 60_000 }, recipient, acceptedAt, delays, at)
  expect(change).toMatchObject({ attempts: 1, lastAttemptAt: null, nextAttemptAt: after(61_000), entry: { result: 'held' } })
})

test('a stored answer has no NUL, no half of a pair and a largest length', () => {
  expect(storedAnswer('a\0b\ud800')).toBe('ab\ufffd')
  const longest = storedAnswer('x'.repeat(100_000)).length
  expect([longest < 100_000, storedAnswer('y'.repeat(longest)).length]).toEqual([true, longest])
})
