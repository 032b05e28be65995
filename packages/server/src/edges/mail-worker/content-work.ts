// The conversions of contents, for both the main thread and worker threads.
import { signMessage } from '@callsign/mail/authentication/dkim/signing'
import { composeMessage } from '@callsign/mail/compose/compose'
import { quotedForward } from '@callsign/mail/compose/reply'
import { messagePage } from '@callsign/mail/html/message-page'
import { reviewHtml } from '@callsign/mail/html/review'
import { htmlToText } from '@callsign/mail/html/text'
import type { ContentResult, ContentTask } from './protocol.ts'

/** The result of a task. The same task gives the same result. */
export async function convert(task: ContentTask): Promise<ContentResult> {
  if (task.kind === 'text') return htmlToText(task.html)
  if (task.kind === 'review') return reviewHtml(task.html)
  if (task.kind === 'forward') return quotedForward(task.source)
  if (task.kind === 'page') return messagePage(task.message)
  const { draft, keys } = task
  const attachments = draft.attachments?.map((file) => ({ ...file, bytes: toBuffer(file.bytes) }))
  // Signs at the message's own time, because every attempt has to send the same bytes.
  return signMessage(await composeMessage({ ...draft, ...(attachments && { attachments }) }), keys, draft.date)
}

/** A Buffer that came from another thread is a plain array of bytes. */
export const toBuffer = (bytes: Uint8Array): Buffer => Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
