// Scopes of an agent key, and the id under which access is revoked.
import { expect, test } from 'vitest'
import { accessIdOf, type Caller, requireScope } from './caller.ts'

const agent = { identityId: 'agt_1', handle: 'a', mailboxId: 'mbx_1', address: 'a@b.example' }
const caller = (more: Partial<Caller>): Caller =>
  ({
    keyId: 'key_1',
    keyName: 'k',
    keyType: 'agent',
    scopes: [],
    organizationId: 'org_1',
    organizationName: 'o',
    userId: 'usr_1',
    role: 'agent',
    agent,
    session: null,
    ...more,
  }) as Caller

test('an agent key needs the scope, and an organization key has all', () => {
  expect(() => requireScope(caller({ scopes: ['mail:read'] }), 'quarantine:read')).toThrow('This key has no quarantine:read scope.')
  for (const allowed of [caller({ scopes: ['quarantine:read'] }), caller({ agent: null })])
    expect(() => requireScope(allowed, 'quarantine:read')).not.toThrow()
})

test('access is revoked with the session of a console token, or with the key', () => {
  expect(accessIdOf(caller({}))).toBe('key_1')
  expect(accessIdOf(caller({ session: { id: 'ses_1', memberId: null } }))).toBe('ses_1')
})
