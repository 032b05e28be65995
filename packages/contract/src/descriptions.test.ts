// Every field of a request has a description, which the reference, the clients and the CLI show.
import { expect, test } from 'vitest'
import { operations } from './index.ts'

type Schema = { description?: string; properties?: Record<string, Schema>; items?: Schema; anyOf?: Schema[] }

/** Paths of the fields without a description, in objects, lists and alternatives. */
function undescribed(schema: Schema | undefined, path: string): string[] {
  if (!schema) return []
  const fields = Object.entries(schema.properties ?? {}).flatMap(([name, field]) => [
    ...(field.description ? [] : [`${path}.${name}`]),
    ...undescribed(field, `${path}.${name}`),
  ])
  return [...fields, ...undescribed(schema.items, `${path}[]`), ...(schema.anyOf ?? []).flatMap((one) => undescribed(one, path))]
}

test.each(operations.map((operation) => ({ ...operation })))('$id: path, query and body are described', ({ id, params, query, body }) => {
  expect([params, query, body].flatMap((schema) => undescribed(schema as Schema | undefined, id))).toEqual([])
})

test('a missing description is found in nested fields', () => {
  const inner = { properties: { name: { description: 'A name.' }, size: {} } }
  expect(
    undescribed({ properties: { a: { description: 'A.', anyOf: [inner, {}] }, b: { description: 'B.', items: inner }, c: {} } }, 'op'),
  ).toEqual(['op.a.size', 'op.b[].size', 'op.c'])
})
