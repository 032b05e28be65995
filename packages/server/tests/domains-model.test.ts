// Domains against a small model in memory. Any sequence of operations, and concurrent bursts of two organizations that want the same names, answer
// and end as in the model. After every step each organization has at most one default, and each name at most one holder.
import fc from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type DnsServer, startDnsServer } from '../../mail/tests/harness/dns-server.ts'
import { publish, withdraw } from './harness/published-records.ts'
import { type Answer, type Harness, type Json, startHarness } from './harness/start.ts'

let harness: Harness
let dns: DnsServer
beforeAll(async () => {
  dns = await startDnsServer()
  harness = await startHarness({ CALLSIGN_DNS_SERVERS: dns.address })
})
afterAll(async () => {
  await harness.stop()
  await dns.stop()
})

const mailDomain = 'agents.localhost'
type Status = 'pending' | 'verified' | 'failed'
type ModelDomain = {
  id: string
  name: string
  records: Json[]
  isPublished: boolean
  status: Status
  isDefault: boolean
  holdsName: boolean
}
type ModelAgent = { handle: string; domainId: string | null }
/** Newest first. */
type Side = { key: string; domains: ModelDomain[]; agents: ModelAgent[]; gone: string[] }

type Act =
  | { kind: 'create'; name: number }
  | { kind: 'verify'; pick: number }
  | { kind: 'default'; pick: number }
  | { kind: 'get'; pick: number }
  | { kind: 'delete'; pick: number; force: boolean }
  | { kind: 'agent'; pick: number; by: 'none' | 'id' | 'name' | 'mail domain' }
type Op = { side: 0 | 1 } & (
  | { kind: 'act'; act: Act }
  | { kind: 'own' | 'lapse' | 'publish' | 'withdraw' | 'outage'; pick: number }
  | { kind: 'burst'; acts: Act[] }
)

/** The last one picks a deleted domain. */
const pickMax = 8
const pick = fc.nat({ max: pickMax })
const act: fc.Arbitrary<Act> = fc.oneof(
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('create' as const), name: fc.nat({ max: 1 }) }) },
  { weight: 5, arbitrary: fc.record({ kind: fc.constant('verify' as const), pick }) },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('default' as const), pick }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('get' as const), pick }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('delete' as const), pick, force: fc.boolean() }) },
  {
    weight: 6,
    arbitrary: fc.record({
      kind: fc.constant('agent' as const),
      pick,
      by: fc.constantFrom('none' as const, 'none' as const, 'id' as const, 'name' as const, 'mail domain' as const),
    }),
  },
)
const side = fc.constantFrom(0 as const, 1 as const)
const op: fc.Arbitrary<Op> = fc.oneof(
  { weight: 10, arbitrary: fc.record({ side, kind: fc.constant('act' as const), act }) },
  { weight: 2, arbitrary: fc.record({ side, kind: fc.constant('publish' as const), pick }) },
  // Publishes or withdraws records and then checks them, because further steps need the resulting states.
  { weight: 8, arbitrary: fc.record({ side, kind: fc.constantFrom('own' as const, 'own' as const, 'lapse' as const), pick }) },
  { weight: 2, arbitrary: fc.record({ side, kind: fc.constantFrom('withdraw' as const, 'outage' as const), pick }) },
  { weight: 2, arbitrary: fc.record({ side, kind: fc.constant('burst' as const), acts: fc.array(act, { minLength: 2, maxLength: 7 }) }) },
)

let runs = 0
let handles = 0

