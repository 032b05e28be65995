// Lists of an owner with few rows beside an owner with many. Checks the index that PostgreSQL uses for a plan shared by all owners.
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Harness, startHarness } from './harness/start.ts'

let harness: Harness
beforeAll(async () => {
  harness = await startHarness()
})
afterAll(() => harness?.stop())

test("every list of an owner's newest rows gives the planner the owner's row count", async () => {
  // An index by owner and id, beside the one by id alone. The planner takes both for equally good when it sees only one owner.
  const { rows } = await harness.db.query<{ place: string }>({
    text: `SELECT DISTINCT c.relname || '.' || owner.attname AS place FROM pg_index i
      JOIN pg_class c ON c.oid = i.indrelid AND c.relnamespace = current_schema()::regnamespace
      JOIN pg_attribute owner ON owner.attrelid = c.oid AND owner.attnum = i.indkey[0]
      JOIN pg_attribute id ON id.attrelid = c.oid AND id.attnum = i.indkey[1] AND id.attname = 'id'
      WHERE NOT i.indisunique AND EXISTS (
          SELECT 1 FROM pg_index p WHERE p.indrelid = c.oid AND p.indisunique AND p.indnkeyatts = 1 AND p.indkey[0] = id.attnum)
        AND NOT coalesce(owner.attoptions @> ARRAY['n_distinct=-0.01'], false)`,
  })
  expect(rows).toEqual([])
})

test('a list without rows reads nothing, even when another organization has most of the table', async () => {
  await harness.db.query({
    text: `INSERT INTO audit_log (id, organization_id, action, actor_type, created_at)
      SELECT 'aud_' || lpad(n::text, 26, '0'), $1, 'key.created', 'key', now() FROM generate_series(1, 20000) n`,
    values: [harness.otherOrganization.id],
  })
  await harness.db.query({ text: 'ANALYZE audit_log' })
  const plan = await harness.db.transact(async (tx) => {
    await tx.query({
      text: `PREPARE newest (text, text, int) AS
        SELECT * FROM audit_log WHERE organization_id = $1 AND id < coalesce($2, 'zzzz') ORDER BY id DESC LIMIT $3`,
    })
    const { rows } = await tx.query<{ 'QUERY PLAN': string }>({ text: `EXPLAIN EXECUTE newest ('org_none', NULL, 51)` })
    return rows.map((row) => row['QUERY PLAN']).join('\n')
  })
  expect(plan).toContain('audit_log_newest')
})
