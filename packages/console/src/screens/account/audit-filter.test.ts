// The filter of the audit log, and its file.
import type { AuditEntry } from '@callsign/sdk'
import { expect, test } from 'vitest'
import { isWanted, toCsv } from './audit-filter.ts'

const entry: AuditEntry = {
  id: 'aud_1',
  action: 'key.created',
  actor_type: 'member',
  actor_id: 'user_1',
  actor_name: 'Ada',
  target_id: 'key_1',
  details: { name: '=cmd, "quoted"' },
  request_id: null,
  created_at: '2026-11-28T10:00:00.000Z',
}

test.each([
  [{ kind: '', text: '' }, true],
  [{ kind: 'key', text: 'ada' }, true],
  [{ kind: '', text: 'QUOTED' }, true],
  [{ kind: 'ke', text: '' }, false],
  [{ kind: 'vault', text: '' }, false],
  [{ kind: 'key', text: 'eve' }, false],
])('%o finds an entry: %s', (filter, isFound) => {
  expect(isWanted(entry, filter)).toBe(isFound)
})

test('cells are quoted, and a formula in a name stays text', () => {
  const [head, row] = toCsv([{ ...entry, actor_name: '=HYPERLINK("x")' }]).split('\r\n')
  expect(head).toBe('created_at,action,actor_type,actor_id,actor_name,target_id,details,request_id')
  expect(row).toBe('2026-11-28T10:00:00.000Z,key.created,member,user_1,"\'=HYPERLINK(""x"")",key_1,"{""name"":""=cmd, \\""quoted\\""""}",')
})
