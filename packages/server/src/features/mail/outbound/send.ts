// Sends a new message of the API.
import type { BodyOf, ReplyOf } from '@callsign/contract/operation'
import type { sendMessage } from '@callsign/contract/outbound-mail'
import type { ParsedAddress } from '@callsign/mail/mime/addresses'
import { keyIdOf } from '../../../core/caller.ts'
import { invalid } from '../../../core/errors.ts'
import { readMarks } from '../../../core/metadata.ts'
import type { Call } from '../../../core/route.ts'
import type { MailboxOwner } from '../../account/identities/model.ts'
import type { Messages } from '../messages/operations.ts'
import type { Authors } from './author.ts'
import {
  asList,
  bodyBytes,
  checkHeaders,
  checkRecipients,
  checkSubject,
  type OutgoingMessage,
  readAddresses,
  toQueuedReply,
} from './model.ts'
import type { OutgoingQueue } from './outgoing-queue.ts'
import { findPlace } from './thread-place.ts'

type SendBody = BodyOf<typeof sendMessage>

/** The parts of the server that take a step each. */
export type SendSteps = {
  messages: Pick<Messages, 'requireThread' | 'findReferenced' | 'findMessage'>
  chooseAuthor: Authors['chooseAuthor']
} & Pick<OutgoingQueue, 'takeFiles' | 'prepareWhole' | 'queue'>

/** Resolves once the message is committed as queued, with the job that delivers it. */
export async function send(call: Call, owner: MailboxOwner, body: SendBody, steps: SendSteps): Promise<ReplyOf<typeof sendMessage>> {
  const outgoing = await readMessage(call, owner, body, steps)
  // Makes its text, and searches it for secrets and loops. This may take seconds, so it is done before the transaction.
  const prepared = await steps.prepareWhole(owner, outgoing)
  // Judged by rules, suppressions and limits, and filed with the job that delivers it, in one transaction.
  return steps.queue(call, prepared, toQueuedReply)
}

/** Reads and checks the fields of a new message, finds its thread, and stores its files. Throws 400 at the field, and 403 for a recipient. */
export async function readMessage(
  call: Call,
  owner: MailboxOwner,
  body: SendBody,
  { messages, chooseAuthor, takeFiles }: Pick<SendSteps, 'messages' | 'chooseAuthor' | 'takeFiles'>,
): Promise<OutgoingMessage> {
  const recipients = checkRecipients({
    to: readAddresses('to', body.to),
    cc: readAddresses('cc', body.cc ?? []),
    bcc: readAddresses('bcc', body.bcc ?? []),
  })
  const replyTo: ParsedAddress[] = readAddresses('reply_to', asList(body.reply_to))
  const from = await chooseAuthor(owner, body.from)
  const headers = checkHeaders(body.headers)
  const marks = readMarks(body)
  checkSubject(body.subject)
  if (body.text === undefined && !body.html) throw invalid('/text', 'a message needs text or html')
  const thread = await findPlace(messages, owner, body)
  // Forbidden recipients are refused before any file is fetched or stored.
  const files = await takeFiles(owner, { from, recipients, replyTo, headers }, body.attachments, bodyBytes(body))
  return {
    from,
    recipients,
    replyTo,
    subject: body.subject,
    text: body.text ?? '',
    html: body.html ?? '',
    headers,
    ...marks,
    autoSubmitted: body.automatic ? 'auto-generated' : null,
    attachments: files,
    isApproved: false,
    keyId: keyIdOf(call),
    ...thread,
  }
}
