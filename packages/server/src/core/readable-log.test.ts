// Lines of the log for a terminal.
import { expect, test } from 'vitest'
import { toReadableLine } from './readable-log.ts'

const line = (values: object): string => `${JSON.stringify({ level: 'info', time: '2026-03-02T09:30:01.123Z', ...values })}\n`

test('time, level, message and values are on one line', () => {
  expect(toReadableLine(line({ part: 'http', status: 200, msg: 'request' }))).toBe('09:30:01 info  request part=http status=200\n')
  expect(toReadableLine(line({ msg: 'stopping', pending: { jobs: 2 } }))).toBe('09:30:01 info  stopping pending={"jobs":2}\n')
})

test('the stack of an error follows, indented', () => {
  expect(toReadableLine(line({ level: 'error', msg: 'failed', err: { message: 'a', stack: 'Error: a\n    at b' } }))).toBe(
    '09:30:01 error failed\n  Error: a\n      at b\n',
  )
})

test('values cannot move the cursor, add lines or reorder text', () => {
  const hostile = '\u001b[2J\r\nforged\u009b1A\u202e'
  expect(toReadableLine(line({ msg: 'a', from: hostile }))).toBe('09:30:01 info  a from=\\u001b[2J\\u000d\\nforged\\u009b1A\\u202e\n')
})

test('a line that is not JSON stays', () => {
  expect(toReadableLine('plain\n')).toBe('plain\n')
})
