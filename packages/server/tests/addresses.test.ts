// Addresses of identities. They are created, chosen, deleted and taken back, mail follows them in and out, and no other organization gets one.
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { verifyDkim } from '../../mail/tests/harness/dkim-verifier.ts'
import { type DnsServer, startDnsServer } from '../../mail/tests/harness/dns-server.ts'
import { type MailSink, startMailSink } from './harness/mail-sink.ts'
import { ownDomain } from './harness/published-records.ts'
import { type Harness, type Json, startHarness } from './harness/start.ts'
import { waitFor } from './harness/wait.ts'

let dns: DnsServer
let sink: MailSink
let harness: Harness
let acme: Json
let other: string
beforeAll(async () => {
  dns = await startDnsServer()
  sink = await startMailSink()
  harness = await startHarness({
    CALLSIGN_DNS_SERVERS: dns.address,
    CALLSIGN_MAIL_TRANSPORT: 'relay',
    CALLSIGN_SMTP_RELAY_URL: sink.url,
  })
  other = harness.otherOrganization.key
  acme = await ownDomain(harness, dns, 'acme.example')
  await harness.createAgent('ann', { display_name: 'Ann', domain: 'agents.localhost' })
})
afterAll(async () => {
  await harness.stop()
  await sink.close()
  await dns.stop()
})

const add = (handle: string, body: Json, key = harness.organizationKey) =>
  harness.api('POST', `/identities/${handle}/addresses`, { body, key })
const remove = (handle: string, address: string, key = harness.organizationKey) =>
  harness.api('DELETE', `/identities/${handle}/addresses/${encodeURIComponent(address)}`, { key })
const made = async (handle: string, body: Json): Promise<Json> => {
  const { status, body: address } = await add(handle, body)
  expect([status, address]).toMatchObject([201, {}])
  return address
}
const code = ({ status, body }: { status: number; body: Json }) => [status, body.error?.code, body.error?.details?.[0]?.path]
const deliver = (to: string, subject: string) => harness.deliver({ from: 'x@elsewhere.example', to, subject, text: 'Hello' })
const sunk = (to: string) => waitFor(`mail to ${to}`, () => sink.mails.find((mail) => mail.to.includes(to)))

