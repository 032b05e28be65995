// Every schema of the contract compiles. In a running server only the first request of an operation would reveal an error.
import { operations } from '@callsign/contract'
import fastJson from 'fast-json-stringify'
import { expect, test } from 'vitest'
import { bareSchema, bodyCheck, pathCheck, queryCheck } from './validation.ts'

test.each(operations.map((shape) => [shape.id, shape] as const))('%s', (_id, { params, query, body, bodyOptional, reply }) => {
  if (params) expect(() => pathCheck(params)({})).not.toThrow()
  if (query) expect(() => queryCheck(query)({})).not.toThrow()
  // An array is not a valid body of any operation, so the explaining check is compiled too.
  if (body) expect(() => bodyCheck(body, bodyOptional === true)([])).not.toThrow()
  if (reply) expect(() => fastJson(bareSchema(reply))).not.toThrow()
})
