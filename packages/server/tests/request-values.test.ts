// Ids and integers in requests, over every route of the OpenAPI document. Ids are opaque, and integers are digits.
import { afterAll, beforeAll, expect, test } from 'vitest'
import { exampleRequest, type Known } from './harness/example-request.ts'
import { type Harness, type Json, startHarness } from './harness/start.ts'
import { fakeBlob, fakeWrapping } from './harness/vault-client.ts'

type Operation = { name: string; method: string; template: string; document: Json; parameters: Json[] }

let harness: Harness
let operations: Operation[]
/** Values of existing objects by the name of their parameter. `/phone/` and `/vault/` routes have their own `id`. */
let existing: Record<string, string>
/** Values for the other fields of a request. */
let fields: Record<string, unknown>

beforeAll(async () => {
  harness = await startHarness()
  const identity = await harness.createAgent('ann')
  const { id: message } = await harness.send('ann', 'x@example.com')
  const number = await harness.expectApi(201, 'POST', '/phone/numbers', { body: { agent_handle: 'ann' } })
  const secretIds = { id: 'vsec_01h455vb4pex5vsknk084sn02q', name: 'a', type: 'other', encrypted_payload: fakeBlob() }
  const wrapping = fakeWrapping()
  await harness.expectApi(201, 'POST', '/vault/initialize', { body: wrapping })
  const secret = await harness.expectApi(201, 'POST', '/vault/secrets', { body: secretIds })
  existing = {
    email_address: 'ann@agents.localhost',
    handle: 'ann',
    message_id: message,
    identity_id: identity.id,
    phone: number.id,
    vault: secret.id,
  }
  fields = {
    timeout: 0,
    auth_hash: wrapping.auth_hash,
    encrypted_payload: fakeBlob(),
    url: 'https://example.com/hook',
  }
  operations = Object.entries(harness.document.paths as Json).flatMap(([template, methods]) =>
    Object.entries(methods as Json).map(([method, document]: [string, Json]) => ({
      name: `${method.toUpperCase()} ${template}`,
      method: method.toUpperCase(),
      template,
      document,
      parameters: (document.parameters ?? []).map((one: Json) =>
        one.$ref ? harness.document.components.parameters?.[one.$ref.split('/').at(-1)] : one,
      ),
    })),
  )
})
afterAll(() => harness.stop())

async function statusOf({ method, template, document }: Operation, more: Record<string, unknown>): Promise<number> {
  const known: Known = (name) => {
    if (name in more) return more[name]
    if (name === 'id') return existing[/\/(phone|vault)\//.exec(template)?.[1] ?? 'id']
    if (name === 'agent_handle' && template.endsWith('/access')) return 'ann'
    return template.includes(`{${name}}`) ? existing[name] : fields[name]
  }
  const { path, body } = exampleRequest(harness.document, template, document, known)
  return (await harness.api(method, path, { body })).status
}

/** Texts that are not the id of anything, in forms that no id has and in the form of another kind's id. */
const unknownIds = [
  '0',
  'x',
  'msg_',
  'MSG_01H455VB4PEX5VSKNK084SN02Q',
  'job_01h455vb4pex5vsknk084sn02q',
  'é',
  ' a',
  "' OR 1=1",
  'a'.repeat(500),
]

test('an unknown id or name in the path is 404 in every form', async () => {
  const found: string[] = []
  let count = 0
  for (const operation of operations) {
    // Addresses on the suppression list are not ids, a download is refused by its signature first, and numbers cannot send texts.
    if (/suppressions|^\/media\//.test(operation.template) || operation.name === 'POST /api/v1/phone/numbers/{id}/messages') continue
    for (const { name, in: place } of operation.parameters) {
      if (place !== 'path') continue
      for (const value of unknownIds) {
        count++
        const status = await statusOf(operation, { [name]: value })
        if (status !== 404) found.push(`${operation.name} with ${name}=${value}: ${status}`)
      }
    }
  }
  expect(found).toEqual([])
  expect(count).toBeGreaterThan(500)
})

/** The ids of existing objects that a body or query names, as declared by an example. */
const idsNamed = (operation: Operation): string[] => {
  const schema = operation.document.requestBody?.content['application/json']?.schema
  const inBody = Object.entries((schema?.properties ?? {}) as Json).filter(([, field]) => (field as Json).examples)
  const inQuery = operation.parameters.filter((one) => one.in === 'query' && one.schema.examples)
  return [...inBody.map(([name]) => name), ...inQuery.map((one) => one.name)]
}

test('an unknown id in a body or query has the same status in every form', async () => {
  const statuses: Record<string, number[]> = {}
  for (const operation of operations) {
    for (const name of idsNamed(operation)) {
      const text = { text: 'a', agent: 'ann', to: operation.template.includes('imessage') ? undefined : ['x@example.com'] }
      const wellFormed = `${name === 'id' ? 'vsec' : name === 'thread_id' ? 'thrd' : 'msg'}_01h455vb4pex5vsknk084sn02r`
      const values = [wellFormed, ...unknownIds]
      const found = new Set<number>()
      for (const value of values) found.add(await statusOf(operation, { ...text, [name]: value }))
      statuses[`${operation.name} ${name}`] = [...found]
    }
  }
  // A list filtered by an unknown thread, key or entry is empty. An id of its own is made by the client, so it is not in this table.
  const isFilter = (name: string) => /^GET .*( thread_id|requests key_id|suppressions id)$/.test(name)
  expect(statuses).toEqual(Object.fromEntries(Object.keys(statuses).map((name) => [name, [isFilter(name) ? 200 : 404]])))
  expect(Object.keys(statuses).length).toBeGreaterThan(8)
})

test.each([
  ['an unknown domain', 'PATCH', '/identities/ann', { custom_domain_id: 'x' }],
  ['an unknown domain of the right form', 'PATCH', '/identities/ann', { custom_domain_id: 'dom_01h455vb4pex5vsknk084sn02q' }],
  ['an unknown identity', 'POST', '/imessage/messages', { to: '+14155550123', identity_id: 'x'.repeat(100), text: 'a' }],
])('%s in a body is 404', async (_name, method, path, body) => {
  expect((await harness.api(method, path, { body })).status).toBe(404)
})

test('an integer in a query is digits', async () => {
  const found: string[] = []
  let count = 0
  for (const operation of operations) {
    for (const { name, in: place, schema } of operation.parameters) {
      if (place !== 'query' || schema.type !== 'integer') continue
      for (const value of ['1e2', '0x10', '5.0', '+5', ' 5', '5 ', '', '٥']) {
        count++
        const status = await statusOf(operation, { [name]: value })
        if (status !== 400) found.push(`${operation.name} with ${name}=${value}: ${status}`)
      }
    }
  }
  expect(found).toEqual([])
  expect(count).toBeGreaterThan(100)
  await harness.expectApi(200, 'GET', '/identities?limit=5')
})