describe('create, list, choose and delete', () => {
  test('an address has a local part of its own, and the same one may be on several domains', async () => {
    const first = await made('ann', { local_part: 'jane.doe-7', domain: 'acme.example' })
    expect(first).toEqual({
      id: expect.stringMatching(/^addr_/),
      email_address: 'jane.doe-7@acme.example',
      local_part: 'jane.doe-7',
      domain: 'acme.example',
      custom_domain_id: acme.id,
      client_id: null,
      agent_handle: 'ann',
      is_primary: false,
      is_catch_all: false,
      created_at: expect.any(String),
    })
    const second = await made('ann', { local_part: 'jane.doe-7', domain: 'agents.localhost' })
    expect(second).toMatchObject({ email_address: 'jane.doe-7@agents.localhost', custom_domain_id: null })
    const identity = await harness.expectApi(200, 'GET', '/identities/ann')
    expect(identity.addresses).toEqual(['ann@agents.localhost', 'jane.doe-7@acme.example', 'jane.doe-7@agents.localhost'])
    const list = await harness.expectApi(200, 'GET', '/identities/ann/addresses?limit=2')
    expect([list.has_more, list.data.map((one: Json) => one.id)]).toEqual([true, [second.id, first.id]])
    const rest = await harness.expectApi(200, 'GET', `/identities/ann/addresses?limit=2&cursor=${list.next_cursor}`)
    expect(rest.data).toMatchObject([{ email_address: 'ann@agents.localhost', is_primary: true }])
  })

  test('without a local part one is generated, and an identity may choose its own at creation', async () => {
    await harness.createAgent('generated', { domain: 'agents.localhost' })
    expect((await made('generated', {})).local_part).toMatch(/^agent-[a-z0-9]{10}$/)
    const identity = await harness.createAgent('chosen', { local_part: 'info.desk', domain: 'acme.example' })
    expect([identity.mailbox_address, identity.addresses]).toEqual(['info.desk@acme.example', ['info.desk@acme.example']])
    const taken = await harness.api('POST', '/identities', {
      body: { agent_handle: 'too_late', local_part: 'info.desk', domain: 'acme.example' },
    })
    expect(code(taken)).toEqual([409, 'address_already_taken', undefined])
    // The handle of the refused identity is still free.
    await harness.createAgent('too_late', { domain: 'agents.localhost' })
  })

  test.each(['a..b', '.a', 'a.', 'a b', 'a+b', 'Ab', 'ä', 'a@b', '"a"', 'x'.repeat(65), 'a\n', 'a\u0000', ''])(
    'the local part %j is 400',
    async (local_part) => {
      const answer = await add('ann', { local_part, domain: 'acme.example' })
      expect(code(answer)).toEqual([400, 'validation_error', '/local_part'])
    },
  )

  test.each(['x', '0', 'a-b_c.d', "o'brien", 'x'.repeat(64)])('the local part %j is accepted', async (local_part) => {
    await made('ann', { local_part, domain: 'acme.example' })
    await remove('ann', `${local_part}@acme.example`)
  })

  test('role addresses are reserved on every domain, and reserved handles on the mail domain', async () => {
    for (const local_part of ['postmaster', 'abuse', 'mailer-daemon'])
      expect(code(await add('ann', { local_part, domain: 'acme.example' }))).toEqual([409, 'address_already_taken', undefined])
    for (const local_part of ['postmaster', 'admin', 'no-reply', 'no.reply', 'bounce', 'mta-sts', 'webmaster'])
      expect(code(await add('ann', { local_part, domain: 'agents.localhost' }))).toEqual([409, 'address_already_taken', undefined])
    await made('ann', { local_part: 'no-reply', domain: 'acme.example' })
  })

  test('the primary address is chosen, and cannot be deleted', async () => {
    await harness.createAgent('chooser', { display_name: 'Chooser', domain: 'agents.localhost' })
    await made('chooser', { local_part: 'chooser', domain: 'acme.example' })
    const primary = await harness.expectApi(200, 'POST', '/identities/chooser/addresses/Chooser@ACME.example/set-primary')
    expect(primary).toMatchObject({ email_address: 'chooser@acme.example', is_primary: true })
    expect(await harness.expectApi(200, 'GET', '/identities/chooser')).toMatchObject({
      mailbox_address: 'chooser@acme.example',
      custom_domain_id: acme.id,
      addresses: ['chooser@acme.example', 'chooser@agents.localhost'],
    })
    expect(code(await remove('chooser', 'chooser@acme.example'))).toEqual([409, 'conflict', undefined])
    const deleted = await remove('chooser', 'chooser@agents.localhost')
    expect(deleted.body).toMatchObject({ deleted: true, id: expect.stringMatching(/^addr_/) })
    expect((await remove('chooser', 'chooser@agents.localhost')).body).toEqual(deleted.body)
    await expect(deliver('chooser@agents.localhost', 'Gone')).rejects.toThrow(/550/)
    const audit = await harness.expectApi(200, 'GET', '/audit?limit=3')
    expect(audit.data.map((one: Json) => one.action)).toEqual(['address.deleted', 'address.primary_set', 'address.created'])
    const third = await made('chooser', { local_part: 'third', domain: 'acme.example', is_primary: true })
    expect(third.is_primary).toBe(true)
    expect((await harness.expectApi(200, 'GET', '/mailboxes/chooser')).email_address).toBe('third@acme.example')
  })

  test('an address of another agent or organization is 404, and an agent key sees its own addresses only', async () => {
    await harness.createAgent('foreign_a', {}, other)
    for (const address of ['foreign_a@agents.localhost', 'ann@agents.localhost', 'none@acme.example'])
      expect((await remove('chosen', address)).status).toBe(404)
    expect((await add('ann', { local_part: 'x' }, other)).status).toBe(404)
    expect(code(await add('foreign_a', { local_part: 'x', domain: 'acme.example' }, other))).toEqual([400, 'validation_error', '/domain'])
    const key = await harness.agentKey('ann')
    await harness.expectApi(200, 'GET', '/identities/ann/addresses', { key })
    expect((await harness.api('GET', '/identities/chosen/addresses', { key })).status).toBe(403)
    expect((await add('ann', { local_part: 'own' }, key)).status).toBe(403)
  })

  test('the mailbox is found by every address, for an organization key and for the key of its agent', async () => {
    const key = await harness.agentKey('ann')
    for (const [name, more] of [
      ['jane.doe-7@acme.example', {}],
      ['Jane.Doe-7@agents.localhost', { key }],
    ] as const)
      expect((await harness.expectApi(200, 'GET', `/mailboxes/${name}`, more)).agent_handle).toBe('ann')
    for (const name of ['info.desk@acme.example', 'none@acme.example'])
      expect((await harness.api('GET', `/mailboxes/${name}/messages`, { key })).status).toBe(403)
  })

  test('an identity has at most 100 addresses', async () => {
    await harness.createAgent('many', { domain: 'agents.localhost' })
    for (let count = 1; count < 100; count++) await made('many', { local_part: `many.${count}` })
    expect(code(await add('many', { local_part: 'many.100' }))).toEqual([409, 'conflict', undefined])
  })
})

