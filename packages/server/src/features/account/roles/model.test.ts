// Roles against every operation of the contract.
import { operations } from '@callsign/contract'
import { expect, test } from 'vitest'
import type { Caller } from '../../../core/caller.ts'
import { leastRoleFor, mayRun } from './model.ts'

const open = new Set(operations.filter((one) => one.open).map((one) => one.id))

test('an operation that is not listed is for owners only', () => {
  expect(leastRoleFor('launchMissiles')).toBe('owner')
  const caller = (role: 'owner' | 'operator' | 'reviewer') => ({ role, session: { id: 'cses_1', memberId: 'user_1' } }) as Caller
  expect(['owner', 'operator', 'reviewer'].map((role) => mayRun(caller(role as 'owner'), 'launchMissiles'))).toEqual([true, false, false])
})

test('a reviewer reads, decides on drafts and releases from quarantine, and changes nothing else', () => {
  const changing = operations.filter((one) => one.method !== 'GET' && leastRoleFor(one.id) === 'reviewer').map((one) => one.id)
  expect(changing.sort()).toEqual([
    'createApprovalLink',
    'deleteDraft',
    'getMessages',
    'rejectDraft',
    'releaseMessage',
    'requestApproval',
    'revokeApprovalLink',
    'sendDraft',
  ])
})

test('keys of the API and of the vault are for owners', () => {
  const owners = operations.filter((one) => leastRoleFor(one.id) === 'owner' && !open.has(one.id)).map((one) => one.id)
  expect(owners.sort()).toEqual([
    'createKey',
    'deleteVaultKey',
    'initializeVault',
    'listKeys',
    'listVaultKeys',
    'replaceVaultPrimaryKey',
    'revokeKey',
    'rotateVault',
  ])
})
