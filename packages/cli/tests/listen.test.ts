// callsign listen. Events of a server without a public endpoint arrive at a local program as webhooks that verify.
import { statSync } from 'node:fs'
import { join } from 'node:path'
import { verifyWebhook } from '@callsign/sdk'
import { Webhook as StandardWebhook } from 'standardwebhooks'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { startReceiver } from '../../server/tests/harness/receiver.ts'
import { type Harness, startHarness } from '../../server/tests/harness/start.ts'
import { waitFor } from '../../server/tests/harness/wait.ts'
import { createCommandLine } from './command-line.ts'

let harness: Harness
const line = createCommandLine()
beforeAll(async () => {
  harness = await startHarness()
  for (const handle of ['one', 'two']) await harness.createAgent(handle)
})
afterAll(async () => {
  await harness.stop()
  line.remove()
})

const environment = () => ({ CALLSIGN_URL: harness.baseUrl, CALLSIGN_API_KEY: harness.organizationKey })
const lastEvent = async (): Promise<string> => (await harness.expectApi(200, 'GET', '/events?limit=100')).data.at(-1).id

test('forwards events in order, signed, and the secret stays the same', async () => {
  const receiver = await startReceiver()
  try {
    await harness.send('one', 'two@agents.localhost', { subject: 'Listen' })
    await waitFor('three events', async () => (await harness.expectApi(200, 'GET', '/events')).data.length === 3)
    const [first] = (await harness.expectApi(200, 'GET', '/events')).data
    const listen = (...more: string[]) => line.run(['listen', '--forward-to', receiver.url, ...more], { environment: environment() })
    const ran = await listen('--after', first.id, '--count', '2')
    expect(ran.code).toBe(0)
    const secret = /whsec_\S+/.exec(ran.error)?.[0] as string
    expect(statSync(join(line.folder, 'settings', 'listen-secret')).mode & 0o777).toBe(0o600)
    expect(receiver.received.length).toBe(2)
    for (const { body, headers } of receiver.received) {
      const event = new StandardWebhook(secret).verify(body.toString(), headers as Record<string, string>)
      expect(await verifyWebhook({ body, headers }, secret)).toEqual(event)
      expect(headers['webhook-id']).toBe((event as { id: string }).id)
    }
    const { data } = await harness.expectApi(200, 'GET', `/events?cursor=${first.id}`)
    expect(receiver.payloads()).toEqual(data)
    expect(ran.out.trim().split('\n')).toHaveLength(2)

    const live = listen('--event', 'email.received', '--agent', 'two', '--count', '1', '--after', await lastEvent())
    await harness.send('one', 'two@agents.localhost', { subject: 'Live' })
    const second = await live
    expect(second).toMatchObject({ code: 0, error: expect.stringContaining(secret) })
    expect([ran.error, second.error]).toEqual([
      expect.stringMatching(/^Events of (?!two).* go to/),
      expect.stringMatching(/^Events of two in .* go to/),
    ])
    expect(receiver.payloads().at(-1)).toMatchObject({ type: 'email.received', data: { subject: 'Live', agent_handle: 'two' } })
  } finally {
    await receiver.stop()
  }
})

test('prints events as they happen when it has neither a command nor an address', async () => {
  const after = await lastEvent()
  await harness.send('one', 'two@agents.localhost', { subject: 'Printed' })
  const words = ['listen', '--event', 'email.received', '--after', after, '--count', '1']
  const ran = await line.run(words, { environment: environment() })
  expect(ran).toMatchObject({ code: 0, error: expect.stringContaining('as they happen') })
  expect(ran.out).toMatch(/^\d\d:\d\d:\d\d {2}evt_\w+ {2}email\.received {2}two: Printed\n$/)
  const json = await line.run([...words, '--json'], { environment: environment() })
  expect(JSON.parse(json.out)).toMatchObject({ type: 'email.received', data: { subject: 'Printed' } })
})

test('reports errors before it waits', async () => {
  const listen = (args: string[], more = {}) => line.run(['listen', ...args], { environment: { ...environment(), ...more } })
  expect(await listen(['--exec', 'cat', '--forward-to', 'http://localhost:3000'])).toMatchObject({
    code: 2,
    error: expect.stringContaining('--forward-to'),
  })
  expect(await listen([], { CALLSIGN_API_KEY: 'svc_live_wrong' })).toMatchObject({ code: 3 })
  expect(await listen(['--forward-to', 'localhost:3000'])).toMatchObject({ code: 2 })
  expect(await listen(['--forward-to', 'http://localhost:3000'], { CALLSIGN_API_KEY: 'svc_live_wrong' })).toMatchObject({ code: 3 })
  expect(await listen(['--forward-to', 'http://localhost:3000', '--agent', 'nobody'])).toMatchObject({ code: 4 })
})
