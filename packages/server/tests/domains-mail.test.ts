// Mail of identities on their own domain. It is signed with the domain's key when it leaves, and filed on arrival in any spelling of the name.
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { verifyDkim } from '../../mail/tests/harness/dkim-verifier.ts'
import { type DnsServer, startDnsServer } from '../../mail/tests/harness/dns-server.ts'
import { type MailSink, startMailSink } from './harness/mail-sink.ts'
import { ownDomain, publish, withdraw } from './harness/published-records.ts'
import { type Harness, type Json, startHarness } from './harness/start.ts'
import { waitFor } from './harness/wait.ts'

let dns: DnsServer
let sink: MailSink
let harness: Harness
let acme: Json
let munich: Json
beforeAll(async () => {
  dns = await startDnsServer()
  sink = await startMailSink()
  harness = await startHarness({
    CALLSIGN_DNS_SERVERS: dns.address,
    CALLSIGN_MAIL_TRANSPORT: 'relay',
    CALLSIGN_SMTP_RELAY_URL: sink.url,
    CALLSIGN_POSTMASTER: 'keeper',
    CALLSIGN_MAIL_RETRY_SECONDS: Array(400).fill('0.05').join(','),
  })
  acme = await ownDomain(harness, dns, 'acme.example')
  munich = await ownDomain(harness, dns, 'xn--mnchen-3ya.example')
  await harness.createAgent('ann', { display_name: 'Ann of Acme', custom_domain_id: acme.id })
  await harness.createAgent('ben', { domain: 'münchen.example' })
  await harness.createAgent('cem', { domain: 'agents.localhost' })
})
afterAll(async () => {
  await harness.stop()
  await sink.close()
  await dns.stop()
})

const sunk = (to: string) => waitFor(`mail to ${to}`, () => sink.mails.find((mail) => mail.to.includes(to)))
const dkimRecord = (domain: Json) => domain.dns_records.find((record: Json) => record.purpose === 'dkim')
const deliver = (to: string, subject: string) => harness.deliver({ from: 'x@elsewhere.example', to, subject, text: 'Hello' })

test('outgoing mail is signed with the key of its domain', async () => {
  await harness.send('ann', 'one@outside.example', { subject: 'From Acme — grüße' })
  await harness.send('ben', 'two@outside.example', { subject: 'From Munich', attachments: [{ filename: 'a.bin', content: 'AAEC' }] })
  const [one, two] = [await sunk('one@outside.example'), await sunk('two@outside.example')]
  expect(one.parsed.from).toMatchObject({ address: 'ann@acme.example', name: 'Ann of Acme' })
  for (const [mail, domain, other] of [
    [one, acme, munich],
    [two, munich, acme],
  ] as const) {
    const record = dkimRecord(domain)
    expect(mail.raw).toMatch(new RegExp(`^DKIM-Signature:(?:[^;]*;)*?\\s*d=${domain.domain.replaceAll('.', '\\.')};`, 'm'))
    const raw = Buffer.from(mail.raw, 'latin1')
    expect(await verifyDkim([raw], { [record.name]: record.value })).toEqual([['pass']])
    expect(await verifyDkim([raw], { [record.name]: dkimRecord(other).value })).not.toEqual([['pass']])
  }
})

