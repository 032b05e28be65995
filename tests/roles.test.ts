// The table of roles lists every operation of the contract, so that a new operation has to be placed.
import { expect, test } from 'vitest'
import { operations } from '../packages/contract/src/index.ts'
import { listedOperations } from '../packages/server/src/features/account/roles/model.ts'

test('every operation has one role: add a new operation to a list in features/account/roles/model.ts', () => {
  const listed = listedOperations()
  expect(operations.filter((one) => !one.open && !listed.includes(one.id)).map((one) => one.id)).toEqual([])
  expect(listed.filter((id) => !operations.some((one) => one.id === id))).toEqual([])
})
