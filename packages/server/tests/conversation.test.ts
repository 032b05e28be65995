// Ten replies between an agent here and an external mailbox. They form one thread here, with correct In-Reply-To and References on both sides.
import { createTransport } from 'nodemailer'
import PostalMime from 'postal-mime'
import { expect, test } from 'vitest'
import { type SunkMail, startMailSink } from './harness/mail-sink.ts'
import { findFreePort } from './harness/peer-process.ts'
import { findPostfix, startPostfix } from './harness/postfix.ts'
import { type Json, startHarness } from './harness/start.ts'
import { waitFor } from './harness/wait.ts'

/** Checks a conversation from either side. Each message answers the previous one, and References names all before it. */
function checkChain(mails: SunkMail[]): void {
  for (const [index, { parsed }] of mails.entries()) {
    const before = mails.slice(0, index).map((mail) => mail.parsed.messageId)
    expect(parsed.inReplyTo).toBe(before.at(-1))
    expect(parsed.references?.split(/\s+/) ?? []).toEqual(before)
  }
}

test('with a mailbox on smtp-server', async () => {
  const sink = await startMailSink()
  const harness = await startHarness({ CALLSIGN_MAIL_TRANSPORT: 'relay', CALLSIGN_SMTP_RELAY_URL: sink.url })
  try {
    await harness.createAgent('ann')
    /** Every message of the conversation in order, both received and written by the external mailbox. */
    const mails: SunkMail[] = []
    const start = await harness.send('ann', 'zoe@example.com', { subject: 'Let us talk' })
    const ids = [start.id]
    for (let round = 0; round < 10; round++) {
      const got = await waitFor(`message ${round + 1} at the mailbox elsewhere`, () => sink.mails[round])
      expect(got.to).toEqual(['zoe@example.com'])
      mails.push(got)
      // The mailbox elsewhere answers as mail programs do.
      const { parsed } = got
      const references = [...(parsed.references?.split(/\s+/) ?? []), parsed.messageId as string]
      const messageId = `<zoe-${round}@example.com>`
      const answer = { from: 'zoe@example.com', to: 'ann@agents.localhost', subject: `Re: Let us talk`, text: `Answer ${round}` }
      await harness.deliver({ ...answer, messageId, inReplyTo: parsed.messageId as string, references })
      mails.push({ ...got, parsed: { ...parsed, messageId, inReplyTo: parsed.messageId as string, references: references.join(' ') } })
      const arrived = await waitFor(`answer ${round} here`, async () => {
        const { messages } = await harness.expectApi(200, 'GET', `/mailboxes/ann/threads/${start.thread_id}`)
        return messages.find((one: Json) => one.text.includes(`Answer ${round}`))
      })
      expect(arrived).toMatchObject({ thread_id: start.thread_id, in_reply_to_message_id: ids.at(-1), message_id: messageId })
      ids.push(arrived.id)
      if (round === 9) break
      const body = { text: `Question ${round}` }
      const replied = await harness.expectApi(201, 'POST', `/mailboxes/ann/messages/${arrived.id}/reply`, { body })
      expect(replied.thread_id).toBe(start.thread_id)
      ids.push(replied.id)
    }
    checkChain(mails)
    const thread = await harness.expectApi(200, 'GET', `/mailboxes/ann/threads/${start.thread_id}`)
    expect([thread.message_count, thread.messages.map((one: Json) => one.id)]).toEqual([20, ids])
    for (const [index, one] of thread.messages.entries())
      expect(one.references).toEqual(thread.messages.slice(0, index).map((m: Json) => m.message_id))
    expect(thread.messages.slice(1).map((one: Json) => one.subject)).toEqual(Array(19).fill('Re: Let us talk'))
    const { data } = await harness.expectApi(200, 'GET', '/mailboxes/ann/threads')
    expect(data.map((one: Json) => one.id)).toEqual([start.thread_id])
  } finally {
    await harness.stop()
    await sink.close()
  }
})

