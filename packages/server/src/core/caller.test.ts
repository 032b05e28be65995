// Scopes and agents of a caller, and the id under which access is revoked.
import { expect, test } from 'vitest'
import { accessIdOf, type Caller, keyIdOf, limitIdOf, mayActFor, onlyAgentOf, personOf, requireScope } from './caller.ts'

const agent = (id: string) => ({ identityId: id, handle: id, mailboxId: `mbx_${id}`, address: `${id}@b.example` })
const caller = (more: Partial<Caller>): Caller =>
  ({
    keyId: 'key_1',
    keyName: 'k',
    keyType: 'agent',
    scopes: new Set(),
    organizationId: 'org_1',
    organizationName: 'o',
    userId: 'usr_1',
    role: 'agent',
    agents: [agent('a')],
    session: null,
    ...more,
  }) as Caller

test('one of the scopes is enough, and the first one is named when all are missing', () => {
  const reader = caller({ scopes: new Set(['mail:read']) })
  expect(() => requireScope(reader, 'quarantine:read')).toThrow(
    'This key does not have the scope quarantine:read. Use a key with this scope.',
  )
  expect(() => requireScope(reader, 'mail:send', 'drafts:approve')).toThrow('the scope mail:send.')
  expect(() => requireScope(reader, 'mail:send', 'mail:read')).not.toThrow()
  expect(() => requireScope(reader)).not.toThrow()
  const member = caller({ role: 'reviewer', session: { id: 'ses_1', memberId: 'usr_1' } })
  expect(() => requireScope(member, 'mail:send')).toThrow('The role reviewer does not include the scope mail:send. Ask an owner.')
})

test('a key acts for its agents, and an organization key for all', () => {
  const both = caller({ agents: [agent('a'), agent('b')] })
  expect(['a', 'b', 'c', null].map((id) => mayActFor(both, id))).toEqual([true, true, false, false])
  expect(mayActFor(caller({ agents: null }), 'c')).toBe(true)
  expect([caller({}), both, caller({ agents: null })].map((one) => onlyAgentOf(one)?.handle)).toEqual(['a', undefined, undefined])
})

test('access is revoked with the session of a console token, or with the key', () => {
  expect(accessIdOf(caller({}))).toBe('key_1')
  expect(accessIdOf(caller({ session: { id: 'ses_1', memberId: null } }))).toBe('ses_1')
})

test('a member is a person, and a key is none, also after it signed in to the console', () => {
  const [key, keyInConsole, member] = [
    caller({}),
    caller({ session: { id: 'ses_1', memberId: null } }),
    caller({ keyId: 'ses_2', session: { id: 'ses_2', memberId: 'usr_1' } }),
  ]
  expect([key, keyInConsole, member].map(personOf)).toEqual([null, null, 'usr_1'])
  expect([key, keyInConsole, member].map((one) => keyIdOf({ caller: one }))).toEqual(['key_1', 'key_1', null])
  expect([key, keyInConsole, member].map(limitIdOf)).toEqual(['key_1', 'key_1', 'usr_1'])
  expect(() => requireScope(keyInConsole, 'mail:send')).toThrow('This key does not have the scope mail:send.')
})
