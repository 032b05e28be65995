// Mail out: a new message, a reply, a forward. Each records the message as queued and its delivery job in one transaction.

import { messageBytesMax } from '@callsign/contract/attachments'
import type { forwardMessage, replyToMessage, sendMessage } from '@callsign/contract/outbound-mail'
import type { Static } from 'typebox'
import { now } from '../../core/clock.ts'
import { ApiError, invalid } from '../../core/errors.ts'
import { newId } from '../../core/ids.ts'
import type { Enqueue } from '../../core/job.ts'
import type { Journal } from '../../core/journal.ts'
import type { Call } from '../../core/route.ts'
import type { LoadedAttachment } from '../attachments/model.ts'
import type { Attachments } from '../attachments/operations.ts'
import type { MailboxOwner } from '../identities/model.ts'
import type { Identities } from '../identities/operations.ts'
import { type ParsedAddress, parseAddresses } from '../inbound-mail/model.ts'
import { type MessageRow, snippetOf } from '../messages/model.ts'
import { type Filing, fileMessages, type Messages } from '../messages/operations.ts'
import { checkCustomHeaders } from './custom-headers.ts'
import { asList, checkRecipients, deliverJob, type Recipients, readAddresses, toRecipientRows } from './model.ts'
import { forwardSubject, quotedForward, replyRecipients, replyReferences, replySubject } from './reply.ts'

export type OutboundMail = ReturnType<typeof createOutboundMail>

type SendBody = Static<NonNullable<typeof sendMessage.body>>
type ReplyBody = Static<NonNullable<typeof replyToMessage.body>>
type ForwardBody = Static<NonNullable<typeof forwardMessage.body>>

type Parts = {
  identities: Identities
  attachments: Attachments
  messages: Messages
  enqueue: Enqueue
  mailDomain: string
  journal: Journal
}

/** Everything that a new outbound message is made of. */
type Letter = {
  recipients: Recipients
  replyTo: ParsedAddress[]
  subject: string
  text: string
  html: string
  headers: Record<string, string>
  attachments: LoadedAttachment[]
  parent: { message: MessageRow; references: string[] } | null
  /** The thread to join; null starts one. */
  threadId: string | null
}

