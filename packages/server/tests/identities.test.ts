// Agent identities and their mailboxes. They are created, listed, changed, and deleted with everything that belongs to them.
import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Harness, type Json, startHarness } from './harness/start.ts'
import { waitFor } from './harness/wait.ts'

let harness: Harness
beforeAll(async () => {
  harness = await startHarness()
})
afterAll(() => harness.stop())

const create = (body: unknown, headers: Record<string, string> = {}) => harness.api('POST', '/identities', { body, headers })

describe('POST /identities', () => {
  test('creation makes identity, mailbox and tunnel, and answers 201 with every field', async () => {
    const { status, body } = await create({ agent_handle: 'sales_bot', display_name: 'Sales Bot', description: 'Answers prospects.' })
    expect(status).toBe(201)
    expect(body).toMatchObject({
      id: expect.stringMatching(/^ident_[0-7][0-9a-z]{25}$/),
      agent_handle: 'sales_bot',
      display_name: 'Sales Bot',
      description: 'Answers prospects.',
      mailbox_address: 'sales_bot@agents.localhost',
      status: 'active',
      mailbox: { id: expect.stringMatching(/^mbx_[0-7][0-9a-z]{25}$/), email_address: 'sales_bot@agents.localhost' },
      tunnel: {
        id: expect.stringMatching(/^tun_/),
        public_url: 'https://sales_bot.tunnel.localhost',
        local_url: `http://sales_bot.tunnel.localhost:${new URL(harness.baseUrl).port}/`,
        status: 'active',
      },
      custom_domain_id: null,
      draft_approval: 'none',
      inbound_mode: 'open',
      outbound_mode: 'open',
      created_at: expect.any(String),
      updated_at: body.created_at,
    })
    expect(await harness.expectApi(200, 'GET', '/mailboxes/sales_bot')).toMatchObject({ id: body.mailbox.id })
  })

  test('display_name and description are optional', async () => {
    const { body } = await create({ agent_handle: 'plain' })
    expect([body.display_name, body.description]).toEqual(['', null])
  })

  test.each(['ab', 'x'.repeat(32), '007', '__', 'a_b_c'])('the handle %s is accepted', async (agent_handle) => {
    expect((await create({ agent_handle })).status).toBe(201)
  })

  test.each(['a', 'x'.repeat(33), 'Ab', 'a-b', 'a.b', 'a b', 'ä_', '', '@ab', 'ab\n', 7, null, undefined])(
    'the handle %j is 400 validation_error, because handles are 2-32 lowercase alphanumerics or underscores',
    async (agent_handle) => {
      const { status, body } = await create({ agent_handle })
      expect([status, body.error.code, body.error.details[0].path]).toEqual([400, 'validation_error', '/agent_handle'])
    },
  )

  test('a taken handle is 409 handle_already_taken, in this organization and in any other', async () => {
    await harness.createAgent('taken')
    for (const key of [harness.organizationKey, harness.otherOrganization.key]) {
      const { status, body } = await harness.api('POST', '/identities', { key, body: { agent_handle: 'taken' } })
      expect([status, body.error.code]).toEqual([409, 'handle_already_taken'])
    }
  })

  test('of ten concurrent requests for one handle, one succeeds', async () => {
    const answers = await Promise.all(Array.from({ length: 10 }, () => create({ agent_handle: 'raced' })))
    expect(answers.map((answer) => answer.status).toSorted()).toEqual([201, ...Array(9).fill(409)])
  })

  test('role names and host names that clients look up on their own cannot be taken', async () => {
    const roles = ['postmaster', 'abuse', 'hostmaster', 'admin', 'ssladmin', 'root']
    const hosts = ['mta_sts', 'openpgpkey', 'autoconfig', 'autodiscover', 'wpad', 'isatap', 'www', 'localhost']
    for (const handle of [...roles, ...hosts])
      expect([handle, (await create({ agent_handle: handle })).body.error?.code]).toEqual([handle, 'handle_already_taken'])
  })

  test('control characters in display_name, over-long texts and unknown domains are 400', async () => {
    for (const more of [
      { display_name: 'a\r\nBcc: x@example.com' },
      { display_name: 'x'.repeat(201) },
      { description: 'x'.repeat(2001) },
      { domain: 'not-ours.example' },
    ])
      expect((await create({ agent_handle: 'refused', ...more })).body.error.code).toBe('validation_error')
    await harness.createAgent('refused', { domain: 'agents.localhost' })
  })
})