async function startRun() {
  const run = ++runs
  const names = Array.from({ length: 2 }, (_, index) => `n${index}.run${run}.example`)
  const open = async (): Promise<Side> => ({
    key: (await harness.createOrganization(`run ${run}`)).key,
    domains: [],
    agents: [],
    gone: ['dom_01h455vb4pex5vsknk084sn02q'],
  })
  const sides = [await open(), await open()] as const

  const idAt = (own: Side, index: number): string => {
    const ids = own.domains.length > 0 && index < pickMax ? own.domains.map((one) => one.id) : own.gone
    return ids[index % ids.length] as string
  }
  const find = (own: Side, id: string) => own.domains.find((one) => one.id === id)
  const outcome = ({ status, body }: Answer): string => (status < 300 ? String(status) : `${status} ${body.error.code}`)

  /** Prepares one request. Its target is chosen now, before others of a burst have changed it. */
  function prepare(own: Side, step: Act): { send: () => Promise<Answer>; id: string | null; handle: string | null } {
    const ask = (method: string, path: string, body?: Json) => () =>
      harness.api(method, path, { key: own.key, ...(body === undefined ? {} : { body }) })
    if (step.kind === 'create') return { send: ask('POST', '/domains', { domain: names[step.name] }), id: null, handle: null }
    const id = idAt(own, step.pick)
    if (step.kind === 'verify') return { send: ask('POST', `/domains/${id}/verify`), id, handle: null }
    if (step.kind === 'default') return { send: ask('POST', `/domains/${id}/set-default`), id, handle: null }
    if (step.kind === 'get') return { send: ask('GET', `/domains/${id}`), id, handle: null }
    if (step.kind === 'delete') return { send: ask('DELETE', `/domains/${id}${step.force ? '?force=true' : ''}`), id, handle: null }
    const handle = `m${++handles}`
    const naming = {
      none: {},
      id: { custom_domain_id: id },
      name: { domain: find(own, id)?.name ?? 'gone.example' },
      'mail domain': { domain: mailDomain },
    }
    return { send: ask('POST', '/identities', { agent_handle: handle, ...naming[step.by] }), id, handle }
  }

  /** Applies one request to the model and returns the expected answer. The record statuses follow from the published records. */
  function expected(which: 0 | 1, step: Act, id: string | null, handle: string | null): string {
    const [own, other] = [sides[which], sides[1 - which] as Side]
    if (step.kind === 'create') {
      const name = names[step.name] as string
      if (own.domains.some((one) => one.name === name)) return '409 domain_exists'
      const isDefault = own.domains.length === 0
      own.domains.unshift({ id: '', name, records: [], isPublished: false, status: 'pending', isDefault, holdsName: false })
      return '201'
    }
    const domain = find(own, id ?? '')
    if (step.kind === 'agent') {
      const wanted =
        step.by === 'mail domain'
          ? null
          : step.by === 'none'
            ? own.domains.find((one) => one.isDefault && one.status === 'verified')
            : domain
      if (step.by === 'id' && !wanted) return '404 not_found'
      if ((step.by === 'id' || step.by === 'name') && wanted?.status !== 'verified') return '400 validation_error'
      own.agents.push({ handle: handle as string, domainId: wanted?.id ?? null })
      return '201'
    }
    if (!domain) return '404 not_found'
    switch (step.kind) {
      case 'get':
        return '200'
      case 'verify': {
        if (!domain.isPublished) {
          domain.status = 'failed'
          return '200'
        }
        const holder = other.domains.find((one) => one.name === domain.name && one.holdsName)
        if (!domain.holdsName && holder?.status === 'verified') return '409 domain_exists'
        if (!domain.holdsName && holder) holder.holdsName = false
        domain.status = 'verified'
        domain.holdsName = true
        return '200'
      }
      case 'default':
        if (domain.status !== 'verified') return '400 domain_not_verified'
        for (const one of own.domains) one.isDefault = one === domain
        return '200'
      case 'delete': {
        const users = own.agents.filter((agent) => agent.domainId === domain.id)
        if (users.length > 0 && !step.force) return '409 domain_in_use'
        for (const agent of users) agent.domainId = null
        own.domains = own.domains.filter((one) => one !== domain)
        own.gone.push(domain.id)
        return '200'
      }
    }
  }

  const adopt = (own: Side, { data }: Json) => {
    const made = own.domains.find((one) => one.name === data.domain) as ModelDomain
    made.id = data.id
    made.records = data.dns_records
  }

  /** The records of both sides that name this domain stand in DNS side by side. */
  function publishAll(name: string): void {
    const holders = sides.flatMap((one) => one.domains).filter((one) => one.name === name)
    withdraw(
      dns,
      holders.flatMap((one) => one.records),
    )
    const records = holders.filter((one) => one.isPublished).flatMap((one) => one.records)
    const seen = new Set<string>()
    publish(
      dns,
      records.filter(({ type, name: at, value }) => !seen.has(`${type} ${at} ${value}`) && seen.add(`${type} ${at} ${value}`)),
    )
  }

  async function expectState(): Promise<void> {
    for (const own of sides) {
      const { data } = await harness.expectApi(200, 'GET', '/domains', { key: own.key })
      expect(
        data.map((one: Json) => [one.id, one.domain, one.status, one.is_default, one.mailboxes_count, one.verified_at !== null]),
      ).toEqual(
        own.domains.map((one) => [
          one.id,
          one.name,
          one.status,
          one.isDefault,
          own.agents.filter((agent) => agent.domainId === one.id).length,
          one.status === 'verified',
        ]),
      )
      const agents = await harness.expectApi(200, 'GET', '/identities?limit=100', { key: own.key })
      const shown = new Map(agents.data.map((one: Json) => [one.agent_handle, [one.mailbox_address, one.custom_domain_id]]))
      for (const agent of own.agents) {
        const at = find(own, agent.domainId ?? '')?.name ?? mailDomain
        expect(shown.get(agent.handle)).toEqual([`${agent.handle}@${at}`, agent.domainId])
      }
    }
    await expectInvariants()
  }

  /** Checks the tables alone. An organization has at most one default, a name has one holder, and every mailbox has its domain. */
  async function expectInvariants(): Promise<void> {
    const { rows } = await harness.db.query({
      text: `SELECT 1 FROM domains GROUP BY organization_id HAVING count(*) FILTER (WHERE is_default) > 1
        UNION ALL SELECT 1 FROM domains GROUP BY domain HAVING count(*) FILTER (WHERE holds_name) > 1
        UNION ALL SELECT 1 FROM mailboxes b JOIN addresses a ON a.identity_id = b.identity_id AND a.address = b.address
          LEFT JOIN domains d ON d.id = a.domain_id WHERE split_part(b.address, '@', 2) <> coalesce(d.domain, '${mailDomain}')`,
    })
    expect(rows).toEqual([])
  }

  async function take(step: Op): Promise<void> {
    const own = sides[step.side]
    if (step.kind === 'burst') return runBurst(step.side, step.acts)
    // A step without a target first creates one. Only the last pick selects a deleted domain.
    const wanted = step.kind === 'act' ? step.act : step
    if (own.domains.length === 0 && 'pick' in wanted && wanted.pick < pickMax)
      await take({ side: step.side, kind: 'act', act: { kind: 'create', name: wanted.pick % names.length } })
    if (step.kind !== 'act') {
      const domain = find(own, idAt(own, step.pick))
      if (!domain) return
      if (step.kind !== 'outage') {
        domain.isPublished = step.kind === 'publish' || step.kind === 'own'
        publishAll(domain.name)
        if (step.kind === 'own' || step.kind === 'lapse')
          await take({ side: step.side, kind: 'act', act: { kind: 'verify', pick: step.pick } })
        return
      }
      dns.fail(`_dmarc.${domain.name}`, 'SERVFAIL')
      const answer = await harness.api('POST', `/domains/${domain.id}/verify`, { key: own.key })
      dns.fail(`_dmarc.${domain.name}`, null)
      expect(outcome(answer)).toBe('500 verification_failed')
      return expectState()
    }
    const { send, id, handle } = prepare(own, step.act)
    const answer = await send()
    expect(outcome(answer), JSON.stringify(step)).toBe(expected(step.side, step.act, id, handle))
    if (step.act.kind === 'create' && answer.status === 201) adopt(own, answer.body)
    await expectState()
  }

  /**
   * Sends a burst of one organization while the other is idle. The order of execution is unknown, so this looks for an order that explains every
   * answer and ends in the server's state.
   */
  async function runBurst(which: 0 | 1, acts: Act[]): Promise<void> {
    const own = sides[which]
    const tries = acts.map((step) => ({ step, ...prepare(own, step) }))
    const answers = await Promise.all(tries.map(({ send }) => send()))
    const done = tries.map((one, index) => ({ ...one, answer: answers[index] as Answer }))
    for (const { answer } of done) expect(answer.status === 500 || answer.status > 500, JSON.stringify(answer.body)).toBe(false)
    await expectInvariants()
    const { data } = await harness.expectApi(200, 'GET', '/domains', { key: own.key })
    const agents = await harness.expectApi(200, 'GET', '/identities?limit=100', { key: own.key })
    const ends = (): boolean =>
      data.length === own.domains.length &&
      data.every((one: Json) => {
        const model = find(own, one.id)
        return model?.status === one.status && model?.isDefault === one.is_default
      }) &&
      own.agents.every((agent) =>
        agents.data.some((one: Json) => one.agent_handle === agent.handle && one.custom_domain_id === agent.domainId),
      )
    const save = () => structuredClone([sides[0], sides[1]])
    const restore = ([a, b]: Side[]) => {
      Object.assign(sides[0], structuredClone(a))
      Object.assign(sides[1], structuredClone(b))
    }
    function explain(rest: typeof done): boolean {
      if (rest.length === 0) return ends()
      const before = save()
      const seen = new Set<string>()
      for (const one of rest) {
        // Of two equal requests, only one has to be tried first.
        const shape = JSON.stringify([one.step, one.answer.status, one.answer.body.data?.id ?? one.handle])
        if (seen.has(shape)) continue
        seen.add(shape)
        if (expected(which, one.step, one.id, one.handle) === outcome(one.answer)) {
          if (one.step.kind === 'create' && one.answer.status === 201) adopt(own, one.answer.body)
          if (explain(rest.filter((other) => other !== one))) return true
        }
        restore(before)
      }
      return false
    }
    const story = JSON.stringify(done.map(({ step, answer }) => [step, outcome(answer)]))
    expect(explain(done), `no order explains ${story}`).toBe(true)
    own.domains.sort((a, b) => (a.id < b.id ? 1 : -1))
    await expectState()
  }

  return { take }
}