describe('mail arrives', () => {
  test.each([
    ['ann', 'ann@acme.example'],
    ['ann', 'ANN@Acme.EXAMPLE'],
    ['ann', 'ann+orders@acme.example'],
    ['ben', 'ben@xn--mnchen-3ya.example'],
    ['ben', 'Ben@XN--MNCHEN-3YA.Example'],
    ['ben', 'ben@münchen.example'],
    ['ben', 'ben@MÜNCHEN.example'],
  ])('for %s at %s', async (handle, address) => {
    const subject = `To ${address}`
    await deliver(address, subject)
    expect((await harness.waitForMail(handle, subject)).subject).toBe(subject)
  })

  test.each([
    'nobody@acme.example',
    'ben@acme.example',
    'ann@xn--mnchen-3ya.example',
    'ann@agents.localhost',
    'ann@sub.acme.example',
    'ann@pending.example',
  ])('mail for %s is refused with 550 at RCPT', async (address) => {
    await expect(deliver(address, 'Nobody')).rejects.toThrow(/550 5\.1\.1/)
  })

  test('mail for postmaster and abuse goes to the agent of CALLSIGN_POSTMASTER, at domains of its organization', async () => {
    const key = (await harness.createOrganization('with roles')).key
    await ownDomain(harness, dns, 'roles.example', key)
    await ownDomain(harness, dns, 'foreign.example')
    await harness.createAgent('role_other', { domain: 'roles.example' }, key)
    for (const address of ['postmaster@roles.example', 'abuse@roles.example', 'postmaster@agents.localhost'])
      await expect(deliver(address, 'No agent is set up')).rejects.toThrow(/451 4\.2\.1/)
    await harness.createAgent('keeper', { domain: 'agents.localhost' }, key)
    await deliver('Postmaster@Roles.example', 'To the domain')
    await deliver('abuse@agents.localhost', 'To the mail domain')
    await expect(deliver('postmaster@foreign.example', 'Of another organization')).rejects.toThrow(/451 4\.2\.1/)
    await expect(deliver('postmaster@pending-roles.example', 'Not ours')).rejects.toThrow(/550/)
    const subjects = async (handle: string) =>
      (await harness.expectApi(200, 'GET', `/mailboxes/${handle}/messages`, { key })).data.map((message: Json) => message.subject)
    expect([await subjects('keeper'), await subjects('role_other')]).toEqual([['To the mail domain', 'To the domain'], []])
  })

  test('the mailbox is found by its address in the API, in any spelling of the name', async () => {
    for (const address of ['ann@acme.example', 'Ann@ACME.example']) await harness.expectApi(200, 'GET', `/mailboxes/${address}`)
    for (const address of ['ben@xn--mnchen-3ya.example', 'ben@münchen.example', 'BEN@MÜNCHEN.EXAMPLE'])
      expect(await harness.expectApi(200, 'GET', `/mailboxes/${encodeURIComponent(address)}`)).toMatchObject({
        email_address: 'ben@xn--mnchen-3ya.example',
      })
    const key = await harness.agentKey('ann')
    await harness.expectApi(200, 'GET', '/mailboxes/ann@acme.example/messages', { key })
    expect((await harness.api('GET', '/mailboxes/ben@xn--mnchen-3ya.example/messages', { key })).status).toBe(403)
  })
})

describe('between agents here', () => {
  test('mail to a custom domain is filed without a connection, and its reply joins the thread', async () => {
    const sent = await harness.send('cem', 'ann@acme.example', { subject: 'Inside' })
    await harness.waitForStatus('cem', sent.id, 'delivered')
    const arrived = await harness.waitForMail('ann', 'Inside')
    const reply = await harness.expectApi(201, 'POST', `/mailboxes/ann/messages/${arrived.id}/reply`, { body: { text: 'And back' } })
    expect(reply.thread_id).toBe(arrived.thread_id)
    const back = await harness.waitForMail('cem', 'Re: Inside')
    expect([back.from, back.thread_id]).toEqual(['ann@acme.example', sent.thread_id])
  })

  test('mail to an unknown address at a verified domain bounces, and never leaves', async () => {
    for (const to of ['nobody@acme.example', 'nobody@münchen.example']) {
      const sent = await harness.send('cem', to, { subject: 'To nobody' })
      await harness.waitForStatus('cem', sent.id, 'bounced')
    }
    expect(sink.mails.filter((mail) => mail.to.some((to) => to.startsWith('nobody@')))).toEqual([])
  })

  test('a domain that is not verified is served elsewhere, so mail to it leaves', async () => {
    await harness.expectApi(201, 'POST', '/domains', { body: { domain: 'pending.example' } })
    await harness.send('cem', 'someone@pending.example')
    await sunk('someone@pending.example')
  })
})

test('a domain whose records fail keeps its mailboxes working, and mail to other addresses at it leaves', async () => {
  const domain = await ownDomain(harness, dns, 'shaky.example')
  await harness.createAgent('dee', { domain: 'shaky.example' })
  withdraw(dns, domain.dns_records)
  expect((await harness.expectApi(200, 'POST', `/domains/${domain.id}/verify`)).data.status).toBe('failed')
  await deliver('dee@shaky.example', 'Still here')
  await harness.waitForMail('dee', 'Still here')
  const inside = await harness.send('cem', 'dee@shaky.example', { subject: 'From cem' })
  await harness.waitForStatus('cem', inside.id, 'delivered')
  await harness.send('dee', 'three@outside.example')
  expect((await sunk('three@outside.example')).raw).toContain('d=shaky.example')
  await harness.send('cem', 'human@shaky.example')
  await sunk('human@shaky.example')
})

