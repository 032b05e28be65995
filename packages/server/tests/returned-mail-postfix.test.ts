// Real bounces, live: a Postfix takes the mail of a Callsign, cannot deliver it, and writes back over SMTP.
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { findFreePort, findPostfix, type Postfix, startPostfix } from './stage/postfix.ts'
import { type Json, type Stage, startStage } from './stage/start.ts'
import { waitFor } from './stage/wait.ts'

const missing = findPostfix()

describe.skipIf(missing !== null)(missing ? `Postfix bounces (skipped: ${missing})` : 'Postfix bounces', () => {
  let postfix: Postfix
  let stage: Stage
  beforeAll(async () => {
    const smtpPort = await findFreePort()
    postfix = await startPostfix('here.example', smtpPort, {
      virtual_mailbox_maps: 'inline:{ full@example.com=full, fine@example.com=box/ }',
      virtual_mailbox_limit: '60000',
      message_size_limit: '60000',
      bounce_size_limit: '2000',
      smtpd_reject_unlisted_recipient: 'no',
      transport_maps: `inline:{ here.example=smtp:[127.0.0.1]:${smtpPort}, gone.example=smtp:[127.0.0.1]:1 }`,
      maximal_queue_lifetime: '3s',
      delay_warning_time: '1s',
      minimal_backoff_time: '1s',
      maximal_backoff_time: '1s',
      queue_run_delay: '1s',
    })
    stage = await startStage({
      CALLSIGN_MAIL_DOMAIN: 'here.example',
      CALLSIGN_SMTP_PORT: String(smtpPort),
      CALLSIGN_MAIL_TRANSPORT: 'relay',
      CALLSIGN_SMTP_RELAY_URL: `smtp://127.0.0.1:${postfix.port}`,
    })
    await stage.createAgent('ann')
  })
  afterAll(async () => {
    await stage?.stop()
    await postfix?.stop()
  })

  const recipientOf = async (id: string): Promise<Json> => (await stage.getMessage('ann', id)).delivery.recipients[0]

  test('unknown user: bounced, and the address suppressed', async () => {
    const { id } = await stage.send('ann', 'nobody@example.com')
    await stage.waitForStatus('ann', id, 'bounced')
    expect(await recipientOf(id)).toMatchObject({ diagnostic_code: '5.1.1', last_answer: expect.stringContaining('unknown user') })
    expect(
      (await stage.api('POST', '/mail/send', { body: { agent: 'ann', to: ['nobody@example.com'], subject: 'a', text: 'a' } })).status,
    ).toBe(403)
  })

  test('full mailbox: bounced, and the address not suppressed', async () => {
    const text = `${'x'.repeat(70)}\n`.repeat(500)
    const ids: string[] = []
    for (let i = 0; i < 2; i++) ids.push((await stage.send('ann', 'full@example.com', { text })).id)
    // One of the two fills it.
    const bounced = await waitFor('a bounce', async () => {
      const messages = await Promise.all(ids.map((id) => stage.getMessage('ann', id)))
      return messages.find((message) => message.status === 'bounced')
    })
    expect(bounced.delivery.recipients[0].diagnostic_code).toBe('5.2.2')
    expect(
      (await stage.api('POST', '/mail/send', { body: { agent: 'ann', to: ['full@example.com'], subject: 'a', text: 'a' } })).status,
    ).toBe(201)
  })

  test('deferred: a warning is noted, then the queue gives up and it has failed', async () => {
    const { id } = await stage.send('ann', 'x@gone.example')
    // Its queue manager looks around once a second at best, and a busy machine makes it late.
    const ended = await waitFor(
      'Postfix to give up',
      async () => {
        const message = await stage.getMessage('ann', id)
        return message.status !== 'sent' && message.status !== 'queued' && message
      },
      90_000,
    )
    const { log, status, diagnostic_code: code } = ended.delivery.recipients[0]
    expect([ended.status, status, code]).toEqual(['failed', 'failed', '4.4.1'])
    const told = log.map((one: Json) => (one.answer.startsWith('Delayed:') ? 'delayed' : one.result))
    // One that is very late with everything gives up without a warning.
    expect(told.filter((one: string) => one !== 'delayed')).toEqual(['taken', 'report'])
    expect(log.every((one: Json) => one.result === 'taken' || one.host === 'peer.example')).toBe(true)
    expect((await stage.eventsOf(id)).map((event) => event.type)).toEqual(['email.sent', 'email.failed'])
  }, 120_000)

  test('what it delivers stays sent: nobody says that it arrived', async () => {
    const { id } = await stage.send('ann', 'fine@example.com', { subject: 'Fine' })
    await stage.waitForStatus('ann', id, 'sent')
    const raw = await waitFor('the mail', () => postfix.mailbox().find((one) => one.includes('Subject: Fine')))
    expect(raw.toString()).toMatch(/^Return-Path: <bounce\+[0-9a-z]{26}-0-[0-9a-z]{20}@here\.example>/m)
  })
})
