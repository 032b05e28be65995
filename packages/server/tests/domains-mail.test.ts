// Mail of identities on their own domain: signed with its key when it leaves, filed when it arrives, whatever way the name is written.
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { findDkimVerifier, verifyDkim } from './stage/dkim-verifier.ts'
import { type DnsServer, startDnsServer } from './stage/dns-server.ts'
import { type MailSink, startMailSink } from './stage/mail-sink.ts'
import { ownDomain, publish, withdraw } from './stage/published-records.ts'
import { type Json, type Stage, startStage } from './stage/start.ts'
import { waitFor } from './stage/wait.ts'

let dns: DnsServer
let sink: MailSink
let stage: Stage
let acme: Json
let munich: Json
beforeAll(async () => {
  dns = await startDnsServer()
  sink = await startMailSink()
  stage = await startStage({ CALLSIGN_DNS_SERVERS: dns.address, CALLSIGN_MAIL_TRANSPORT: 'relay', CALLSIGN_SMTP_RELAY_URL: sink.url })
  acme = await ownDomain(stage, dns, 'acme.example')
  munich = await ownDomain(stage, dns, 'xn--mnchen-3ya.example')
  await stage.createAgent('ann', { display_name: 'Ann of Acme', custom_domain_id: acme.id })
  await stage.createAgent('ben', { domain: 'münchen.example' })
  await stage.createAgent('cem', { domain: 'agents.localhost' })
})
afterAll(async () => {
  await stage.stop()
  await sink.close()
  await dns.stop()
})

const sunk = (to: string) => waitFor(`mail to ${to}`, () => sink.mails.find((mail) => mail.to.includes(to)))
const dkimRecord = (domain: Json) => domain.dns_records.find((record: Json) => record.purpose === 'dkim')
const deliver = (to: string, subject: string) => stage.deliver({ from: 'x@elsewhere.example', to, subject, text: 'Hello' })

const missing = findDkimVerifier()
test.skipIf(missing !== null)(
  missing ? `what leaves is signed with the key of its domain (skipped: ${missing})` : 'what leaves is signed with the key of its domain',
  async () => {
    await stage.send('ann', 'one@outside.example', { subject: 'From Acme — grüße' })
    await stage.send('ben', 'two@outside.example', { subject: 'From Munich', attachments: [{ filename: 'a.bin', content: 'AAEC' }] })
    const [one, two] = [await sunk('one@outside.example'), await sunk('two@outside.example')]
    expect(one.parsed.from).toMatchObject({ address: 'ann@acme.example', name: 'Ann of Acme' })
    for (const [mail, domain, other] of [
      [one, acme, munich],
      [two, munich, acme],
    ] as const) {
      const record = dkimRecord(domain)
      expect(mail.raw).toMatch(new RegExp(`^DKIM-Signature:(?:[^;]*;)*?\\s*d=${domain.domain.replaceAll('.', '\\.')};`, 'm'))
      const raw = Buffer.from(mail.raw, 'latin1')
      expect(verifyDkim([raw], { [record.name]: record.value })).toEqual([['pass']])
      expect(verifyDkim([raw], { [record.name]: dkimRecord(other).value })).not.toEqual([['pass']])
    }
  },
)

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
    expect((await stage.waitForMail(handle, subject)).subject).toBe(subject)
  })

  test.each([
    'nobody@acme.example',
    'ben@acme.example',
    'ann@xn--mnchen-3ya.example',
    'ann@agents.localhost',
    'ann@sub.acme.example',
    'ann@pending.example',
  ])('and not for %s: 550 at RCPT', async (address) => {
    await expect(deliver(address, 'Nobody')).rejects.toThrow(/550 5\.1\.1/)
  })

  test('the mailbox is found by its address in the API, in any spelling of the name', async () => {
    for (const address of ['ann@acme.example', 'Ann@ACME.example']) await stage.expectApi(200, 'GET', `/mailboxes/${address}`)
    for (const address of ['ben@xn--mnchen-3ya.example', 'ben@münchen.example', 'BEN@MÜNCHEN.EXAMPLE'])
      expect(await stage.expectApi(200, 'GET', `/mailboxes/${encodeURIComponent(address)}`)).toMatchObject({
        email_address: 'ben@xn--mnchen-3ya.example',
      })
    const key = await stage.agentKey('ann')
    await stage.expectApi(200, 'GET', '/mailboxes/ann@acme.example/messages', { key })
    expect((await stage.api('GET', '/mailboxes/ben@xn--mnchen-3ya.example/messages', { key })).status).toBe(403)
  })
})