describe('GET, PATCH /identities', () => {
  test('an identity is found by handle, @handle or id, and an unknown or foreign one is 404', async () => {
    const made = await harness.createAgent('findme')
    for (const name of ['findme', '@findme', made.id]) expect(await harness.expectApi(200, 'GET', `/identities/${name}`)).toEqual(made)
    expect((await harness.api('GET', '/identities/nobody')).body.error.code).toBe('not_found')
    expect((await harness.api('GET', '/identities/findme', { key: harness.otherOrganization.key })).status).toBe(404)
    expect(
      (await harness.api('PATCH', '/identities/findme', { key: harness.otherOrganization.key, body: { display_name: 'a' } })).status,
    ).toBe(404)
  })

  test('PATCH changes the given fields, null clears the description, and the handle is immutable', async () => {
    const made = await harness.createAgent('patchme', { display_name: 'Before', description: 'Old' })
    const first = await harness.expectApi(200, 'PATCH', '/identities/patchme', { body: { display_name: 'After' } })
    expect(first).toEqual({ ...made, display_name: 'After', updated_at: first.updated_at })
    expect(first.updated_at > made.updated_at).toBe(true)
    const second = await harness.expectApi(200, 'PATCH', '/identities/patchme', { body: { description: null } })
    expect(second).toMatchObject({ display_name: 'After', description: null })
    for (const body of [{}, { agent_handle: 'other' }, { display_name: null }, { id: 'a' }])
      expect((await harness.api('PATCH', '/identities/patchme', { body })).status).toBe(400)
  })

  test('the list is newest first, in pages by cursor', async () => {
    const { key } = await harness.createOrganization('Pages')
    for (let i = 0; i < 5; i++) await harness.createAgent(`page_${i}`, {}, key)
    const first = await harness.expectApi(200, 'GET', '/identities?limit=3', { key })
    expect([first.object, first.has_more, first.data.map((one: Json) => one.agent_handle)]).toEqual([
      'list',
      true,
      ['page_4', 'page_3', 'page_2'],
    ])
    const second = await harness.expectApi(200, 'GET', `/identities?limit=3&cursor=${first.next_cursor}`, { key })
    expect([second.has_more, second.next_cursor, second.data.map((one: Json) => one.agent_handle)]).toEqual([
      false,
      null,
      ['page_1', 'page_0'],
    ])
    const mailboxes = await harness.expectApi(200, 'GET', '/mailboxes?limit=2', { key })
    expect([mailboxes.has_more, mailboxes.data.map((one: Json) => one.agent_handle)]).toEqual([true, ['page_4', 'page_3']])
  })
})

describe('GET /mailboxes', () => {
  test('a mailbox is found by full address in any case, by handle or by id', async () => {
    const identity = await harness.createAgent('boxed', { display_name: 'Boxed' })
    const expected = {
      id: identity.mailbox.id,
      email_address: 'boxed@agents.localhost',
      agent_handle: 'boxed',
      agent_identity_id: identity.id,
      display_name: 'Boxed',
      created_at: identity.created_at,
      updated_at: identity.created_at,
    }
    for (const name of ['boxed', 'boxed@agents.localhost', 'BOXED@Agents.Localhost', 'boxed%40agents.localhost', identity.mailbox.id])
      expect(await harness.expectApi(200, 'GET', `/mailboxes/${name}`)).toEqual(expected)
    for (const name of ['boxed@elsewhere.example', 'nobody', 'nobody@agents.localhost'])
      expect((await harness.api('GET', `/mailboxes/${name}`)).body.error.code).toBe('not_found')
    for (const name of ['boxed', identity.mailbox.id])
      expect((await harness.api('GET', `/mailboxes/${name}`, { key: harness.otherOrganization.key })).status).toBe(404)
    await harness.createAgent('unboxed')
    expect((await harness.api('GET', `/mailboxes/${identity.mailbox.id}`, { key: await harness.agentKey('unboxed') })).status).toBe(403)
    await harness.expectApi(200, 'GET', `/mailboxes/${identity.mailbox.id}`, { key: await harness.agentKey('boxed') })
  })
})

