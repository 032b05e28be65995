// Stored messages. Covers get, patch, delete, lists with their filters, threads, search, raw and labels.
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Harness, type Json, startHarness } from './harness/start.ts'

let harness: Harness
/** A message with every kind of content, as it arrived in mia's mailbox. */
let arrived: Json

beforeAll(async () => {
  harness = await startHarness()
  await harness.createAgent('mia')
  await harness.createAgent('other')
  await harness.deliver({
    from: '"Eve, Adams" <eve@example.org>',
    to: 'mia@agents.localhost, Zed <zed@example.org>',
    cc: 'carol@example.org',
    replyTo: 'desk@example.org',
    subject: 'Quarterly report',
    text: 'The plain zebra words',
    html: '<p>The <b>rich</b> zebra words</p>',
    headers: { 'X-Mailer': 'hand' },
    attachments: [{ filename: 'report.pdf', content: Buffer.from('%PDF-1.7'), contentType: 'application/pdf' }],
  })
  arrived = await harness.waitForMail('mia', 'Quarterly report')
})
afterAll(() => harness.stop())

const at = (id: string, suffix = '') => `/mailboxes/mia/messages/${id}${suffix}`
const list = async (query = '', handle = 'mia') => (await harness.expectApi(200, 'GET', `/mailboxes/${handle}/messages${query}`)).data
const deliver = async (subject: string, more: object = {}) => {
  await harness.deliver({ from: 'eve@example.org', to: 'mia@agents.localhost', subject, text: subject, ...more })
  return harness.waitForMail('mia', subject)
}

