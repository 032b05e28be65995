// The draft of a message that a program has submitted, for a person to approve.
import type { createDraft } from '@callsign/contract/drafts'
import type { BodyOf } from '@callsign/contract/operation'
import type { Submission } from '@callsign/mail/content/submission'
import { ApiError } from '../../../core/errors.ts'

/** The body of a draft with the content of a submitted message, for a person to approve. Throws 403 for content whose bytes must stay. */
export function toDraftBody(submission: Submission): NonNullable<BodyOf<typeof createDraft>> {
  const { from, to, cc, bcc, replyTo, subject, text, html, headers, isAutomatic, references, attachments, seal } = submission
  if (seal !== null)
    throw new ApiError(
      'approval_required',
      `This message needs approval, which a message that is ${seal} cannot wait for. Send it without.`,
    )
  return {
    to,
    ...(cc.length > 0 && { cc }),
    ...(bcc.length > 0 && { bcc }),
    ...(from !== undefined && { from }),
    ...(replyTo.length > 0 && { reply_to: replyTo }),
    subject,
    // A draft needs a text. One of files alone gets the empty line that a composed message has.
    text: text || (html === '' ? '\n' : ''),
    ...(html !== '' && { html }),
    ...(Object.keys(headers).length > 0 && { headers }),
    ...(isAutomatic && { automatic: true }),
    ...(references.length > 0 && { references }),
    ...(attachments.length > 0 && {
      attachments: attachments.map(({ filename, contentType, contentId, bytes }) => ({
        filename,
        // A container that is nested too deep to be read.
        content_type: contentType.startsWith('multipart/') ? 'application/octet-stream' : contentType,
        content: bytes.toString('base64'),
        ...(contentId !== null && { content_id: contentId }),
      })),
    }),
  }
}