test('any sequence and any burst matches the model', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(op, { minLength: 10, maxLength: 40, size: 'max' }), async (steps) => {
      const { take } = await startRun()
      for (const step of steps) await take(step)
    }),
    { numRuns: 30, interruptAfterTimeLimit: 90_000, markInterruptAsFailure: false, endOnFailure: true },
  )
})

test('an organization has exactly one default from its first domain to its last, under concurrent requests', async () => {
  for (let round = 0; round < 5; round++) {
    const { key } = await harness.createOrganization('one default')
    const made = await Promise.all(
      Array.from({ length: 6 }, (_, index) =>
        harness.expectApi(201, 'POST', '/domains', { key, body: { domain: `d${index}.round${round}.example` } }),
      ),
    )
    expect(made.filter(({ data }) => data.is_default)).toHaveLength(1)
    for (const { data } of made) publish(dns, data.dns_records)
    await Promise.all(made.map(({ data }) => harness.expectApi(200, 'POST', `/domains/${data.id}/verify`, { key })))
    let isDone = false
    const watch = async () => {
      while (!isDone) {
        const { data } = await harness.expectApi(200, 'GET', '/domains', { key })
        expect(data.filter((one: Json) => one.is_default)).toHaveLength(1)
      }
    }
    const changes = Promise.all(
      made.flatMap(({ data }) =>
        Array.from({ length: 3 }, () => harness.expectApi(200, 'POST', `/domains/${data.id}/set-default`, { key })),
      ),
    )
    await Promise.all([
      watch(),
      changes.finally(() => {
        isDone = true
      }),
    ])
  }
})
