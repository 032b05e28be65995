// Errors of the database, by their SQLSTATE.
import { expect, test } from 'vitest'
import { anyOfIds, DatabaseUnavailable, isForeignKeyViolation, isUniqueViolation, sortedIds, TryAgain } from './sql.ts'

const failure = (more: object) => Object.assign(new Error('x'), more)

test.each([
  [failure({ code: '23505', constraint: 'mailboxes_address' }), true, false],
  [failure({ code: '23505', constraint: 'other' }), false, false],
  [failure({ code: '23505' }), false, false],
  [failure({ code: '23503', constraint: 'mailboxes_address' }), false, true],
  [failure({ constraint: 'mailboxes_address' }), false, false],
  [{ code: '23505', constraint: 'mailboxes_address' }, false, false],
  [{ code: '23503' }, false, false],
  [null, false, false],
  ['23505', false, false],
])('%j', (error, isUnique, isForeignKey) => {
  expect([isUniqueViolation(error, 'mailboxes_address'), isForeignKeyViolation(error)]).toEqual([isUnique, isForeignKey])
})

test('an unreachable database keeps its cause, and a lost commit is known', () => {
  const cause = new Error('ECONNRESET')
  expect({ ...new DatabaseUnavailable('away', cause), cause: new DatabaseUnavailable('away', cause).cause }).toEqual({
    name: 'DatabaseUnavailable',
    isOutcomeUnknown: false,
    cause,
  })
  expect(new DatabaseUnavailable('away', cause, true)).toMatchObject({ message: 'away', isOutcomeUnknown: true })
  expect(new TryAgain()).toMatchObject({ name: 'TryAgain', code: '40001' })
})

test('ids in order are bounds of their list, without texts that cannot be ids', () => {
  const [first, second] = ['msg_01mb78qn000000000000000000', 'msg_01mb78qn000000000000000001'] as const
  expect(sortedIds(new Set([second, 'ä', 'msg_1', first, 'MSG_01MB78QN000000000000000000']))).toEqual([first, second])
  expect(anyOfIds('m.id', '$2')).toBe(
    'm.id = ANY($2::text[]) AND m.id >= ($2::text[])[1] AND m.id <= ($2::text[])[cardinality($2::text[])]',
  )
})