describe('GET …/messages/{message_id}', () => {
  test('a long text and its HTML are returned unchanged, and only the HTML is compressed in the database', async () => {
    const text = 'A line of a long text with ümlauts.\n'.repeat(1000).trimEnd()
    const html = `<p>${'A line of <b>HTML</b>.<br>\n'.repeat(1000)}</p>`
    const { id } = await deliver('Long', { text, html })
    expect(await harness.expectApi(200, 'GET', at(id))).toMatchObject({ text, html, extracted_text: text })
    const { rows } = await harness.db.query({
      text: 'SELECT pg_column_compression(text) AS text, pg_column_compression(html) AS html, pg_column_compression(search) AS search FROM messages WHERE id = $1',
      values: [id],
    })
    expect(rows).toEqual([{ text: null, html: expect.any(String), search: null }])
  })

  test('has every field of the contract, with its type', () => {
    expect(arrived).toEqual({
      id: expect.stringMatching(/^msg_/),
      mailbox_id: expect.stringMatching(/^mbx_/),
      thread_id: expect.stringMatching(/^thrd_/),
      direction: 'inbound',
      status: 'received',
      from: 'eve@example.org',
      delivered_to: 'mia@agents.localhost',
      to: ['mia@agents.localhost', 'zed@example.org'],
      cc: ['carol@example.org'],
      bcc: [],
      reply_to: ['desk@example.org'],
      subject: 'Quarterly report',
      snippet: 'The plain zebra words',
      text: expect.stringContaining('The plain zebra words'),
      html: expect.stringContaining('<b>rich</b>'),
      extracted_text: expect.stringContaining('The plain zebra words'),
      in_reply_to_message_id: null,
      message_id: expect.stringMatching(/^<.+@.+>$/),
      references: [],
      headers: expect.objectContaining({ 'x-mailer': 'hand', received: expect.any(String), 'return-path': '<eve@example.org>' }),
      is_read: false,
      is_starred: false,
      labels: [],
      tags: [],
      metadata: {},
      codes: [],
      attachments: [
        {
          id: expect.stringMatching(/^att_/),
          filename: 'report.pdf',
          content_type: 'application/pdf',
          size_bytes: 8,
          content_id: null,
          url: expect.stringMatching(/^http:\/\/localhost:\d+\/media\/att_\w+\?expires=\d+&signature=[\w-]+$/),
        },
      ],
      size_bytes: expect.any(Number),
      flags: [],
      guardrail: { decision: 'allowed', rule_id: null, basis: 'mode', reason: expect.any(String) },
      released_at: null,
      trashed_at: null,
      created_at: expect.any(String),
      authentication: {
        source: 'smtp',
        spf: expect.any(Object),
        dkim: expect.any(Object),
        dmarc: expect.any(Object),
        arc: expect.any(Object),
      },
      raw_url: expect.stringContaining('/media/msg_'),
      delivery: null,
    })
  })

  test('the list item has the same content, and `from` with the display name', async () => {
    const { authentication: _a, delivery: _d, raw_url: _raw, attachments, ...rest } = arrived
    const [item] = await list('?subject=quarterly&view=full')
    expect(item).toMatchObject({ ...rest, from: '"Eve, Adams" <eve@example.org>' })
    expect(item.attachments[0]).toMatchObject({ id: attachments[0].id, filename: 'report.pdf' })
  })

  test('an unknown message, one of another mailbox and one of another organization are 404', async () => {
    const unknown = await harness.api('GET', at('msg_01h455vb4pex5vsknk084sn02q'))
    expect([unknown.status, unknown.body.error.code]).toEqual([404, 'not_found'])
    expect((await harness.api('GET', `/mailboxes/other/messages/${arrived.id}`)).status).toBe(404)
    expect((await harness.api('GET', `/mailboxes/nobody/messages/${arrived.id}`)).status).toBe(404)
    expect((await harness.api('GET', at(arrived.id), { key: harness.otherOrganization.key })).status).toBe(404)
  })

  test("/raw is the message as it arrived, with the server's trace on top", async () => {
    const { headers, body } = await harness.api('GET', at(arrived.id, '/raw'))
    expect(headers.get('content-type')).toBe('message/rfc822')
    const text = (body as Buffer).toString('latin1')
    expect(text).toMatch(
      /^Return-Path: <eve@example\.org>\r\nDelivered-To: mia@agents\.localhost\r\nAuthentication-Results: agents\.localhost;(?:\r\n\t.*)+\r\nReceived: from /,
    )
    expect(text).toContain('Subject: Quarterly report\r\n')
    expect(body.length).toBe(arrived.size_bytes)
    expect(text).not.toMatch(/[^\r]\n/)
  })
})

describe('PATCH …/messages/{message_id}', () => {
  test('is_read and is_starred are set, alone or together, and answer {id, is_read, is_starred}', async () => {
    const patch = (body: unknown) => harness.expectApi(200, 'PATCH', at(arrived.id), { body })
    expect(await patch({ is_read: true })).toMatchObject({ id: arrived.id, is_read: true, is_starred: false })
    expect(await patch({ is_starred: true })).toMatchObject({ id: arrived.id, is_read: true, is_starred: true })
    expect(await patch({ is_read: false, is_starred: false })).toMatchObject({ is_read: false, is_starred: false })
    expect(await harness.getMessage('mia', arrived.id)).toMatchObject({ is_read: false, is_starred: false })
  })

  test.each([
    [{}],
    [{ is_read: 'true' }],
    [{ is_read: null }],
    [{ is_read: 1 }],
    [{ subject: 'a' }],
    [{ labels: ['x'.repeat(101)] }],
    [{ labels: [''] }],
  ])('%j is 400', async (body) => {
    expect((await harness.api('PATCH', at(arrived.id), { body })).body.error.code).toBe('validation_error')
  })

  test('labels are replaced, added and removed', async () => {
    const labels = async (body: unknown) => (await harness.expectApi(200, 'PATCH', at(arrived.id), { body })).labels
    expect(await labels({ labels: ['b', 'a'] })).toEqual(['a', 'b'])
    expect(await labels({ add_labels: ['c', 'a'], remove_labels: ['b'] })).toEqual(['a', 'c'])
    expect((await list('?label=c')).map((one: Json) => one.id)).toEqual([arrived.id])
    expect(await list('?label=b')).toEqual([])
    expect(await labels({ labels: [] })).toEqual([])
    const most = Array.from({ length: 50 }, (_, i) => `label-${i}`)
    expect(await labels({ labels: most })).toHaveLength(50)
    expect((await harness.api('PATCH', at(arrived.id), { body: { add_labels: ['one more'] } })).status).toBe(400)
    expect((await harness.getMessage('mia', arrived.id)).labels).toHaveLength(50)
    await labels({ labels: [] })
  })

  test('an unknown message is 404', async () => {
    const answer = await harness.api('PATCH', at('msg_01h455vb4pex5vsknk084sn02q'), { body: { is_read: true } })
    expect(answer.body.error.code).toBe('not_found')
  })
})

