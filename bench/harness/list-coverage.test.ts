// The benchmark of growing lists measures every list of the API that can grow.
import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { expect, test } from 'vitest'
import { operations } from '../../packages/contract/src/index.ts'

/** Lists that are not measured, with what bounds them or where they are measured. */
const leftOut: Record<string, string> = {
  listLabels: 'at most 500 per mailbox',
  listMessageShares: 'links of one message that have not expired, with an index by message',
  listTemplates: 'at most 1,000 per organization',
  listMailRules: 'at most 10,000 per agent',
  listWebhooks: 'made by people, with an index by organization and id',
  listTunnelRequests: 'the inspector keeps 200 per tunnel',
  listVaultSecrets: 'at most 10,000 per vault',
  listVaultAccess: 'one per agent of the organization',
  listPhoneNumbers: 'one per agent, with an index by organization and id',
  listSmsMessages: 'texts of one number, with an index by number and id',
  listImessageConversations: 'pairs of a person and an agent, with an index by organization and id',
  listImessages: 'messages of one conversation, with an index by conversation',
  listOutbox: 'the simulator, for tests',
  searchMessages: 'measured by growth.ts and scale.ts',
  waitForMessage: 'a wait, not a list',
  waitForSms: 'a wait, not a list',
}

test('every list is measured, or has a reason to be left out', () => {
  const source = readFileSync(resolve(import.meta.dirname, '../list-growth.ts'), 'utf8')
  const lists = operations.filter(({ method, query }) => method === 'GET' && Object.hasOwn(query?.properties ?? {}, 'cursor'))
  const isMeasured = (path: string): boolean => {
    const pattern = path.replace('/api/v1', '').replaceAll(/\{\w+\}/g, '\\$\\{\\w+\\}')
    return new RegExp(`['\`]${pattern}\\?`).test(source)
  }
  const missing = lists.filter(({ path }) => !isMeasured(path)).map(({ id }) => id)
  expect(lists.length).toBeGreaterThan(30)
  expect(missing.toSorted()).toEqual(Object.keys(leftOut).toSorted())
})