test('an identity that has lost the domain can no longer send with it', async () => {
  const name = 'sold.example'
  const first = await ownDomain(harness, dns, name)
  await harness.createAgent('eve', { domain: name })
  withdraw(dns, first.dns_records)
  await harness.expectApi(200, 'POST', `/domains/${first.id}/verify`)
  await ownDomain(harness, dns, name, harness.otherOrganization.key)
  const sent = await harness.send('eve', 'four@outside.example')
  await harness.waitForStatus('eve', sent.id, 'failed')
  expect(sink.mails.some((mail) => mail.to.includes('four@outside.example'))).toBe(false)
  // With force its mailboxes move, and work again.
  await harness.expectApi(200, 'DELETE', `/domains/${first.id}?force=true`)
  await harness.send('eve', 'five@outside.example')
  expect((await sunk('five@outside.example')).parsed.from).toMatchObject({ address: 'eve@agents.localhost' })
  publish(dns, first.dns_records)
})

describe('mail that is queued while its mailbox moves', () => {
  const sendLate = async (handle: string, to: string) => {
    sink.answerRecipients(() => '451 4.2.0 later')
    const sent = await harness.send(handle, to)
    await waitFor('the first attempt', () => sink.attempts(to) > 0)
    return sent
  }

  test('leaves with its original address and signature', async () => {
    const from = await ownDomain(harness, dns, 'moving.example')
    await harness.createAgent('gil', { custom_domain_id: from.id })
    await sendLate('gil', 'late@outside.example')
    await harness.expectApi(200, 'PATCH', '/identities/gil', { body: { custom_domain_id: acme.id } })
    sink.answerRecipients(() => null)
    const mail = await sunk('late@outside.example')
    expect([mail.parsed.from?.address, mail.raw.includes('d=moving.example')]).toEqual(['gil@moving.example', true])
  })

  test('fails when the domain is gone', async () => {
    const from = await ownDomain(harness, dns, 'vanishing.example')
    await harness.createAgent('hal', { custom_domain_id: from.id })
    const sent = await sendLate('hal', 'never@outside.example')
    await harness.expectApi(200, 'DELETE', `/domains/${from.id}?force=true`)
    await harness.waitForStatus('hal', sent.id, 'failed')
    sink.answerRecipients(() => null)
    expect(sink.mails.some((mail) => mail.to.includes('never@outside.example'))).toBe(false)
  })
})

test('a mailbox moves to a domain and back, and mail follows its current address', async () => {
  const made = await harness.createAgent('fay', { domain: 'agents.localhost' })
  const move = (custom_domain_id: string | null) => harness.api('PATCH', '/identities/fay', { body: { custom_domain_id } })
  const moved = await move(acme.id)
  expect([moved.status, moved.body]).toEqual([
    200,
    {
      ...made,
      custom_domain_id: acme.id,
      mailbox_address: 'fay@acme.example',
      addresses: ['fay@acme.example'],
      mailbox: { id: made.mailbox.id, email_address: 'fay@acme.example' },
      updated_at: expect.any(String),
    },
  ])
  await deliver('fay@acme.example', 'At acme')
  await expect(deliver('fay@agents.localhost', 'Not there')).rejects.toThrow(/550/)
  expect(await move('dom_01h455vb4pex5vsknk084sn02q')).toMatchObject({ status: 404, body: { error: { code: 'not_found' } } })
  expect((await move(null)).body.mailbox_address).toBe('fay@agents.localhost')
  await deliver('fay@agents.localhost', 'Back')
  const { data } = await harness.expectApi(200, 'GET', '/mailboxes/fay/messages')
  expect(data.map((message: Json) => message.subject)).toEqual(['Back', 'At acme'])
  const audit = await harness.expectApi(200, 'GET', '/audit')
  expect(audit.data[0]).toMatchObject({ action: 'identity.moved', details: { mailbox_address: 'fay@agents.localhost' } })
})