test('two agents here keep a thread each through ten replies', async () => {
  const harness = await startHarness()
  try {
    await harness.createAgent('ann')
    await harness.createAgent('ben')
    let last = await harness.send('ann', 'ben@agents.localhost', { subject: 'Ping' })
    const threads: Record<string, Set<string>> = { ann: new Set([last.thread_id]), ben: new Set() }
    let [writer, reader] = ['ann', 'ben']
    for (let round = 0; round < 10; round++) {
      const { message_id } = await harness.getMessage(writer, last.id)
      const arrived = await waitFor(`reply ${round} in the mailbox of ${reader}`, async () => {
        const { data } = await harness.expectApi(200, 'GET', `/mailboxes/${reader}/messages?direction=inbound`)
        return data.find((one: Json) => one.message_id === message_id)
      })
      threads[reader]?.add(arrived.thread_id)
      last = await harness.expectApi(201, 'POST', `/mailboxes/${reader}/messages/${arrived.id}/reply`, { body: { text: `${round}` } })
      threads[reader]?.add(last.thread_id)
      ;[writer, reader] = [reader, writer]
    }
    expect([threads.ann?.size, threads.ben?.size]).toEqual([1, 1])
  } finally {
    await harness.stop()
  }
})

test('with a mailbox behind Postfix, which relays both ways', async ({ skip }) => {
  const reason = findPostfix()
  if (reason) skip(reason)
  const smtpPort = await findFreePort()
  const postfix = await startPostfix('agents.localhost', smtpPort)
  const harness = await startHarness({
    // Ten rounds are more than the loop guard lets pass.
    CALLSIGN_AGENT_LOOP_SECONDS: '0',
    CALLSIGN_SMTP_PORT: String(smtpPort),
    CALLSIGN_MAIL_TRANSPORT: 'relay',
    CALLSIGN_SMTP_RELAY_URL: `smtp://127.0.0.1:${postfix.port}`,
  })
  const submission = createTransport({ host: '127.0.0.1', port: postfix.port, tls: { rejectUnauthorized: false } })
  try {
    await harness.createAgent('ann')
    let last = await harness.send('ann', 'zoe@example.com', { subject: 'Through Postfix' })
    const threadId = last.thread_id
    const chain: string[] = []
    for (let round = 0; round < 10; round++) {
      const { message_id } = await harness.getMessage('ann', last.id)
      const got = await waitFor(`message ${round} in the maildir`, async () => {
        const mails = await Promise.all(postfix.mailbox().map((raw) => PostalMime.parse(raw)))
        return mails.find((mail) => mail.messageId === message_id)
      })
      expect([got.inReplyTo, got.references?.split(/\s+/) ?? []]).toEqual([chain.at(-1), chain])
      chain.push(message_id)
      const messageId = `<zoe-${round}@example.com>`
      const answer = { from: 'zoe@example.com', to: 'ann@agents.localhost', subject: 'Re: Through Postfix', text: `Answer ${round}` }
      await submission.sendMail({ ...answer, messageId, inReplyTo: message_id, references: [...chain] })
      const arrived = await waitFor(`answer ${round} here`, async () => {
        const { messages } = await harness.expectApi(200, 'GET', `/mailboxes/ann/threads/${threadId}`)
        return messages.find((one: Json) => one.message_id === messageId)
      })
      expect([arrived.in_reply_to_message_id, arrived.references]).toEqual([last.id, chain])
      chain.push(messageId)
      last = await harness.expectApi(201, 'POST', `/mailboxes/ann/messages/${arrived.id}/reply`, { body: { text: `${round}` } })
      expect(last.thread_id).toBe(threadId)
    }
    const { data } = await harness.expectApi(200, 'GET', '/mailboxes/ann/threads')
    expect(data.map((one: Json) => [one.id, one.message_count])).toEqual([[threadId, 21]])
  } finally {
    submission.close()
    await harness.stop()
    await postfix.stop()
  }
})
