// The details of the API reference: every operation has them, and every example is one that the server would accept or give.
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { operations } from '@callsign/contract'
import { eventTypes } from '@callsign/contract/event-types'
import { codeSamples, pathValues } from '@callsign/contract/reference/code-samples'
import { operationDetails } from '@callsign/contract/reference/details'
import { resources } from '@callsign/contract/reference/resources'
import { sampleOf } from '@callsign/contract/reference/samples'
import { webhookSamples } from '@callsign/contract/reference/webhook-samples'
import Type from 'typebox'
import { describe, expect, test } from 'vitest'
import type { Route } from '../src/core/route.ts'
import { bodyCheck, pathCheck, queryCheck } from '../src/edges/api/input/validation.ts'

const features = join(import.meta.dirname, '..', 'src', 'features')

/** Every route, made from parts that are never called. */
async function readRoutes(): Promise<Route[]> {
  const files = readdirSync(features, { recursive: true, encoding: 'utf8' }).filter((path) => path.endsWith('routes.ts'))
  const modules = await Promise.all(
    files.map((path) => import(join(features, path)) as Promise<Record<string, (...parts: unknown[]) => Route[]>>),
  )
  return modules.flatMap((module) => Object.values(module).flatMap((routes) => routes({}, {}, {})))
}

/** Operations that are not for clients. */
const notForClients = ['sendSmsMessage', 'receivePhoneHook', 'receiveImessageCallback', 'downloadAttachment']

/** Operations that authenticate their callers themselves. */
const limitedInside = ['rejectDraft', 'releaseMessage']

test('every operation has details, and all details belong to an operation', () => {
  expect(Object.keys(operationDetails).toSorted()).toEqual(operations.map(({ id }) => id).toSorted())
  expect(
    operations
      .filter(({ id }) => !operationDetails[id]?.sdk)
      .map(({ id }) => id)
      .toSorted(),
  ).toEqual(notForClients.toSorted())
})

test('every tag has a description', () => {
  for (const { tag } of operations) expect(resources[tag], tag).toBeTruthy()
})

test('the details say which operations only organization keys may call', async () => {
  const routes = await readRoutes()
  expect(routes.map(({ shape }) => shape.id).toSorted()).toEqual(operations.map(({ id }) => id).toSorted())
  const limited = [...routes.filter(({ access }) => access === 'organization').map(({ shape }) => shape.id), ...limitedInside]
  const said = Object.entries(operationDetails).filter(([, { keys }]) => keys === 'organization')
  expect(said.map(([id]) => id).toSorted()).toEqual(limited.toSorted())
})

describe.each(operations.map((operation) => [operation.id, operation] as const))('%s', (id, operation) => {
  const details = operationDetails[id] ?? { description: '' }

  test('the description is more than the summary', () => {
    expect(details.description.length).toBeGreaterThan(20)
    expect(details.description).not.toBe(operation.summary)
    expect(details.description).toMatch(/[.)]$/)
  })

  test('the example request is valid', () => {
    const check = (part: string, result: { error?: Error }) => expect(result, part).toEqual({})
    if (operation.params) check('params', pathCheck(operation.params)(pathValues(operation, details)))
    if (operation.query) check('query', queryCheck(operation.query)({ ...details.query }))
    else expect(details.query).toBeUndefined()
    if (operation.body) check('body', bodyCheck(operation.body, false)(structuredClone(details.body)))
    else expect(details.body).toBeUndefined()
  })

  test('the example reply is valid', () => {
    const { reply } = operation
    if (!reply) return expect(details.reply).toBeUndefined()
    const sample = sampleOf(reply, details.reply)
    expect(bodyCheck(reply, false)(structuredClone(sample))).toEqual({})
    for (const name of Object.keys(details.reply ?? {})) expect(sample).toHaveProperty(name)
  })

  test('the code has the values of the example', () => {
    const samples = codeSamples(operation, details, 'https://callsign.example.com')
    expect(samples.map(({ label }) => label)).toContain('curl')
    for (const { source } of samples) expect(source).not.toMatch(/undefined|\[object|\$(body|query|\w+_id)\b/)
  })
})

test('every event type has a webhook sample', () => {
  expect(Object.keys(webhookSamples)).toEqual([...eventTypes])
})

describe('sampleOf', () => {
  test('takes values of the caller, then of the schema', () => {
    const schema = Type.Object({ id: Type.String(), agent_handle: Type.String(), is_read: Type.Boolean() }, { $id: 'MessageFlags' })
    expect(sampleOf(schema)).toEqual({ id: expect.stringMatching(/^msg_/), agent_handle: 'sales', is_read: false })
    expect(sampleOf(schema, { is_read: true })).toMatchObject({ is_read: true })
  })
})
