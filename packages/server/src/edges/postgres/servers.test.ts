// The order in which the hosts of a connection string are tried.
import { expect, test } from 'vitest'
import { DatabaseUnavailable } from '../../core/sql.ts'
import { configsOf, Servers } from './servers.ts'

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

test('options of the connection string are kept, and cannot change the settings of a session', () => {
  const options = (text: string): string[] => String(new Servers({ connectionString: text }).config().options).split(/ (?=-c)/)
  const given = options('postgres://user@a/name?options=-c%20search_path%3Dcallsign%20-c+timezone%3DAsia%2FTokyo&sslmode=disable')
  expect(given.slice(0, 2)).toEqual(['-c search_path=callsign', '-c timezone=Asia/Tokyo'])
  expect(given.lastIndexOf('-c timezone=UTC')).toBeGreaterThan(1)
  expect(options('postgres://user@a/name')).not.toContain('undefined')
})

test('sslmode=prefer is TLS first and no TLS next, and every other mode stays as it is', () => {
  expect(configsOf({ connectionString: 'postgres://user@a,b/name?sslmode=prefer&host=%2Ftmp' })).toEqual(
    ['a', 'b'].flatMap((host) => [
      { connectionString: `postgres://user@${host}/name?host=%2Ftmp`, ssl: { rejectUnauthorized: false } },
      { connectionString: `postgres://user@${host}/name?host=%2Ftmp`, ssl: false },
    ]),
  )
  for (const mode of ['require', 'verify-full', 'disable', 'no-verify']) {
    const connectionString = `postgres://user@a/name?sslmode=${mode}`
    expect(configsOf({ connectionString })).toEqual([{ connectionString }])
  }
  const refusal = new Error('The server does not support SSL connections')
  expect(new Servers({ connectionString: 'postgres://user@a/name?sslmode=prefer' }).failed(0, refusal)).toBeInstanceOf(DatabaseUnavailable)
  expect(new Servers({ connectionString: 'postgres://user@a/name?sslmode=require' }).failed(0, refusal)).toBe(refusal)
})
