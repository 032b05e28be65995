// Addresses under concurrent requests of two organizations, checked against the rules of their ownership.
import fc from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Harness, type Json, startHarness } from './harness/start.ts'

let harness: Harness
beforeAll(async () => {
  harness = await startHarness()
  await harness.createAgent('postal')
})
afterAll(() => harness.stop())

/** One request. `slot` chooses an identity of the organization, and `name` a handle or local part that all of them compete for. */
type Act = { kind: 'create' | 'alias' | 'primary' | 'release' | 'delete'; organization: 0 | 1; slot: number; name: number }

const acts = fc.array(
  fc.record({
    kind: fc.constantFrom<Act['kind'][]>('create', 'create', 'alias', 'alias', 'alias', 'primary', 'release', 'release', 'delete'),
    organization: fc.constantFrom<(0 | 1)[]>(0, 1),
    slot: fc.nat(2),
    name: fc.nat(3),
  }),
  { minLength: 2, maxLength: 8 },
)

/** The answers that each request may get. Anything else, and every 5xx, is a defect. */
const answers: Record<Act['kind'], number[]> = {
  create: [201, 409],
  alias: [201, 404, 409],
  primary: [200, 404],
  release: [200, 404, 409],
  delete: [204, 404],
}

let runs = 0

test('an address has one identity at a time, stays with its first organization, and on the mail domain goes with the handle', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(acts, { minLength: 3, maxLength: 6 }), async (batches) => {
      const run = ++runs
      const keys = [harness.organizationKey, harness.otherOrganization.key] as const
      // Two names of the form of a handle, and two that no handle can have.
      const names = [`n${run}_a`, `n${run}_b`, `n${run}.c`, `n${run}-d`]
      const holders = new Map<string, string>()
      const identityOf = ({ organization, slot, name }: Act) =>
        slot === 2 ? (names[name % 2] as string) : `r${run}_${organization}_${slot}`
      const request = (act: Act) => {
        const name = names[act.name] as string
        const handle = identityOf(act)
        const key = keys[act.organization]
        const address = `${name}@agents.localhost`
        switch (act.kind) {
          case 'create':
            return harness.api('POST', '/identities', { key, body: { agent_handle: handle, local_part: act.slot === 2 ? handle : name } })
          case 'alias':
            return harness.api('POST', `/identities/${handle}/addresses`, { key, body: { local_part: name } })
          case 'primary':
            return harness.api('POST', `/identities/${handle}/addresses/${address}/set-primary`, { key })
          case 'release':
            return harness.api('DELETE', `/identities/${handle}/addresses/${address}`, { key })
          default:
            return harness.api('DELETE', `/identities/${handle}`, { key })
        }
      }
      for (const batch of batches) {
        const replies = await Promise.all(batch.map(request))
        for (const [index, { status, body }] of replies.entries())
          expect([batch[index]?.kind, status, body], JSON.stringify(body)).toSatisfy(([kind, got]) =>
            answers[kind as Act['kind']].includes(got as number),
          )
        await checkRules(names, holders)
        await checkMail(names)
      }
    }),
    { numRuns: 25, seed: 20_261_123, endOnFailure: true },
  )
})

async function checkRules(names: string[], holders: Map<string, string>): Promise<void> {
  const { rows } = await harness.db.query<Json>({
    text: `SELECT a.address, a.organization_id, a.identity_id, i.organization_id AS owner, i.agent_handle, b.address AS primary_address
      FROM addresses a LEFT JOIN identities i ON i.id = a.identity_id LEFT JOIN mailboxes b ON b.identity_id = i.id
      WHERE a.address = ANY($1)`,
    values: [names.map((name) => `${name}@agents.localhost`)],
  })
  expect(new Set(rows.map((row) => row.address)).size).toBe(rows.length)
  const { rows: handles } = await harness.db.query<Json>({
    text: 'SELECT agent_handle, id FROM identities WHERE agent_handle = ANY($1)',
    values: [names],
  })
  for (const row of rows) {
    // The organization that had an address first keeps it, deleted or not.
    expect(holders.get(row.address) ?? row.organization_id).toBe(row.organization_id)
    holders.set(row.address, row.organization_id)
    if (row.identity_id !== null) expect(row.owner).toBe(row.organization_id)
    const named = handles.find((identity) => `${identity.agent_handle}@agents.localhost` === row.address)
    if (named && row.identity_id !== null) expect(row.identity_id).toBe(named.id)
  }
}

/** Sends to each name. A message arrives with the present holder of the address alone, and no mailbox has one for an earlier holder. */
async function checkMail(names: string[]): Promise<void> {
  const holdersOf = async () => {
    const { rows } = await harness.db.query<{ address: string; identity_id: string }>({
      text: 'SELECT address, identity_id FROM addresses WHERE address = ANY($1) AND identity_id IS NOT NULL',
      values: [names.map((name) => `${name}@agents.localhost`)],
    })
    return rows
  }
  for (const { address, identity_id } of await holdersOf()) {
    const { id } = await harness.send('postal', address, { subject: `For ${identity_id}` })
    await harness.waitForStatus('postal', id, 'delivered')
  }
  const { rows } = await harness.db.query<{ subject: string; identity_id: string }>({
    text: `SELECT m.subject, b.identity_id FROM messages m JOIN mailboxes b ON b.id = m.mailbox_id WHERE m.direction = 'inbound' AND m.subject LIKE 'For %'`,
  })
  for (const { subject, identity_id } of rows) expect(subject).toBe(`For ${identity_id}`)
}

test('of concurrent requests of two organizations for one address, one gets it, and taking it back later has one winner too', async () => {
  const keys = [harness.organizationKey, harness.otherOrganization.key]
  for (const [index, key] of keys.entries())
    for (let slot = 0; slot < 4; slot++) await harness.createAgent(`race_${index}_${slot}`, {}, key)
  for (const local_part of ['wanted.one', 'wanted_two']) {
    const tries = () =>
      Promise.all(
        keys.flatMap((key, index) =>
          [0, 1, 2, 3].map((slot) => harness.api('POST', `/identities/race_${index}_${slot}/addresses`, { key, body: { local_part } })),
        ),
      )
    const first = await tries()
    expect(first.map(({ status }) => status).toSorted()).toEqual([201, ...Array(7).fill(409)])
    const { agent_handle, email_address } = (first.find(({ status }) => status === 201) as (typeof first)[0]).body
    const winner = Number(agent_handle.split('_')[1])
    await harness.expectApi(200, 'DELETE', `/identities/${agent_handle}/addresses/${email_address}`, { key: keys[winner] as string })
    const second = await tries()
    expect(second.map(({ status }) => status).toSorted()).toEqual([201, ...Array(7).fill(409)])
    expect(second.findIndex(({ status }) => status === 201) >> 2).toBe(winner)
  }
})