describe('mail', () => {
  test('mail to every address arrives in one mailbox, and says where it came to', async () => {
    for (const to of ['ann@agents.localhost', 'Jane.Doe-7@Acme.Example', 'jane.doe-7+orders@agents.localhost'])
      await deliver(to, `To ${to}`)
    const arrived = await Promise.all(
      ['ann@agents.localhost', 'Jane.Doe-7@Acme.Example', 'jane.doe-7+orders@agents.localhost'].map((to) =>
        harness.waitForMail('ann', `To ${to}`),
      ),
    )
    expect(arrived.map((one) => one.delivered_to)).toEqual([
      'ann@agents.localhost',
      'jane.doe-7@acme.example',
      'jane.doe-7@agents.localhost',
    ])
    // The message is found below another address of its mailbox.
    await harness.expectApi(200, 'GET', `/mailboxes/jane.doe-7@acme.example/messages/${arrived[0]?.id}`)
    expect((await harness.api('GET', `/mailboxes/chosen/messages/${arrived[0]?.id}`)).status).toBe(404)
  })

  test('one message to two addresses of an agent is filed once', async () => {
    await harness.deliver({
      from: 'x@elsewhere.example',
      to: ['jane.doe-7@acme.example', 'ann@agents.localhost'],
      subject: 'To both',
      text: 'Hello',
    })
    await harness.waitForMail('ann', 'To both')
    const { data } = await harness.expectApi(200, 'GET', '/mailboxes/ann/messages?subject=To%20both')
    expect(data).toHaveLength(1)
  })

  test('from may be any address of the agent with a name, signed by its domain', async () => {
    const bodies = [
      ['one@outside.example', 'jane.doe-7@acme.example', { address: 'jane.doe-7@acme.example', name: 'Ann' }],
      ['two@outside.example', '"Jane, at Acme" <Jane.Doe-7@ACME.example>', { address: 'jane.doe-7@acme.example', name: 'Jane, at Acme' }],
      ['three@outside.example', 'Ann Tagged <ann+news@agents.localhost>', { address: 'ann+news@agents.localhost', name: 'Ann Tagged' }],
      ['four@outside.example', undefined, { address: 'ann@agents.localhost', name: 'Ann' }],
    ] as const
    for (const [to, from, author] of bodies) {
      await harness.send('ann', to, { subject: `From ${from}`, ...(from && { from }) })
      const mail = await sunk(to)
      expect(mail.parsed.from).toMatchObject(author)
      if (!author.address.endsWith('@acme.example')) continue
      const record = acme.dns_records.find((one: Json) => one.purpose === 'dkim')
      expect(await verifyDkim([Buffer.from(mail.raw, 'latin1')], { [record.name]: record.value })).toEqual([['pass']])
    }
  })

  test.each([
    'info.desk@acme.example',
    'none@acme.example',
    'foreign_a@agents.localhost',
    'postmaster@acme.example',
    'x@elsewhere.example',
    '*@acme.example',
    'Ann',
    'ann@agents.localhost, x@elsewhere.example',
    'Ann\r\nBcc: x@elsewhere.example <ann@agents.localhost>',
  ])('from %j is 400, because it is not an address of the agent', async (from) => {
    const to = ['x@outside.example']
    const sends = [
      harness.api('POST', '/mail/send', { body: { agent: 'ann', from, to, subject: 'No', text: 'No' } }),
      harness.api('POST', '/mailboxes/ann/messages', { body: { from, to, subject: 'No', text: 'No' } }),
      harness.api('POST', '/mailboxes/ann/drafts', { body: { from, to, subject: 'No', text: 'No' } }),
    ]
    for (const answer of await Promise.all(sends)) expect(code(answer)).toEqual([400, 'validation_error', '/from'])
  })

  test('an answer is from the address that the message came to, and reply-all leaves out every address of the agent', async () => {
    await harness.deliver({
      from: 'asker@outside.example',
      to: ['jane.doe-7@acme.example', 'ann@agents.localhost', 'third@outside.example'],
      envelope: { from: 'asker@outside.example', to: ['jane.doe-7@acme.example'] },
      subject: 'A question',
      text: 'Hello',
    })
    const { id } = await harness.waitForMail('ann', 'A question')
    const reply = (body: Json) => harness.expectApi(201, 'POST', `/mailboxes/ann/messages/${id}/reply`, { body: { text: 'Hi', ...body } })
    const sent = async (message: Json) => harness.expectApi(200, 'GET', `/mailboxes/ann/messages/${message.id}`)
    expect(await sent(await reply({ reply_all: true }))).toMatchObject({
      from: 'jane.doe-7@acme.example',
      to: ['asker@outside.example', 'third@outside.example'],
    })
    expect(await sent(await reply({ from: 'Ann Other <ann@agents.localhost>' }))).toMatchObject({ from: 'ann@agents.localhost' })
    const forward = await harness.expectApi(201, 'POST', `/mailboxes/ann/messages/${id}/forward`, { body: { to: 'x@outside.example' } })
    expect(await sent(forward)).toMatchObject({ from: 'jane.doe-7@acme.example' })
    const draft = await harness.expectApi(201, 'POST', '/mailboxes/ann/drafts', { body: { in_reply_to: id, text: 'Later' } })
    expect(draft.from).toBe('jane.doe-7@acme.example')
    expect(await sent(await harness.expectApi(201, 'POST', `/mailboxes/ann/drafts/${draft.id}/send`))).toMatchObject({
      from: 'jane.doe-7@acme.example',
    })
  })

  test('a draft names its author, and is refused when the address was deleted since', async () => {
    await made('ann', { local_part: 'short.lived', domain: 'acme.example' })
    const draft = await harness.expectApi(201, 'POST', '/mailboxes/ann/drafts', {
      body: { from: 'Short <short.lived@acme.example>', to: ['x@outside.example'], subject: 'D', text: 'D' },
    })
    expect(draft.from).toBe('Short <short.lived@acme.example>')
    await remove('ann', 'short.lived@acme.example')
    const path = `/mailboxes/ann/drafts/${draft.id}`
    expect(code(await harness.api('POST', `${path}/send`))).toEqual([400, 'validation_error', '/from'])
    expect((await harness.expectApi(200, 'PATCH', path, { body: { from: null } })).from).toBeNull()
    await harness.expectApi(201, 'POST', `${path}/send`)
  })

  test('mail between agents goes from alias to alias, and its bounce finds the sender', async () => {
    const { id } = await harness.send('ann', 'info.desk@acme.example', { from: 'jane.doe-7@acme.example', subject: 'Between aliases' })
    await harness.waitForStatus('ann', id, 'delivered')
    const arrived = await harness.waitForMail('chosen', 'Between aliases')
    expect(arrived).toMatchObject({ from: 'jane.doe-7@acme.example', delivered_to: 'info.desk@acme.example' })
    const missing = await harness.send('ann', 'none@acme.example', { from: 'jane.doe-7@acme.example', subject: 'Nobody' })
    await harness.waitForStatus('ann', missing.id, 'bounced')
  })
})

