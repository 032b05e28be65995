// Every operation of the API, called with every scope alone, by every kind of key and with the console token of every role.
import { operations } from '@callsign/contract'
import { agentScopes, defaultAgentScopes, organizationScopes, type Scope, scopePresets, scopes } from '@callsign/contract/scopes'
import { request } from 'undici'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { memberRoles, roleScopes } from '../src/features/account/roles/model.ts'
import { signInMembers } from './harness/members.ts'
import { type Harness, startHarness } from './harness/start.ts'

let harness: Harness
let tokens: Map<string, string>

beforeAll(async () => {
  harness = await startHarness()
  await harness.createAgent('walker')
  tokens = await signInMembers(harness)
})
afterAll(() => harness.stop())

const guarded = operations.filter((one) => !one.open)

type Verdict = 'passed' | 'organization only' | `missing ${string}`

/** The decision of the admission check. Bodies are left out, because scopes are checked before them. Later errors count as passed. */
async function callWith(key: string, { method, path }: (typeof operations)[number]): Promise<Verdict> {
  const answer = await request(`${harness.baseUrl}${path.replace(/\{\w+\}/g, 'none')}`, {
    method: method as 'GET',
    headers: { authorization: `Bearer ${key}` },
  })
  if (String(answer.headers['content-type']).startsWith('text/event-stream')) {
    answer.body.destroy()
    return 'passed'
  }
  const text = await answer.body.text()
  expect(answer.statusCode, `${method} ${path} ${text}`).not.toBe(401)
  expect(answer.statusCode, `${method} ${path} ${text}`).not.toBe(429)
  if (answer.statusCode !== 403) return 'passed'
  const { code, message } = JSON.parse(text).error
  expect(code).toBe('forbidden')
  if (message.includes('requires an organization key')) return 'organization only'
  const named = /the scope ([a-z]+:[a-z]+)\. (Use a key with this scope|Ask an owner)\.$/.exec(message)
  return named ? `missing ${named[1]}` : 'passed'
}

const walk = async (key: string): Promise<Record<string, Verdict>> => {
  const found: Record<string, Verdict> = {}
  for (const one of guarded) found[one.id] = await callWith(key, one)
  return found
}

/** The verdicts for a caller with these scopes, from the contract alone. */
const expected = (held: ReadonlySet<Scope>): Record<string, Verdict> =>
  Object.fromEntries(
    guarded.map((one) => [
      one.id,
      one.scopes.length === 0 || one.scopes.some((scope) => held.has(scope)) ? 'passed' : `missing ${one.scopes[0]}`,
    ]),
  )

/** The operations that any agent key is refused. Found with a key that has every scope of agents. */
let organizationOnly: Set<string>
const forAgents = (verdicts: Record<string, Verdict>): Record<string, Verdict> =>
  Object.fromEntries(Object.entries(verdicts).map(([id, verdict]) => [id, organizationOnly.has(id) ? 'organization only' : verdict]))

beforeAll(async () => {
  const found = await walk(await harness.agentKey('walker', { scopes: agentScopes }))
  organizationOnly = new Set(Object.keys(found).filter((id) => found[id] === 'organization only'))
})

const organizationKey = async (listed: readonly Scope[]): Promise<string> =>
  (await harness.expectApi(201, 'POST', '/keys', { body: { name: 'Walker', type: 'organization', scopes: listed } })).key

test('every scope guards an operation, and every operation but the caller has a scope', () => {
  const used = new Set(guarded.flatMap((one) => one.scopes))
  // Messages in quarantine need it in addition to mail:read, which quarantine.test.ts checks.
  expect(scopes.filter((scope) => !used.has(scope))).toEqual(['quarantine:read'])
  expect(guarded.filter((one) => one.scopes.length === 0).map((one) => one.id)).toEqual(['getCaller'])
})

test('the scopes that agent keys cannot have are those of operations for organization keys alone', () => {
  const isForOrganizations = (scope: Scope): boolean => {
    const own = guarded.filter((one) => one.scopes.includes(scope))
    return own.length > 0 && own.every((one) => organizationOnly.has(one.id))
  }
  const forOrganizations = scopes.filter(isForOrganizations)
  expect(forOrganizations.toSorted()).toEqual(organizationScopes.toSorted())
})

describe.each(scopes.map((scope) => [scope]))('the scope %s alone', (scope) => {
  test('admits an organization key to its operations, and to no other', async () => {
    expect(await walk(await organizationKey([scope]))).toEqual(expected(new Set([scope])))
  })

  test('admits an agent key to its operations on the own agent, or cannot be listed on it', async () => {
    if (organizationScopes.includes(scope)) {
      const body = { name: 'Walker', type: 'agent', agent_handle: 'walker', scopes: [scope] }
      const answer = await harness.api('POST', '/keys', { body })
      expect([answer.status, answer.body.error.details[0].path]).toEqual([400, '/scopes/0'])
    } else {
      // These two add to the default of agents.
      const held = ['vault:read', 'quarantine:read'].includes(scope) ? [...defaultAgentScopes, scope] : [scope]
      expect(await walk(await harness.agentKey('walker', { scopes: [scope] }))).toEqual(forAgents(expected(new Set(held))))
    }
  })
})

describe('keys without scopes', () => {
  test('an organization key has all', async () => {
    expect(await walk(harness.organizationKey)).toEqual(expected(new Set(scopes)))
  })

  test('an agent key has the default of agents', async () => {
    expect(await walk(await harness.agentKey('walker'))).toEqual(forAgents(expected(new Set(defaultAgentScopes))))
  })
})

test('the preset read_only changes nothing, and reads neither the vault nor keys', async () => {
  const verdicts = await walk(await organizationKeyOf({ preset: 'read_only' }))
  expect(verdicts).toEqual(expected(new Set(scopePresets.read_only)))
  const passed = guarded.filter((one) => verdicts[one.id] === 'passed')
  expect(passed.filter((one) => one.method !== 'GET').map((one) => one.id)).toEqual([
    'getMessages',
    'shareMessage',
    'unshareMessage',
    'renderTemplate',
    'createSocketToken',
  ])
  expect(passed.filter((one) => one.scopes.some((scope) => scope.startsWith('vault:') || scope.startsWith('keys:')))).toEqual([])
})

const organizationKeyOf = async (more: object): Promise<string> =>
  (await harness.expectApi(201, 'POST', '/keys', { body: { name: 'Walker', type: 'organization', ...more } })).key

describe.each(memberRoles.map((role) => [role]))('the role %s', (role) => {
  test('runs exactly the operations of its scopes', async () => {
    expect(await walk(tokens.get(role) as string)).toEqual(expected(roleScopes(role)))
  })
})
