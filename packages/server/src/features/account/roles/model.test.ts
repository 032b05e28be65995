// Roles against every operation of the contract.
import { operations } from '@callsign/contract'
import { expect, test } from 'vitest'
import { type MemberRole, memberRoles, roleScopes } from './model.ts'

const guarded = operations.filter((one) => !one.open && one.scopes.length > 0)
const runs = (role: MemberRole) => guarded.filter((one) => one.scopes.some((scope) => roleScopes(role).has(scope)))

test('a role includes the roles after it', () => {
  const [owner, operator, reviewer] = memberRoles.map((role) => [...roleScopes(role)])
  expect(owner).toEqual(expect.arrayContaining(operator as string[]))
  expect(operator).toEqual(expect.arrayContaining(reviewer as string[]))
  expect(runs('owner')).toHaveLength(guarded.length)
})

test('a reviewer reads, decides on drafts and releases from quarantine, and changes nothing else', () => {
  const changing = runs('reviewer').filter((one) => one.method !== 'GET')
  expect(changing.map((one) => one.id).sort()).toEqual([
    'createApprovalLink',
    'createSocketToken',
    'deleteDraft',
    'getMessages',
    'rejectDraft',
    'releaseMessage',
    'renderTemplate',
    'requestApproval',
    'revokeApprovalLink',
    'sendDraft',
    'shareMessage',
    'unshareMessage',
  ])
})

test('keys of the API and of the vault are for owners', () => {
  const operator = runs('operator')
  const owners = guarded.filter((one) => !operator.includes(one)).map((one) => one.id)
  expect(owners.sort()).toEqual([
    'createKey',
    'deleteVaultKey',
    'initializeVault',
    'listKeys',
    'listVaultKeys',
    'replaceVaultPrimaryKey',
    'revokeKey',
    'rotateVault',
    'updateKey',
  ])
})
