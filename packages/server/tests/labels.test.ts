// Labels of mailboxes with their colors, and the pages of shared messages.
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Harness, type Json, startHarness } from './harness/start.ts'

let harness: Harness
beforeAll(async () => {
  harness = await startHarness()
  await harness.createAgent('sales')
  await harness.createAgent('support')
})
afterAll(() => harness?.stop())

const labels = '/mailboxes/sales/labels'
const define = (name: string, more: Json = {}) => harness.expectApi(201, 'POST', labels, { body: { name, ...more } })

async function receive(subject: string, more: Json = {}): Promise<Json> {
  await harness.deliver({ from: 'eve@example.org', to: 'sales@agents.localhost', subject, text: `About ${subject}`, ...more })
  return harness.waitForMail('sales', subject)
}

describe('labels', () => {
  test('are defined once per name and mailbox, and listed', async () => {
    const invoice = await define('invoice', { color: '#E93D82' })
    expect(invoice).toMatchObject({ name: 'invoice', color: '#E93D82', mailbox_id: expect.stringMatching(/^mbx_/) })
    expect(await define('plain')).toMatchObject({ color: '#808080' })
    expect(await harness.api('POST', labels, { body: { name: 'invoice' } })).toMatchObject({
      status: 409,
      body: { error: { code: 'conflict' } },
    })
    await harness.expectApi(201, 'POST', '/mailboxes/support/labels', { body: { name: 'invoice' } })
    for (const body of [{ name: '' }, { name: 'x', color: 'red' }, { color: '#000000' }])
      expect((await harness.api('POST', labels, { body })).status).toBe(400)
    const first = await harness.expectApi(200, 'GET', `${labels}?limit=1`)
    const next = await harness.expectApi(200, 'GET', `${labels}?limit=1&cursor=${first.next_cursor}`)
    expect([...first.data, ...next.data].map(({ name }) => name)).toEqual(['plain', 'invoice'])
  })

  test('a new name is also that on messages, drafts and threads', async () => {
    const { id } = await define('draft')
    const message = await receive('Renamed')
    const path = `/mailboxes/sales/messages/${message.id}`
    await harness.expectApi(200, 'PATCH', path, { body: { labels: ['draft', 'other'] } })
    await harness.expectApi(200, 'PATCH', `/threads/${message.thread_id}`, { body: { labels: ['draft', 'final'] } })
    const draft = await harness.expectApi(201, 'POST', '/mailboxes/sales/drafts', { body: { labels: ['draft', 'final'] } })
    const labelsOfDraft = async () => (await harness.expectApi(200, 'GET', `/mailboxes/sales/drafts/${draft.id}`)).labels
    expect(await harness.expectApi(200, 'PATCH', `${labels}/${id}`, { body: { name: 'final' } })).toMatchObject({ id, name: 'final' })
    expect(await labelsOfDraft()).toEqual(['final'])
    expect((await harness.expectApi(200, 'GET', path)).labels).toEqual(['final', 'other'])
    expect((await harness.expectApi(200, 'GET', `/threads/${message.thread_id}`)).labels).toEqual(['final'])
    const found = await harness.expectApi(200, 'GET', '/mailboxes/sales/threads?label=final')
    expect(found.data.map((thread: Json) => thread.id)).toEqual([message.thread_id])
    expect((await harness.api('PATCH', `${labels}/${id}`, { body: { name: 'invoice' } })).status).toBe(409)
    expect((await harness.expectApi(200, 'GET', path)).labels).toEqual(['final', 'other'])

    expect(await harness.expectApi(200, 'DELETE', `${labels}/${id}`)).toEqual({ id, deleted: true })
    expect(await labelsOfDraft()).toEqual([])
    expect((await harness.expectApi(200, 'GET', path)).labels).toEqual(['other'])
    expect((await harness.expectApi(200, 'GET', `/threads/${message.thread_id}`)).labels).toEqual([])
    for (const method of ['PATCH', 'DELETE'])
      expect((await harness.api(method, `${labels}/${id}`, method === 'PATCH' ? { body: { name: 'x' } } : {})).status).toBe(404)
  })

  test('of one mailbox are not those of another', async () => {
    const { id } = await define('own')
    const support = await harness.agentKey('support')
    for (const key of [support, harness.otherOrganization.key])
      expect((await harness.api('PATCH', `${labels}/${id}`, { key, body: { name: 'taken' } })).status).toBeGreaterThanOrEqual(403)
    expect((await harness.api('DELETE', `/mailboxes/support/labels/${id}`, { key: support })).status).toBe(404)
  })
})

