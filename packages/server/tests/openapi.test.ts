// The OpenAPI document by an independent validator.
import { operations } from '@callsign/contract'
import { openApiDocument } from '@callsign/contract/openapi'
import { operation } from '@callsign/contract/operation'
import { Validator } from '@seriousme/openapi-schema-validator'
import Type from 'typebox'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { startEdge } from './harness/api-edge.ts'

const document = openApiDocument({ serverUrl: 'https://callsign.example', version: '1.2.3' }, operations)

test('the document of the whole contract is valid OpenAPI 3.1', async () => {
  const validator = new Validator()
  const result = await validator.validate(structuredClone(document))
  expect(result).toEqual({ valid: true })
  expect(validator.version).toBe('3.1')
})

test('every operation is in it, with its errors, its parameters and its key', () => {
  for (const { id, path, method, idempotent, open, params } of operations) {
    const entry = document.paths[path]?.[method.toLowerCase()]
    expect(entry?.operationId).toBe(id)
    expect(entry?.security).toEqual(open ? [] : undefined)
    expect(Object.keys(entry?.responses ?? {})).toEqual(
      expect.arrayContaining(open ? ['400', '500', '503'] : ['400', '401', '403', '429', '500', '503']),
    )
    expect(JSON.stringify(entry?.parameters ?? []).includes('IdempotencyKey')).toBe(idempotent === true)
    for (const name of Object.keys(params?.properties ?? {}))
      expect(entry?.parameters).toContainEqual(expect.objectContaining({ name, in: 'path', required: true }))
  }
  const ids = Object.values(document.paths).flatMap((methods) => Object.values(methods).map((entry) => entry.operationId))
  expect(new Set(ids).size).toBe(ids.length)
  expect(ids).toContain('getReadiness')
})

test('every operation has a description, and an example of each JSON reply of a success', () => {
  for (const entry of Object.values(document.paths).flatMap((methods) => Object.values(methods))) {
    expect([entry.operationId, entry.description]).toEqual([entry.operationId, expect.stringMatching(/^.{20,}[.)]$/s)])
    const successes = Object.entries(entry.responses).filter(([status]) => status.startsWith('2'))
    for (const json of successes.flatMap(([, reply]) => ('content' in reply && reply.content?.['application/json']) || []))
      expect([entry.operationId, json.example]).toEqual([entry.operationId, expect.anything()])
  }
})

test('every reference resolves, and named schemas occur once', () => {
  const text = JSON.stringify(document)
  for (const [, kind, name] of text.matchAll(/"#\/components\/(\w+)\/([\w-]+)"/g)) {
    expect(document.components[kind as 'schemas'][name as string], `${kind}/${name}`).toBeDefined()
  }
  expect(text).not.toContain('"$id"')
  expect(Object.keys(document.components.schemas)).toEqual(expect.arrayContaining(['Error', 'Identity', 'Message', 'Attachment']))
})

test('two schemas of one name are refused', () => {
  const shape = (id: string, reply: Type.TObject) =>
    operation({ id, method: 'GET', path: `/${id}`, summary: 'A.', tag: 'A', scopes: [], status: 200, reply })
  const twice = [shape('a', Type.Object({ a: Type.String() }, { $id: 'A' })), shape('b', Type.Object({ b: Type.String() }, { $id: 'A' }))]
  expect(() => openApiDocument({ serverUrl: 'http://a', version: '1' }, twice)).toThrow('two schemas have the $id A')
})

let edge: Awaited<ReturnType<typeof startEdge>>
beforeAll(async () => {
  edge = await startEdge()
})
afterAll(() => edge.server.drain(1000))

test('the server serves its own document without a key', async () => {
  const served = await edge.call('/openapi.json', { key: '' })
  expect(served.headers.get('content-type')).toContain('application/json')
  const own = JSON.parse(served.text) as typeof document
  expect(own.servers).toEqual([{ url: `http://localhost:${edge.port}` }])
  expect(own.paths['/api/v1/notes']?.post?.operationId).toBe('writeNote')
  expect((await new Validator().validate(own)).valid).toBe(true)
})
