// The order in which the hosts of a connection string are tried.
import { expect, test } from 'vitest'
import { DatabaseUnavailable } from '../../core/sql.ts'
import { Servers } from './servers.ts'

const timeout = new Error('timeout expired')
const replica = new DatabaseUnavailable('a replica', null)

test('a host that does not answer is left out while another one answers', () => {
  const servers = new Servers({ connectionString: 'postgres://user@a:1,b:2,c:3/name' })
  const next = (error: Error): number => {
    servers.failed(servers.at, error)
    return servers.at
  }
  expect([timeout, replica, replica, replica].map(next)).toEqual([1, 2, 1, 2])
  // When none answers, all have their turn.
  expect([timeout, timeout, timeout].map(next)).toEqual([1, 2, 0])
})
