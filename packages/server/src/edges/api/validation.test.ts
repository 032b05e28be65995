// Every schema of the contract compiles: in a running server that is found out by the first request of an operation only.
import { operations } from '@callsign/contract'
import fastJson from 'fast-json-stringify'
import { expect, test } from 'vitest'
import { bareSchema, bodyCheck, textCheck } from './validation.ts'

test.each(operations.map((shape) => [shape.id, shape] as const))('%s', (_id, { params, query, body, bodyOptional, reply }) => {
  if (params) expect(() => textCheck(params)({})).not.toThrow()
  if (query) expect(() => textCheck(query)({})).not.toThrow()
  // A list is no body that any operation takes, so that the check that explains is compiled too.
  if (body) expect(() => bodyCheck(body, bodyOptional === true)([])).not.toThrow()
  if (reply) expect(() => fastJson(bareSchema(reply))).not.toThrow()
})