export function createOutboundMail({ identities, attachments, messages, enqueue, mailDomain, journal }: Parts) {
  function checkHeaders(headers: Record<string, string> | undefined): Record<string, string> {
    const problems = checkCustomHeaders(headers ?? {})
    if (problems.length > 0) throw new ApiError('validation_error', problems[0]?.message ?? 'headers are not valid', { details: problems })
    return headers ?? {}
  }

  const bodyBytes = (body: { text?: string; html?: string }) => Buffer.byteLength(body.text ?? '') + Buffer.byteLength(body.html ?? '')

  /** Records a letter as queued, with its job. The effect is `call.transact`, so it happens once for an Idempotency-Key. */
  async function queue<R>(
    call: Call,
    owner: MailboxOwner,
    letter: Letter,
    answer: (message: { id: string; threadId: string; at: Date }) => R,
  ): Promise<R> {
    const at = now()
    const id = newId('message')
    const threadId = letter.threadId ?? newId('thread')
    const rows = toRecipientRows(letter.recipients)
    const addresses = (kind: 'to' | 'cc' | 'bcc') => letter.recipients[kind].map((entry) => entry.address)
    const stored = await attachments.keep(owner.organizationId, letter.attachments)
    const message: Filing['message'] = {
      id,
      organization_id: owner.organizationId,
      mailbox_id: owner.mailboxId,
      direction: 'outbound',
      status: 'queued',
      from_address: owner.address,
      from_name: owner.displayName,
      to_addresses: addresses('to'),
      cc_addresses: addresses('cc'),
      bcc_addresses: addresses('bcc'),
      reply_to: letter.replyTo.map((entry) => entry.address),
      subject: letter.subject,
      snippet: snippetOf(letter.text),
      text: letter.text,
      html: letter.html,
      extracted_text: letter.text,
      rfc_message_id: `<${id.slice(id.indexOf('_') + 1)}@${mailDomain}>`,
      in_reply_to: letter.parent?.message.rfc_message_id ?? null,
      reference_ids: letter.parent?.references ?? [],
      headers: letter.headers,
      spf: null,
      dkim: null,
      dmarc: null,
      envelope_from: owner.address,
      labels: [],
      is_read: true,
      is_starred: false,
      size_bytes: bodyBytes(letter) + letter.attachments.reduce((sum, attachment) => sum + attachment.bytes.length, 0),
      attachment_count: letter.attachments.length,
      raw_id: null,
      created_at: at,
      updated_at: at,
    }
    const filing: Filing = {
      message,
      thread: { known: { threadId, inReplyToMessageId: letter.parent?.message.id ?? null } },
      attachments: stored,
      recipients: rows,
      sha256: null,
    }
    return call.transact(async (tx) => {
      await Promise.all([
        fileMessages(tx, [filing], []),
        enqueue(tx, [{ kind: deliverJob, organizationId: owner.organizationId, subject: id }]),
      ])
      tx.afterCommit(() => journal.messageQueued({ organization_id: owner.organizationId, message_id: id, recipients: rows.length }))
      return answer({ id, threadId, at })
    })
  }

  const queued = (message: { id: string; threadId: string; at: Date }) => ({
    id: message.id,
    thread_id: message.threadId,
    status: 'queued' as const,
    created_at: message.at.toISOString(),
  })

  async function send(call: Call, owner: MailboxOwner, body: SendBody) {
    const recipients = checkRecipients({
      to: readAddresses('to', body.to),
      cc: readAddresses('cc', body.cc ?? []),
      bcc: readAddresses('bcc', body.bcc ?? []),
    })
    const replyTo = readAddresses('reply_to', asList(body.reply_to))
    const headers = checkHeaders(body.headers)
    checkSubject(body.subject)
    const thread = body.thread_id === undefined ? null : await messages.requireThread(owner.mailboxId, owner.organizationId, body.thread_id)
    const parent = thread?.latest ? { message: thread.latest, references: replyReferences(parentOf(thread.latest)) } : null
    const loaded = await attachments.load(body.attachments, bodyBytes(body))
    const letter: Letter = {
      recipients,
      replyTo,
      subject: body.subject,
      text: body.text,
      html: body.html ?? '',
      headers,
      attachments: loaded,
      parent,
      threadId: body.thread_id ?? null,
    }
    return queue(call, owner, letter, queued)
  }

  return {
    /** `POST /mail/send`. */
    async sendMail(call: Call, { agent, ...body }: SendBody & { agent: string }) {
      return send(call, await identities.requireMailbox(call.caller, agent), body)
    },

    /** `POST …/messages`. */
    async sendMessage(call: Call, mailbox: string, body: SendBody) {
      return send(call, await identities.requireMailbox(call.caller, mailbox), body)
    },

    /** `POST …/messages/{message_id}/reply`. */
    async replyToMessage(call: Call, mailbox: string, messageId: string, body: ReplyBody) {
      const owner = await identities.requireMailbox(call.caller, mailbox)
      const message = await messages.requireMessage(call.caller, mailbox, messageId)
      if (!body.text && !body.html) throw invalid('/text', 'a reply needs text or html')
      const headers = checkHeaders(body.headers)
      const found = replyRecipients({
        from: { name: message.from_name, address: message.from_address },
        replyTo: message.reply_to.map(bare),
        to: message.to_addresses.map(bare),
        cc: message.cc_addresses.map(bare),
        ownAddress: owner.address,
        replyAll: body.reply_all ?? false,
      })
      const recipients = checkRecipients({
        to: body.to === undefined ? found.to : readAddresses('to', asList(body.to)),
        cc: body.cc === undefined ? found.cc : readAddresses('cc', asList(body.cc)),
        bcc: readAddresses('bcc', asList(body.bcc)),
      })
      const loaded = await attachments.load(body.attachments, bodyBytes(body))
      const letter: Letter = {
        recipients,
        replyTo: [],
        subject: replySubject(message.subject),
        text: body.text ?? '',
        html: body.html ?? '',
        headers,
        attachments: loaded,
        parent: { message, references: replyReferences(parentOf(message)) },
        threadId: message.thread_id,
      }
      return queue(call, owner, letter, ({ id, threadId }) => ({ id, thread_id: threadId }))
    },

    /** `POST …/messages/{message_id}/forward`: a thread of its own, the original quoted, its attachments along unless told otherwise. */
    async forwardMessage(call: Call, mailbox: string, messageId: string, body: ForwardBody) {
      const owner = await identities.requireMailbox(call.caller, mailbox)
      const message = await messages.requireMessage(call.caller, mailbox, messageId)
      const recipients = checkRecipients({
        to: readAddresses('to', asList(body.to)),
        cc: readAddresses('cc', asList(body.cc)),
        bcc: readAddresses('bcc', asList(body.bcc)),
      })
      const headers = checkHeaders(body.headers)
      if (body.subject !== undefined) checkSubject(body.subject)
      const quoted = quotedForward({
        from: { name: message.from_name, address: message.from_address },
        to: message.to_addresses.map(bare),
        cc: message.cc_addresses.map(bare),
        date: message.created_at,
        subject: message.subject,
        text: message.text,
        html: message.html,
        introText: body.text ?? '',
        introHtml: body.html ?? '',
      })
      const own = await attachments.load(body.attachments, bodyBytes(quoted))
      const along = body.forward_attachments === false ? [] : await attachments.readAll(message.id)
      const loaded = [...along.map((attachment) => ({ ...attachment, id: newId('attachment') })), ...own]
      const total = bodyBytes(quoted) + loaded.reduce((sum, attachment) => sum + attachment.bytes.length, 0)
      if (total > messageBytesMax)
        throw new ApiError('payload_too_large', 'The forwarded message would be larger than 25 MB; leave its attachments out.')
      const letter: Letter = {
        recipients,
        replyTo: [],
        subject: body.subject ?? forwardSubject(message.subject),
        text: quoted.text,
        html: quoted.html,
        headers,
        attachments: loaded,
        parent: null,
        threadId: null,
      }
      return queue(call, owner, letter, ({ id, threadId }) => ({ id, thread_id: threadId }))
    },
  }
}

const bare = (address: string): ParsedAddress => parseAddresses(address, 1)[0] ?? { name: '', address }

const parentOf = (message: MessageRow) => ({
  messageId: message.rfc_message_id,
  references: message.reference_ids,
  inReplyTo: message.in_reply_to === null ? [] : [message.in_reply_to],
})

function checkSubject(subject: string): void {
  if (/[\r\n]/.test(subject)) throw invalid('/subject', 'subject must be one line')
}