describe('the catch-all address of a domain', () => {
  test('receives mail for addresses that do not exist, and sends from them', async () => {
    const all = await ownDomain(harness, dns, 'all.example')
    await harness.createAgent('net', { display_name: 'Net', domain: 'agents.localhost' })
    await harness.createAgent('exact', { domain: 'all.example' })
    await expect(deliver('anything@all.example', 'Before')).rejects.toThrow(/550/)
    const address = await made('net', { local_part: '*', domain: 'all.example' })
    expect(address).toMatchObject({ email_address: '*@all.example', is_catch_all: true, custom_domain_id: all.id })
    await deliver('Any.Thing+x@all.example', 'Caught')
    await deliver('exact@all.example', 'Not caught')
    expect((await harness.waitForMail('net', 'Caught')).delivered_to).toBe('any.thing@all.example')
    await harness.waitForMail('exact', 'Not caught')
    await expect(deliver('postmaster@all.example', 'A role')).rejects.toThrow(/451 4\.2\.1/)

    await harness.send('net', 'five@outside.example', { from: 'Orders <orders.42@all.example>', subject: 'From any' })
    expect((await sunk('five@outside.example')).parsed.from).toMatchObject({ address: 'orders.42@all.example', name: 'Orders' })
    for (const from of ['exact@all.example', 'postmaster@all.example', 'x@acme.example'])
      expect(
        code(await harness.api('POST', '/mailboxes/net/messages', { body: { from, to: ['x@y.example'], subject: 'S', text: 'T' } })),
      ).toEqual([400, 'validation_error', '/from'])

    expect(code(await add('exact', { local_part: '*', domain: 'all.example' }))).toEqual([409, 'address_already_taken', undefined])
    expect(code(await add('exact', { local_part: '*', domain: 'agents.localhost' }))).toEqual([400, 'validation_error', '/local_part'])
    expect((await harness.api('POST', '/identities/net/addresses/*@all.example/set-primary')).status).toBe(409)
    expect((await remove('net', '*@all.example')).status).toBe(200)
    await expect(deliver('again@all.example', 'After')).rejects.toThrow(/550/)
    await made('exact', { local_part: '*', domain: 'all.example' })
  })
})