describe('DELETE …/messages/{message_id}', () => {
  test('deletes the message and its attachment records permanently, any number of times', async () => {
    const message = await deliver('Short-lived', { attachments: [{ filename: 'a.txt', content: 'abc' }] })
    const link = message.attachments[0].url.replace(harness.publicUrl, '')
    expect((await harness.api('GET', link, { key: null })).status).toBe(200)
    for (let i = 0; i < 3; i++) expect(await harness.expectApi(200, 'DELETE', at(message.id))).toEqual({ id: message.id, deleted: true })
    expect((await harness.api('GET', at(message.id))).status).toBe(404)
    expect((await harness.api('GET', at(message.id, '/raw'))).status).toBe(404)
    expect((await harness.api('GET', link, { key: null })).status).toBe(404)
    expect((await harness.api('PATCH', at(message.id), { body: { is_read: true } })).status).toBe(404)
    expect((await harness.api('GET', `/mailboxes/mia/threads/${message.thread_id}`)).status).toBe(404)
    const { rows } = await harness.db.query({ text: 'SELECT 1 FROM attachments WHERE id = $1', values: [message.attachments[0].id] })
    expect(rows).toEqual([])
  })

  test('ten concurrent deletions all answer 200, and count once', async () => {
    const message = await deliver('Raced')
    const before = (await harness.expectApi(200, 'GET', '/mail/messages?agent=mia')).total
    const answers = await Promise.all(Array.from({ length: 10 }, () => harness.api('DELETE', at(message.id))))
    expect(new Set(answers.map((answer) => answer.status))).toEqual(new Set([200]))
    expect((await harness.expectApi(200, 'GET', '/mail/messages?agent=mia')).total).toBe(before - 1)
  })

  test('an id that never existed, or of another mailbox, is 404 and changes nothing', async () => {
    expect((await harness.api('DELETE', at('msg_01h455vb4pex5vsknk084sn02q'))).status).toBe(404)
    expect((await harness.api('DELETE', `/mailboxes/other/messages/${arrived.id}`)).status).toBe(404)
    expect((await harness.api('DELETE', at(arrived.id), { key: harness.otherOrganization.key })).status).toBe(404)
    await harness.getMessage('mia', arrived.id)
  })
})

