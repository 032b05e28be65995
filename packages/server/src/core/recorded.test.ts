// A result is recorded after an outage of the database. Any other failure is passed on.
import { expect, test } from 'vitest'
import { recorded } from './recorded.ts'
import { DatabaseUnavailable } from './sql.ts'

/** A commit that fails with these errors, one after the other, and then succeeds. */
function failing(...errors: Error[]) {
  let runs = 0
  const commit = async () => {
    const error = errors[runs++]
    if (error) throw error
    return 'done'
  }
  return { commit, runs: () => runs }
}

test('a commit is repeated while the database is unavailable', async () => {
  const { commit, runs } = failing(new DatabaseUnavailable('gone', null), new DatabaseUnavailable('gone', null, true))
  expect([await recorded(commit), runs()]).toEqual(['done', 3])
})

test('another failure is not repeated', async () => {
  const { commit, runs } = failing(new DatabaseUnavailable('gone', null), new Error('broken'))
  await expect(recorded(commit)).rejects.toThrow('broken')
  expect(runs()).toBe(2)
})