describe('domains', () => {
  test('deleting a domain deletes its addresses, and moves mailboxes whose primary address is there', async () => {
    const gone = await ownDomain(harness, dns, 'gone.example')
    await harness.createAgent('alias_only', { domain: 'agents.localhost' })
    await made('alias_only', { local_part: 'a.b', domain: 'gone.example' })
    await harness.createAgent('primary_there', { local_part: 'p.t', domain: 'gone.example' })
    expect(code(await harness.api('DELETE', `/domains/${gone.id}`))).toEqual([409, 'domain_in_use', undefined])
    const { message } = await harness.expectApi(200, 'DELETE', `/domains/${gone.id}?force=true`)
    expect(message).toContain('1 mailbox moved to agents.localhost')
    expect((await harness.expectApi(200, 'GET', '/identities/alias_only')).addresses).toEqual(['alias_only@agents.localhost'])
    expect((await harness.expectApi(200, 'GET', '/identities/primary_there')).addresses).toEqual(['primary_there@agents.localhost'])
    await deliver('primary_there@agents.localhost', 'Moved')
    await expect(deliver('a.b@gone.example', 'Gone')).rejects.toThrow(/550|relay/i)
  })

  test('a name that another organization has verified since is its own: its addresses do not collide with the old ones', async () => {
    const first = await ownDomain(harness, dns, 'sold.example')
    await harness.createAgent('seller', { local_part: 'info', domain: 'sold.example' })
    for (const record of first.dns_records) dns.remove(record.name)
    expect((await harness.expectApi(200, 'POST', `/domains/${first.id}/verify`)).data.status).toBe('failed')
    await ownDomain(harness, dns, 'sold.example', other)
    await harness.createAgent('buyer', { local_part: 'info', domain: 'sold.example' }, other)
    await deliver('info@sold.example', 'For the buyer')
    const list = async (key: string, mailbox: string) =>
      (await harness.expectApi(200, 'GET', `/mailboxes/${mailbox}/messages`, { key })).data
    expect(await list(other, 'info@sold.example')).toMatchObject([{ subject: 'For the buyer' }])
    expect(await list(harness.organizationKey, 'info@sold.example')).toEqual([])
    expect(code(await add('seller', { local_part: 'more', domain: 'sold.example' }))).toEqual([400, 'validation_error', '/domain'])
  })
})