describe('between agents here', () => {
  test('mail to a custom domain is filed, not dialled, and its reply comes back in the thread', async () => {
    const sent = await stage.send('cem', 'ann@acme.example', { subject: 'Inside' })
    await stage.waitForStatus('cem', sent.id, 'delivered')
    const arrived = await stage.waitForMail('ann', 'Inside')
    const reply = await stage.expectApi(201, 'POST', `/mailboxes/ann/messages/${arrived.id}/reply`, { body: { text: 'And back' } })
    expect(reply.thread_id).toBe(arrived.thread_id)
    const back = await stage.waitForMail('cem', 'Re: Inside')
    expect([back.from, back.thread_id]).toEqual(['ann@acme.example', sent.thread_id])
  })

  test('mail to nobody at a verified domain bounces, and never leaves', async () => {
    for (const to of ['nobody@acme.example', 'nobody@münchen.example']) {
      const sent = await stage.send('cem', to, { subject: 'To nobody' })
      await stage.waitForStatus('cem', sent.id, 'bounced')
    }
    expect(sink.mails.filter((mail) => mail.to.some((to) => to.startsWith('nobody@')))).toEqual([])
  })

  test('a domain that is not verified is served elsewhere: mail to it leaves', async () => {
    await stage.expectApi(201, 'POST', '/domains', { body: { domain: 'pending.example' } })
    await stage.send('cem', 'someone@pending.example')
    await sunk('someone@pending.example')
  })
})

test('a domain whose records fail keeps its mailboxes at work; mail to others at it leaves', async () => {
  const domain = await ownDomain(stage, dns, 'shaky.example')
  await stage.createAgent('dee', { domain: 'shaky.example' })
  withdraw(dns, domain.dns_records)
  expect((await stage.expectApi(200, 'POST', `/domains/${domain.id}/verify`)).data.status).toBe('failed')
  await deliver('dee@shaky.example', 'Still here')
  await stage.waitForMail('dee', 'Still here')
  const inside = await stage.send('cem', 'dee@shaky.example', { subject: 'From cem' })
  await stage.waitForStatus('cem', inside.id, 'delivered')
  await stage.send('dee', 'three@outside.example')
  expect((await sunk('three@outside.example')).raw).toContain('d=shaky.example')
  await stage.send('cem', 'human@shaky.example')
  await sunk('human@shaky.example')
})

test('who has lost the name sends nothing in it any more', async () => {
  const name = 'sold.example'
  const first = await ownDomain(stage, dns, name)
  await stage.createAgent('eve', { domain: name })
  withdraw(dns, first.dns_records)
  await stage.expectApi(200, 'POST', `/domains/${first.id}/verify`)
  await ownDomain(stage, dns, name, stage.otherOrganization.key)
  const sent = await stage.send('eve', 'four@outside.example')
  await stage.waitForStatus('eve', sent.id, 'failed')
  expect(sink.mails.some((mail) => mail.to.includes('four@outside.example'))).toBe(false)
  // With force its mailboxes move, and work again.
  await stage.expectApi(200, 'DELETE', `/domains/${first.id}?force=true`)
  await stage.send('eve', 'five@outside.example')
  expect((await sunk('five@outside.example')).parsed.from).toMatchObject({ address: 'eve@agents.localhost' })
  publish(dns, first.dns_records)
})
