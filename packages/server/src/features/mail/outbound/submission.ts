// Sends messages that programs have composed. Their content goes out as it is, behind a header of Callsign's, and passes every check of a send.
import { hash } from 'node:crypto'
import { type BodyOf, operation, type ReplyOf } from '@callsign/contract/operation'
import { QueuedMessage, recipientsMax, refusals } from '@callsign/contract/outbound-mail'
import { MailboxParam, strict } from '@callsign/contract/schema'
import type { SearchedBytes } from '@callsign/mail/content/secrets/message-search'
import { type Submission, sourceWithout } from '@callsign/mail/content/submission'
import Type from 'typebox'
import type { Blobs } from '../../../core/blobs.ts'
import { keyIdOf } from '../../../core/caller.ts'
import { invalid, notFound } from '../../../core/errors.ts'
import { newId } from '../../../core/ids.ts'
import type { Call } from '../../../core/route.ts'
import type { Identities } from '../../account/identities/operations.ts'
import type { Attachments } from '../attachments/operations.ts'
import type { Messages } from '../messages/operations.ts'
import { keepRaw } from '../stored/mail-store.ts'
import type { Authors } from './author.ts'
import { checkRecipients, type OutgoingMessage, readAddresses, toQueuedReply } from './model.ts'
import type { OutgoingQueue } from './outgoing-queue.ts'
import type { SubmissionReader } from './provider.ts'
import { findPlace } from './thread-place.ts'

/** An operation for calls inside of the process only. The body names a submission of `Submissions`. */
export const submitMessage = operation({
  id: 'submitMessage',
  method: 'POST',
  path: '/api/v1/mailboxes/{email_address}/submissions',
  summary: 'Sends a message that a program has composed.',
  tag: 'Messages',
  scopes: ['mail:send'],
  params: strict({ email_address: MailboxParam }),
  body: strict({ submission: Type.String() }),
  status: 201,
  reply: QueuedMessage,
  errors: refusals,
  idempotent: true,
})

/** A submitted message that was read, with its bytes. */
export type ReadSubmission = { raw: Buffer; submission: Submission }

/** Messages that programs submit. Each is read once, for its sending and for its approval. */
export interface Submissions {
  /** Reads a message, on a thread when it is large. Throws 400 for recipients that no message has, and 503 when it cannot be read now. */
  read(raw: Buffer, recipients: string[]): Promise<ReadSubmission>
  /** Runs `send` with the name that `submitMessage` takes. It is valid until `send` settles. */
  withName<R>(read: ReadSubmission, send: (submission: string) => Promise<R>): Promise<R>
  /**
   * The fields that two submissions of the same message have in common. Programs write a new date and new boundaries when they send a message
   * again.
   */
  samenessOf(body: BodyOf<typeof submitMessage>): unknown
  /** The submission of a body of `submitMessage`. */
  find(body: BodyOf<typeof submitMessage>): ReadSubmission
}

export function createSubmissions(reader: SubmissionReader): Submissions {
  const named = new Map<string, ReadSubmission>()

  function find({ submission }: BodyOf<typeof submitMessage>): ReadSubmission {
    const found = named.get(submission)
    if (!found) throw notFound('submission')
    return found
  }

  return {
    find,

    async read(raw, recipients) {
      if (recipients.length === 0 || recipients.length > recipientsMax)
        throw invalid('/to', `a message has 1 to ${recipientsMax} recipients`)
      return { raw, submission: await reader.readSubmission(raw, recipients) }
    },

    async withName(read, send) {
      const name = newId('request')
      named.set(name, read)
      try {
        return await send(name)
      } finally {
        named.delete(name)
      }
    },

    samenessOf(body) {
      const { content: _, attachments, ...fields } = find(body).submission
      return { ...fields, from: fields.from ?? null, files: attachments.map(({ filename, sha256 }) => [filename, sha256]) }
    },
  }
}

