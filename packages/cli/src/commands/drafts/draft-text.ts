// The text of one draft, as its approver reads it.
import type { Draft, DraftReview } from '@callsign/sdk'
import { oneLine } from '../../terminal/output.ts'

const field = (name: string, value: string): string => `${name}: ${oneLine(value)}`

/** Everything that would be sent, so that the approver does not approve the text and send a different HTML part. */
export const shownDraft = (draft: Draft): string =>
  [
    field('Version', String(draft.version)),
    field('To', draft.to.join(', ')),
    ...(draft.cc.length > 0 ? [field('Cc', draft.cc.join(', '))] : []),
    ...(draft.bcc.length > 0 ? [field('Bcc', draft.bcc.join(', '))] : []),
    ...(draft.reply_to.length > 0 ? [field('Reply-To', draft.reply_to.join(', '))] : []),
    field('Subject', draft.subject ?? ''),
    ...Object.entries(draft.headers).map(([name, value]) => field(`Header ${name}`, value)),
    ...(draft.in_reply_to_message_id ? [field('Answers', draft.in_reply_to_message_id)] : []),
    ...(draft.forward_of_message_id
      ? [field('Forwards', `${draft.forward_of_message_id}, ${draft.forward_attachments ? 'with' : 'without'} its attachments`)]
      : []),
    ...draft.attachments.map((file) => field('Attachment', `${file.filename} (${file.content_type}, ${file.size_bytes} bytes)`)),
    ...(draft.send_at ? [field('Send at', draft.send_at)] : []),
    ...(draft.send_error ? [field('Not sent', draft.send_error)] : []),
    ...(draft.approval ? [field('Approval', `${draft.approval.status}, until ${draft.approval.expires_at}`)] : []),
    ...(draft.approval?.reasons ?? []).map((reason) => field('Held', reason)),
    '',
    draft.text ?? '',
    ...(draft.html ? ['', 'As HTML:', '', draft.html] : []),
  ].join('\n')

/** The message that approval would send, as the console and the approval page show it. */
export const shownReview = (review: DraftReview): string =>
  [
    field('Version', String(review.version)),
    ...review.warnings.map(({ text }) => field('Warning', text)),
    ...review.fields.flatMap(({ name, values }) => values.map((value) => field(name, value))),
    ...review.attachments.map((file) => field('Attachment', `${file.filename} (${file.content_type}, ${file.size_bytes} bytes)`)),
    ...review.images.map((image) => field('Image', image)),
    '',
    review.text,
    ...(review.html_text === null ? [] : ['', 'Text of the HTML:', '', review.html_text]),
  ].join('\n')
