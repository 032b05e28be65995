// Every schema of the contract compiles. In a running server only the first request of an operation would reveal an error.
import { operations } from '@callsign/contract'
import fastJson from 'fast-json-stringify'
import { type TSchema, Type } from 'typebox'
import { expect, test } from 'vitest'
import { bareSchema, bodyCheck, pathCheck, queryCheck } from './validation.ts'

test.each(operations.map((shape) => [shape.id, shape] as const))('%s', (_id, { params, query, body, bodyOptional, reply }) => {
  if (params) expect(() => pathCheck(params)({})).not.toThrow()
  if (query) expect(() => queryCheck(query)({})).not.toThrow()
  // An array is not a valid body of any operation, so the explaining check is compiled too.
  if (body) expect(() => bodyCheck(body, bodyOptional === true)([])).not.toThrow()
  if (reply) expect(() => fastJson(bareSchema(reply))).not.toThrow()
})

test('the message names a misspelt field before the one that is missing because of it', () => {
  const identity = bodyCheck(operations.find(({ id }) => id === 'createIdentity')?.body as TSchema, false)
  const messageOf = (body: unknown) => identity(body).error?.message
  expect(messageOf({ agent_handel: 'sales' })).toMatch(
    /^agent_handel is not a known field: use agent_handle, .*\. agent_handle is missing\.$/,
  )
  expect(messageOf({ agent_handle: 'sales', display_name: 1 })).toBe('display_name must be a string.')
  expect(messageOf({ a: 1, b: 1, c: 1 })).toMatch(/^a is not .*\. b is not .*\. c is not .* \(and 1 more, see details\)\.$/)
})

test('lengths count characters, of which some are two units', () => {
  const check = bodyCheck(Type.Object({ text: Type.String({ minLength: 2, maxLength: 3 }) }), false)
  const messageOf = (text: string) => check({ text }).error?.message
  for (const text of ['ab', 'abc', '🦊🦊', '🦊🦊🦊', 'a🦊b']) expect(messageOf(text), text).toBeUndefined()
  for (const text of ['a', '🦊', '']) expect(messageOf(text), text).toBe('text must have at least 2 characters.')
  for (const text of ['abcd', '🦊🦊🦊🦊', '🦊abc', 'a'.repeat(100)])
    expect(messageOf(text), text).toBe('text must have at most 3 characters.')
})