test('a deleted address is taken back by its organization with an empty mailbox, and never by another one', async () => {
  await harness.createAgent('before', { local_part: 'the.desk', domain: 'agents.localhost' })
  await deliver('the.desk@agents.localhost', 'Old mail')
  await harness.waitForMail('before', 'Old mail')
  await harness.expectApi(204, 'DELETE', '/identities/before')
  await expect(deliver('the.desk@agents.localhost', 'Nobody')).rejects.toThrow(/550/)
  await harness.createAgent('intruder', {}, other)
  for (const answer of [
    await add('intruder', { local_part: 'the.desk', domain: 'agents.localhost' }, other),
    await add('intruder', { local_part: 'before', domain: 'agents.localhost' }, other),
    await harness.api('POST', '/identities', {
      key: other,
      body: { agent_handle: 'intruder_b', local_part: 'the.desk', domain: 'agents.localhost' },
    }),
  ])
    expect(code(answer)).toEqual([409, 'address_already_taken', undefined])
  const after = await harness.createAgent('after', { local_part: 'the.desk', domain: 'agents.localhost' })
  expect(after.mailbox_address).toBe('the.desk@agents.localhost')
  expect((await harness.expectApi(200, 'GET', '/mailboxes/after/messages')).data).toEqual([])
  await deliver('the.desk@agents.localhost', 'New mail')
  await harness.waitForMail('after', 'New mail')
})

test('on the mail domain a local part equal to a handle belongs to the identity with that handle', async () => {
  await harness.createAgent('holder', { domain: 'acme.example' })
  await harness.createAgent('wisher', { domain: 'agents.localhost' })
  expect(code(await add('wisher', { local_part: 'holder', domain: 'agents.localhost' }))).toEqual([409, 'address_already_taken', undefined])
  await made('holder', { local_part: 'holder', domain: 'agents.localhost' })
  // An alias of the form of a handle takes the handle.
  await made('wisher', { local_part: 'support_desk', domain: 'agents.localhost' })
  for (const key of [harness.organizationKey, other])
    expect(code(await harness.api('POST', '/identities', { key, body: { agent_handle: 'support_desk' } }))).toEqual([
      409,
      'handle_already_taken',
      undefined,
    ])
  await expect(
    harness.db.query({ text: `UPDATE addresses SET organization_id = 'org_other' WHERE address = 'support_desk@agents.localhost'` }),
  ).rejects.toThrow(/foreign key/)
})
