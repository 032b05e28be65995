// Reads and checks a new message of the API.
import type { BodyOf } from '@callsign/contract/operation'
import type { sendMessage } from '@callsign/contract/outbound-mail'
import { keyIdOf } from '../../../core/caller.ts'
import { invalid } from '../../../core/errors.ts'
import { readMarks } from '../../../core/metadata.ts'
import type { Call } from '../../../core/route.ts'
import type { MailboxOwner } from '../../account/identities/model.ts'
import type { Messages } from '../messages/operations.ts'
import type { Authors } from './author.ts'
import { asList, bodyBytes, checkHeaders, checkRecipients, checkSubject, type OutgoingMessage, readAddresses } from './model.ts'
import type { createOutgoingQueue } from './outgoing-queue.ts'
import { findPlace } from './thread-place.ts'

type Parts = {
  messages: Messages
  chooseAuthor: Authors['chooseAuthor']
  takeFiles: ReturnType<typeof createOutgoingQueue>['takeFiles']
}

/** A function that reads and checks a new message, and stores its attachments. */
export const createPrepare =
  ({ messages, chooseAuthor, takeFiles }: Parts) =>
  async (call: Call, owner: MailboxOwner, body: BodyOf<typeof sendMessage>): Promise<OutgoingMessage> => {
    const recipients = checkRecipients({
      to: readAddresses('to', body.to),
      cc: readAddresses('cc', body.cc ?? []),
      bcc: readAddresses('bcc', body.bcc ?? []),
    })
    const replyTo = readAddresses('reply_to', asList(body.reply_to))
    const from = await chooseAuthor(owner, body.from)
    const headers = checkHeaders(body.headers)
    const marks = readMarks(body)
    checkSubject(body.subject)
    if (body.text === undefined && !body.html) throw invalid('/text', 'a message needs text or html')
    const place = await findPlace(messages, owner, body)
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
      ...place,
    }
  }
