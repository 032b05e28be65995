// The text of an attachment for the API, and the errors of files without text.
import type { getAttachmentText } from '@callsign/contract/attachments'
import type { ErrorCode } from '@callsign/contract/errors'
import type { ReplyOf } from '@callsign/contract/operation'
import { ApiError } from '../../../core/errors.ts'
import type { LoadedAttachment } from './model.ts'
import type { FileFailure, FileText } from './provider.ts'

/** Bytes per token of a language model, about the same for most languages in UTF-8. */
const bytesPerToken = 4

const failures: Record<FileFailure, { code: ErrorCode; message: string; headers?: Record<string, string> }> = {
  not_supported: {
    code: 'attachment_not_supported',
    message: 'The format of this attachment has no text that the server can read. Download it from its url.',
  },
  encrypted: {
    code: 'attachment_encrypted',
    message: 'This attachment has a password. Download it, or ask the sender for a copy without one.',
  },
  damaged: { code: 'attachment_damaged', message: 'This attachment is broken. Download it, or ask the sender for another copy.' },
  too_complex: {
    code: 'attachment_too_complex',
    message: 'Reading this attachment took more than the permitted time or memory. Download it from its url.',
  },
  busy: {
    code: 'rate_limited',
    message: 'Too many attachments are read at once. Retry after the seconds in Retry-After.',
    headers: { 'Retry-After': '5' },
  },
}

/** The text of an attachment for the API. Throws the error of a file without text. */
export function toAttachmentText(
  file: Pick<LoadedAttachment, 'id' | 'filename' | 'contentType'>,
  found: FileText | { failure: FileFailure },
): ReplyOf<typeof getAttachmentText> {
  if ('failure' in found) {
    const { code, message, headers } = failures[found.failure]
    throw new ApiError(code, message, headers && { headers })
  }
  return {
    attachment_id: file.id,
    filename: file.filename,
    content_type: file.contentType,
    format: found.format,
    text: found.text,
    token_estimate: Math.ceil(Buffer.byteLength(found.text) / bytesPerToken),
    truncated: found.isTruncated,
    flags: found.flags,
  }
}
