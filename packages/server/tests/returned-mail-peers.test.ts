// Real bounces. A Postfix and an Exim accept mail of a Callsign, cannot deliver it, and return it over SMTP.
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { findExim, startExim } from './harness/exim.ts'
import { findFreePort } from './harness/peer-process.ts'
import { findPostfix, startPostfix } from './harness/postfix.ts'
import { type Harness, type Json, startHarness } from './harness/start.ts'
import { waitFor } from './harness/wait.ts'

type Running = { port: number; mailbox: () => Buffer[]; giveUp: () => Promise<void>; stop: () => Promise<void> }
/** `codes` are the enhanced status codes at the end of its reports. */
type Peer = {
  name: string
  missing: string | null
  codes: { unknown: string; full: string; expired: string }
  words: { unknown: string; full: string; delayed: RegExp }
  start: (smtpPort: number) => Promise<Running>
}

const peers: Peer[] = [
  {
    name: 'Postfix',
    missing: findPostfix(),
    codes: { unknown: '5.1.1', full: '5.2.2', expired: '4.4.1' },
    words: { unknown: 'unknown user', full: 'error', delayed: /^Delayed: .*refused/i },
    async start(smtpPort) {
      const postfix = await startPostfix('here.example', smtpPort, {
        virtual_mailbox_maps: 'inline:{ full@example.com=full, fine@example.com=box/ }',
        virtual_mailbox_limit: '60000',
        message_size_limit: '60000',
        bounce_size_limit: '2000',
        smtpd_reject_unlisted_recipient: 'no',
        transport_maps: `inline:{ here.example=smtp:[127.0.0.1]:${smtpPort}, gone.example=smtp:[127.0.0.1]:1 }`,
        delay_warning_time: '1s',
        minimal_backoff_time: '1s',
        maximal_backoff_time: '1s',
        queue_run_delay: '1s',
      })
      return { ...postfix, giveUp: async () => postfix.reload({ maximal_queue_lifetime: '1s' }) }
    },
  },
  {
    name: 'Exim',
    missing: findExim(),
    // It reports 5.0.0 for every error, with the reason in words.
    codes: { unknown: '5.0.0', full: '5.2.2', expired: '4.4.7' },
    words: { unknown: 'Unrouteable address', full: 'mailbox is full', delayed: /^Delayed: / },
    async start(smtpPort) {
      const exim = await startExim('here.example', smtpPort, '1h')
      return { ...exim, giveUp: () => exim.restart('1s') }
    },
  },
]

describe.each(peers)('$name', ({ name, missing, codes, words, start }) => {
  describe.skipIf(missing !== null)(missing ? `skipped: ${missing}` : 'its reports', () => {
    let peer: Running
    let harness: Harness
    beforeAll(async () => {
      const smtpPort = await findFreePort()
      peer = await start(smtpPort)
      harness = await startHarness({
        CALLSIGN_MAIL_DOMAIN: 'here.example',
        CALLSIGN_SMTP_PORT: String(smtpPort),
        CALLSIGN_MAIL_TRANSPORT: 'relay',
        CALLSIGN_SMTP_RELAY_URL: `smtp://127.0.0.1:${peer.port}`,
      })
      await harness.createAgent('ann')
    })
    afterAll(async () => {
      await harness?.stop()
      await peer?.stop()
    })

    const recipientsOf = async (id: string): Promise<Json[]> => (await harness.getMessage('ann', id)).delivery.recipients
    const typesOf = async (id: string) => (await harness.eventsOf(id)).map((event) => event.type)
    const suppressed = async (address: string) =>
      (await harness.expectApi(200, 'GET', `/suppressions?email_address=${encodeURIComponent(address)}`)).data.length === 1
    const large = { text: `${'x'.repeat(70)}\n`.repeat(500) }

    test('an unknown user bounces with the address suppressed, and the delivered part of the message stays sent', async () => {
      const { id } = await harness.send('ann', ['nobody@example.com', 'fine@example.com'], { subject: 'Two' })
      await harness.waitForStatus('ann', id, 'bounced')
      const [nobody, fine] = await recipientsOf(id)
      expect(nobody).toMatchObject({
        status: 'bounced',
        diagnostic_code: codes.unknown,
        last_answer: expect.stringContaining(words.unknown),
        log: [{ result: 'taken' }, { result: 'report', host: 'peer.example' }],
      })
      expect(await typesOf(id)).toEqual(['email.sent', 'email.bounced'])
      expect([await suppressed('nobody@example.com'), await suppressed('fine@example.com')]).toEqual([true, false])
      expect(
        (await harness.api('POST', '/mail/send', { body: { agent: 'ann', to: ['nobody@example.com'], subject: 'a', text: 'a' } })).status,
      ).toBe(403)

      const raw = await waitFor('the mail', () => peer.mailbox().find((one) => one.includes('Subject: Two')))
      expect(raw.toString()).toContain('To: nobody@example.com, fine@example.com')
      expect(fine).toMatchObject({ status: 'sent', diagnostic_code: null, log: [{ result: 'taken' }] })
    })

    test('a deferred message has a warning and stays sent, and fails when the queue gives up', async () => {
      const { id } = await harness.send('ann', 'x@gone.example')
      const delayed = await waitFor(
        `${name} to warn`,
        async () => {
          const [recipient] = await recipientsOf(id)
          return recipient.log.length > 1 && recipient
        },
        90_000,
      )
      expect(delayed).toMatchObject({
        status: 'sent',
        diagnostic_code: null,
        log: [{ result: 'taken' }, { result: 'report', host: 'peer.example', answer: expect.stringMatching(words.delayed) }],
      })
      expect(await typesOf(id)).toEqual(['email.sent'])

      await peer.giveUp()
      const failed = await waitFor(
        `${name} to give up`,
        async () => {
          const message = await harness.getMessage('ann', id)
          return message.status !== 'sent' && message
        },
        90_000,
      )
      const { status, diagnostic_code: code, log } = failed.delivery.recipients[0]
      expect([failed.status, status, code]).toEqual(['failed', 'failed', codes.expired])
      expect(log.at(-1)).toMatchObject({ result: 'report', host: 'peer.example' })
      expect(await typesOf(id)).toEqual(['email.sent', 'email.failed'])
      expect(await suppressed('x@gone.example')).toBe(false)
    })

    test('a full mailbox bounces without suppressing the address', async () => {
      // Exim treats a full mailbox as temporary, so it retries until its time limit.
      await peer.giveUp()
      const ids: string[] = []
      for (let i = 0; i < 2; i++) ids.push((await harness.send('ann', 'full@example.com', large)).id)
      // One of the two fills it, or neither has room.
      const bounced = await waitFor(
        'a bounce',
        async () => {
          const messages = await Promise.all(ids.map((id) => harness.getMessage('ann', id)))
          return messages.find((message) => message.status === 'bounced')
        },
        90_000,
      )
      expect(bounced.delivery.recipients[0]).toMatchObject({
        status: 'bounced',
        diagnostic_code: codes.full,
        last_answer: expect.stringContaining(words.full),
      })
      expect(await typesOf(bounced.id)).toEqual(['email.sent', 'email.bounced'])
      expect(await suppressed('full@example.com')).toBe(false)
      expect(
        (await harness.api('POST', '/mail/send', { body: { agent: 'ann', to: ['full@example.com'], subject: 'a', text: 'a' } })).status,
      ).toBe(201)
    })

    test('reports are not filed as messages', async () => {
      const { data } = await harness.expectApi(200, 'GET', '/mailboxes/ann/messages?direction=inbound')
      expect(data).toEqual([])
    })
  })
})