describe('DELETE /identities/{handle}', () => {
  test('answers 204, removes mailbox, messages, tunnel and keys, and keeps the handle reserved', async () => {
    await harness.createAgent('leaver')
    await harness.createAgent('stayer')
    const key = await harness.agentKey('leaver')
    const content = Buffer.alloc(100_000, 'x').toString('base64')
    const sent = await harness.send('leaver', 'stayer@agents.localhost', {
      subject: 'Keep me',
      attachments: [{ filename: 'a.bin', content }],
    })
    const arrived = await harness.waitForMail('stayer', 'Keep me')
    await harness.deliver({ from: 'a@example.org', to: 'leaver@agents.localhost', subject: 'Gone', text: 'x'.repeat(100_000) })
    const { attachments } = await harness.getMessage('leaver', sent.id)
    const before = await harness.expectApi(200, 'GET', '/mail/messages')

    const answer = await harness.api('DELETE', '/identities/leaver')
    expect([answer.status, answer.body]).toEqual([204, null])

    for (const path of ['/identities/leaver', '/mailboxes/leaver', `/mailboxes/leaver/messages/${sent.id}`])
      expect((await harness.api('GET', path)).status).toBe(404)
    expect((await harness.api('GET', '/me', { key })).status).toBe(401)
    expect((await harness.api('GET', attachments[0].url.replace(harness.publicUrl, ''), { key: null })).status).toBe(404)
    await expect(harness.deliver({ from: 'a@example.org', to: 'leaver@agents.localhost', subject: 'Late', text: 'a' })).rejects.toThrow(
      '550',
    )
    expect((await create({ agent_handle: 'leaver' })).body.error.code).toBe('handle_already_taken')
    expect((await harness.api('DELETE', '/identities/leaver')).status).toBe(404)

    const after = await harness.expectApi(200, 'GET', '/mail/messages')
    expect([after.total, after.messages.length]).toEqual([before.total - 2, before.messages.length - 2])
    expect((await harness.getMessage('stayer', arrived.id)).attachments).toHaveLength(1)
    for (const table of ['messages', 'threads', 'message_counts', 'thread_references']) {
      const { rows } = await harness.db.query<{ n: number }>({
        text: `SELECT count(*)::int AS n FROM ${table} t WHERE NOT EXISTS (SELECT 1 FROM mailboxes b WHERE b.id = t.mailbox_id)`,
      })
      expect([table, rows[0]?.n]).toEqual([table, 0])
    }
    const { data } = await harness.expectApi(200, 'GET', '/audit')
    expect(data[0]).toMatchObject({ action: 'identity.deleted', details: { agent_handle: 'leaver' } })
  })

  test('the blobs of its mail are deleted too', async () => {
    const countBlobs = async () =>
      (await readdir(join(harness.dataDir, 'blobs'), { recursive: true, withFileTypes: true })).filter((entry) => entry.isFile()).length
    // Blobs of earlier tests are deleted after their answers.
    let before = await countBlobs()
    await waitFor('the blobs without a message to go', async () => {
      const { rows } = await harness.db.query<{ kept: number }>({
        text: `SELECT (SELECT count(*) FROM raw_messages WHERE blob_key IS NOT NULL)::int
                 + (SELECT count(DISTINCT blob_key) FROM attachments)::int AS kept`,
      })
      before = await countBlobs()
      return before === rows[0]?.kept
    })
    await harness.createAgent('heavy')
    await harness.deliver({ from: 'a@example.org', to: 'heavy@agents.localhost', subject: 'Large', text: 'y'.repeat(200_000) })
    await harness.send('heavy', 'x@example.com', {
      attachments: [{ filename: 'a.bin', content: Buffer.alloc(100_000).toString('base64') }],
    })
    expect(await countBlobs()).toBe(before + 2)
    await harness.expectApi(204, 'DELETE', '/identities/heavy')
    await waitFor('the blobs to go', async () => (await countBlobs()) === before)
  })

  test('answers 204 while mail arrives and leaves, and other requests get a clean not-found error', async () => {
    for (let round = 0; round < 12; round++) {
      const agent = `racer_${round}`
      await harness.createAgent(agent)
      const mail = { agent, to: ['x@example.com', 'stayer@agents.localhost'], subject: 'a', text: 'a' }
      const sending = Array.from({ length: 4 }, () => harness.api('POST', '/mail/send', { body: mail }))
      const arriving = Array.from({ length: 4 }, () =>
        harness.deliver({ from: 'a@example.org', to: `${agent}@agents.localhost`, subject: 'a', text: 'a' }).then(
          () => '250',
          (error: Error & { response?: string }) => error.response?.slice(0, 3),
        ),
      )
      const keyed = harness.api('POST', '/keys', { body: { name: 'late', type: 'agent', agent_handle: agent } })
      const deleted = await harness.api('DELETE', `/identities/${agent}`)
      expect(deleted.status).toBe(204)
      for (const { status } of await Promise.all([...sending, keyed])) expect([201, 404]).toContain(status)
      for (const code of await Promise.all(arriving)) expect(['250', '550', '451']).toContain(code)
      expect((await harness.api('GET', `/mailboxes/${agent}`)).status).toBe(404)
    }
    const { rows } = await harness.db.query<{ n: number }>({
      text: 'SELECT count(*)::int AS n FROM messages m WHERE NOT EXISTS (SELECT 1 FROM mailboxes b WHERE b.id = m.mailbox_id)',
    })
    expect(rows[0]?.n).toBe(0)
  })
})