describe('a shared message', () => {
  const share = (id: string, body: Json = {}) => harness.expectApi(200, 'POST', `/mailboxes/sales/messages/${id}/share`, { body })

  test('is a page without a key, until the message is deleted', async () => {
    const message = await receive('Order <1042>', { html: '<p>It ships <b>today</b>.</p>' })
    const { url, expires_at, id } = await share(message.id)
    expect(id).toBe(message.id)
    expect(Math.abs(Date.parse(expires_at) - Date.now() - 48 * 3_600_000)).toBeLessThan(60_000)
    const page = await fetch(url)
    const text = await page.text()
    expect([page.status, page.headers.get('content-disposition')]).toEqual([200, 'inline'])
    expect(page.headers.get('content-type')).toBe('text/html; charset=utf-8')
    for (const part of ['Order &lt;1042&gt;', '<b>today</b>', 'eve@example.org']) expect(text).toContain(part)
    expect((await fetch(url.replace(/signature=./, 'signature=_'))).status).toBe(403)
    expect((await fetch(url.replace(/shr_\w+/, message.id))).status).toBe(403)
    await harness.expectApi(200, 'DELETE', `/mailboxes/sales/messages/${message.id}`)
    expect((await fetch(url)).status).toBe(404)
  })

  test('runs nothing, loads nothing, and does not leave its box', async () => {
    const html = '<script>alert(1)</script></Template></main><style>*{position:fixed}</style><template shadowrootmode="open">x</template>'
    const message = await receive('Evil', { html })
    const page = await fetch((await share(message.id)).url)
    expect(page.headers.get('content-security-policy')).toBe("default-src 'none'; style-src 'unsafe-inline'; img-src data:; sandbox")
    expect(page.headers.get('x-content-type-options')).toBe('nosniff')
    const text = await page.text()
    // One template, which the page closes itself.
    expect([text.match(/<template/gi), text.match(/<\/template/gi)].map((found) => found?.length)).toEqual([1, 1])
    expect(text.indexOf('</template>')).toBeGreaterThan(text.indexOf('position:fixed'))
  })

  test('expires, and has a limit', async () => {
    const message = await receive('Short')
    const { expires_at } = await share(message.id, { expires_in_seconds: 60 })
    expect(Date.parse(expires_at) - Date.now()).toBeLessThanOrEqual(60_000)
    for (const expires_in_seconds of [59, 604_801])
      expect((await harness.api('POST', `/mailboxes/sales/messages/${message.id}/share`, { body: { expires_in_seconds } })).status).toBe(
        400,
      )
    const key = await harness.agentKey('support')
    expect((await harness.api('POST', `/mailboxes/sales/messages/${message.id}/share`, { key })).status).toBe(403)
  })
})

test('instructions of an identity are set and removed', async () => {
  const change = (instructions: string | null) => harness.expectApi(200, 'PATCH', '/identities/sales', { body: { instructions } })
  expect((await harness.expectApi(200, 'GET', '/identities/sales')).instructions).toBeNull()
  expect((await change('Answer in English.')).instructions).toBe('Answer in English.')
  expect((await harness.expectApi(200, 'PATCH', '/identities/sales', { body: { description: 'Sells' } })).instructions).toBe(
    'Answer in English.',
  )
  expect((await change(null)).instructions).toBeNull()
  expect((await harness.api('PATCH', '/identities/sales', { body: { instructions: 'x'.repeat(10_001) } })).status).toBe(400)
})