export type Submit = (call: Call, mailbox: string, body: BodyOf<typeof submitMessage>) => Promise<ReplyOf<typeof submitMessage>>

type Parts = {
  blobs: Blobs
  identities: Identities
  attachments: Attachments
  messages: Messages
  authors: Authors
  submissions: Submissions
  outgoingQueue: Pick<OutgoingQueue, 'judgeAddresses' | 'prepareWhole' | 'queue'>
}

export function createSubmit({ blobs, identities, attachments, messages, authors, submissions, outgoingQueue }: Parts): Submit {
  /** The rows of the files, as ranges of the raw message, or stored for themselves when the message is composed again. */
  const rowsOf = async (organizationId: string, { attachments: files, content }: Submission): Promise<OutgoingMessage['attachments']> => {
    if (content === null) return attachments.keep(organizationId, files.map(loaded))
    return files.map((file) => ({
      ...{ id: newId('attachment'), filename: file.filename, content_type: file.contentType, content_id: file.contentId },
      ...{ is_inline: file.disposition === 'inline', size_bytes: file.sizeBytes, blob_key: null, bytes: null },
      ...{ raw_start: file.start, raw_end: file.end, encoding: file.encoding },
    }))
  }

  return async (call, mailbox, body) => {
    const owner = await identities.requireSender(call.caller, mailbox)
    const { raw, submission } = submissions.find(body)
    const recipients = checkRecipients({
      to: readAddresses('to', submission.to),
      cc: readAddresses('cc', submission.cc),
      bcc: readAddresses('bcc', submission.bcc),
    })
    const { references, messageId, content } = submission
    const addressing = {
      from: await authors.chooseAuthor(owner, submission.from),
      recipients,
      replyTo: readAddresses('reply_to', submission.replyTo),
      headers: submission.headers,
    }
    const place = await findPlace(messages, owner, { references })
    // Before anything is stored.
    await outgoingQueue.judgeAddresses(owner, addressing)
    const isTaken = messageId === null || (await messages.isKnownMessageId(owner.mailboxId, messageId))
    const outgoing: OutgoingMessage = {
      ...addressing,
      subject: submission.subject,
      text: submission.text,
      html: submission.html,
      labels: [],
      tags: null,
      metadata: null,
      autoSubmitted: submission.isAutomatic ? 'auto-generated' : null,
      attachments: await rowsOf(owner.organizationId, submission),
      isApproved: false,
      keyId: keyIdOf(call),
      ...place,
      submitted: {
        raw: content === null ? null : await keepRaw(blobs, owner.organizationId, raw, hash('sha256', raw, 'buffer')),
        messageId: isTaken ? null : messageId,
        searched: { fileBytes: raw.length, readFiles: async (bytesMax) => searchedFiles(raw, submission, bytesMax) },
      },
    }
    return outgoingQueue.queue(call, await outgoingQueue.prepareWhole(owner, outgoing), toQueuedReply)
  }
}

const loaded = ({ filename, contentType, contentId, bytes }: Submission['attachments'][number]) => ({
  id: newId('attachment'),
  filename,
  contentType,
  contentId,
  bytes,
})

/** The files that the outbound guard reads, with the source around them, and with a cut one for content that it cannot read. */
function searchedFiles(raw: Buffer, { attachments: files, isReadable, seal }: Submission, bytesMax: number): SearchedBytes[] {
  const headOf = (name: string, bytes: Buffer) => ({ name, bytes: bytes.subarray(0, bytesMax), isCut: bytes.length > bytesMax })
  const heads: SearchedBytes[] = [
    headOf('MIME source', sourceWithout(raw, files)),
    ...files.map(({ filename, bytes, contentType, parameters }) => ({
      ...headOf(filename, bytes),
      part: { contentType, charset: parameters.get('charset') ?? null, parentKind: seal === 'signed' ? 'signed' : '' },
    })),
  ]
  return isReadable ? heads : [...heads, { name: 'unreadable content', bytes: Buffer.alloc(0), isCut: true }]
}