describe('filters of GET …/messages', () => {
  test('each filter selects by its field, and they combine', async () => {
    const sent = await harness.send('mia', ['Pat <pat@example.com>'], { subject: 'Outward 100%', bcc: ['secret@example.com'] })
    const starred = await deliver('Starred_one', { from: 'Star Gazer <gazer@example.net>' })
    await harness.expectApi(200, 'PATCH', at(starred.id), { body: { is_starred: true, is_read: true } })
    await harness.waitForStatus('mia', sent.id, 'sent')
    const ids = async (query: string) => (await list(`?${query}`)).map((one: Json) => one.id)
    expect(await ids('direction=outbound')).toEqual([sent.id])
    expect(await ids('status=sent')).toEqual([sent.id])
    expect(await ids('status=received')).not.toContain(sent.id)
    expect(await ids('status=quarantined')).toEqual([])
    expect(await ids('is_starred=true')).toEqual([starred.id])
    expect(await ids('is_starred=false')).not.toContain(starred.id)
    expect(await ids('is_read=false')).not.toContain(starred.id)
    expect(await ids('is_read=true&direction=inbound')).toEqual([starred.id])
    for (const from of ['gazer@example.net', 'GAZER', 'star%20gaz']) expect(await ids(`from=${from}`)).toEqual([starred.id])
    for (const to of ['pat@example.com', 'PAT@EXAMPLE.COM', 'secret@example.com']) expect(await ids(`to=${to}`)).toEqual([sent.id])
    expect(await ids('to=pat')).toEqual([])
    expect(await ids('subject=outward')).toEqual([sent.id])
    // % and _ end words.
    expect(await ids('subject=100%25')).toEqual([sent.id])
    expect(await ids('subject=starred%20on')).toEqual([starred.id])
    for (const nothing of ['subject=_', 'subject=tarred', 'from=azer']) expect(await ids(nothing)).toEqual([])
    expect(await ids(`thread_id=${sent.thread_id}`)).toEqual([sent.id])
    expect(await ids(`after=${starred.created_at}`)).not.toContain(starred.id)
    expect(await ids(`before=${starred.created_at}`)).not.toContain(starred.id)
    expect(await ids(`after=${new Date(Date.parse(starred.created_at) - 1).toISOString()}&subject=starred`)).toEqual([starred.id])
    expect(await ids('subject=starred&direction=outbound')).toEqual([])
  })

  test.each(['direction=sideways', 'status=lost', 'is_read=maybe', 'is_read=', 'after=yesterday', 'label=', 'unknown=1'])(
    '%s is 400',
    async (query) => {
      expect((await harness.api('GET', `/mailboxes/mia/messages?${query}`)).body.error.code).toBe('validation_error')
    },
  )
})

describe('GET …/search', () => {
  const search = async (q: string, more = '') =>
    (await harness.expectApi(200, 'GET', `/mailboxes/mia/search?q=${encodeURIComponent(q)}${more}`)).data

  test('finds words in subject, text and addresses, and marks them with the rest escaped', async () => {
    const message = await deliver('Invoice <4711> & more', { text: 'Please pay 5 < 7 & the invoice by Friday' })
    const [hit] = await search('invoice')
    expect(hit.id).toBe(message.id)
    expect(hit.highlights).toEqual({
      subject: '<mark>Invoice</mark> &lt;4711&gt; &amp; more',
      text: expect.stringContaining('5 &lt; 7 &amp; the <mark>invoice</mark> by Friday'),
    })
    const [byAddress] = await search('carol@example.org')
    expect([byAddress.id, byAddress.highlights]).toEqual([arrived.id, { subject: null, text: null }])
  })

  test('search supports quotes, - and OR', async () => {
    expect((await search('"plain zebra"')).map((one: Json) => one.id)).toEqual([arrived.id])
    expect(await search('"zebra plain"')).toEqual([])
    expect(await search('zebra -plain')).toEqual([])
    expect((await search('invoice OR zebra')).length).toBe(2)
    expect(await search('nowhere')).toEqual([])
  })

  test('strange queries are answered, an empty one is 400, and another mailbox has no matches', async () => {
    for (const q of [`'; DROP TABLE messages; --`, '&|!():*', '"', '\\', 'a'.repeat(500), '🦓']) await search(q)
    expect((await harness.api('GET', '/mailboxes/mia/search?q=')).status).toBe(400)
    expect((await harness.api('GET', '/mailboxes/mia/search')).status).toBe(400)
    expect((await harness.expectApi(200, 'GET', '/mailboxes/other/search?q=zebra')).data).toEqual([])
  })
})
