// A message that was read before is written from the cache: its changes, its access and its deletion show in the next answer.
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Harness, type Json, startHarness } from './harness/start.ts'

let harness: Harness
let id: string
let path: string
beforeAll(async () => {
  harness = await startHarness()
  await harness.createAgent('ann')
  await harness.createAgent('bob')
  const attachments = [{ filename: 'ä.txt', content: 'File' }]
  await harness.deliver({ from: 'Eve <eve@example.org>', to: 'ann@agents.localhost', subject: 'Read', text: 'Grüße\n"東京"', attachments })
  ;({ id } = await harness.waitForMail('ann', 'Read'))
  path = `/mailboxes/ann/messages/${id}`
})
afterAll(() => harness?.stop())

const get = (at = path, options?: { key: string }): Promise<Json> => harness.expectApi(200, 'GET', at, options)

describe('a message that was read before', () => {
  test('is the same, from the first and from later answers, by every name of its mailbox', async () => {
    const answers = [await get(), await get(), await get(`/mailboxes/ann@agents.localhost/messages/${id}`)]
    const links = answers.flatMap(({ attachments, raw_url }) => [attachments[0].url, raw_url])
    const comparable = answers.map(({ attachments: [{ url: _url, ...file }], raw_url: _raw, ...message }) => ({ ...message, file }))
    expect(comparable[0]).toMatchObject({ id, from: 'eve@example.org', text: 'Grüße\n"東京"', delivery: null, file: { filename: 'ä.txt' } })
    expect(comparable[1]).toEqual(comparable[0])
    expect(comparable[2]).toEqual(comparable[0])
    for (const link of links) expect((await fetch(link)).status).toBe(200)
  })

  test('shows every change in the next answer', async () => {
    const changes = [{ is_read: true }, { is_read: false, is_starred: true }, { metadata: { k: 'ü' } }, { labels: ['a'] }]
    for (const change of changes) {
      await harness.expectApi(200, 'PATCH', path, { body: change })
      expect(await get()).toMatchObject(change)
      expect(await get()).toMatchObject(change)
    }
  })

  test('shows the delivery of each recipient as it changes', async () => {
    const { id: sent } = await harness.send('ann', 'x@example.com', { subject: 'Out' })
    const at = `/mailboxes/ann/messages/${sent}`
    const seen = new Set<string>()
    await expect
      .poll(async () => {
        const { status, delivery } = await get(at)
        expect(delivery.recipients.map((one: Json) => [one.address, one.status])).toEqual([['x@example.com', status]])
        seen.add(status)
        return status
      })
      .toBe('sent')
    expect((await get(at)).delivery.recipients[0].log).toHaveLength(1)
  })

  test('is hidden from other agents, other scopes and revoked keys', async () => {
    await get()
    const keyOf = async (agent_handle: string, scopes?: string[]) =>
      harness.expectApi(201, 'POST', '/keys', { body: { name: 'k', type: 'agent', agent_handle, ...(scopes && { scopes }) } })
    const [own, other, sender] = [await keyOf('ann'), await keyOf('bob'), await keyOf('ann', ['mail:send'])]
    const statusFor = async (key: string) => (await harness.api('GET', path, { key })).status
    expect(await statusFor(own.key)).toBe(200)
    expect(await statusFor(other.key)).toBe(403)
    expect(await statusFor(sender.key)).toBe(403)
    expect((await harness.api('GET', `/mailboxes/bob/messages/${id}`)).status).toBe(404)
    await harness.expectApi(200, 'DELETE', `/keys/${own.id}`)
    expect(await statusFor(own.key)).toBe(401)
  })

  test('in quarantine needs its scope, also after a key with the scope has read it', async () => {
    await harness.expectApi(201, 'POST', '/identities/ann/mail-rules', {
      body: { direction: 'inbound', action: 'block', entry: 'mal@example.org' },
    })
    await harness.deliver({ from: 'mal@example.org', to: 'ann@agents.localhost', subject: 'Held', text: 'x' })
    const { id: held } = await harness.waitForMail('ann', 'Held', 'quarantined')
    const at = `/mailboxes/ann/messages/${held}`
    expect(await get(at)).toMatchObject({ status: 'quarantined' })
    const { key } = await harness.expectApi(201, 'POST', '/keys', {
      body: { name: 'k', type: 'agent', agent_handle: 'ann', scopes: ['mail:read'] },
    })
    expect((await harness.api('GET', at, { key })).status).toBe(403)
    await harness.expectApi(200, 'POST', `${at}/release`)
    expect(await get(at, { key })).toMatchObject({ id: held, status: 'received' })
  })

  test('is gone after its deletion', async () => {
    await get()
    await harness.expectApi(200, 'DELETE', path)
    expect((await harness.api('GET', path)).status).toBe(404)
  })
})
