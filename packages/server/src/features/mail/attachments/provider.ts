// The interface that reads the text of files, such that hostile ones do not delay others.
import type { attachmentFormats } from '@callsign/contract/attachments'
import type { Flag } from '@callsign/mail/content/deception/flags'

export type AttachmentFormat = (typeof attachmentFormats)[number]

/** The text of a file as Markdown. `flags` are indicators of deception in it. */
export type FileText = { format: AttachmentFormat; text: string; isTruncated: boolean; flags: Flag[] }

/** Reasons why a file has no text. `too_complex` is a limit of time or memory, and `busy` a queue that is full. */
export type FileFailure = 'not_supported' | 'encrypted' | 'damaged' | 'too_complex' | 'busy'

/** A file with the name and type that its sender declared. `owner` shares the queue fairly. */
export type NamedFile = { bytes: Buffer; filename: string; contentType: string; owner: string; charactersMax: number }

/** A file that is read from storage when a thread is free, so that waiting files take no memory. */
export type StoredFile = Omit<NamedFile, 'bytes'> & { bytes: () => Promise<Buffer> }

export interface FileReader {
  /** Never rejects for the content of a file. Rejects with the error of `bytes`. */
  read(file: NamedFile | StoredFile): Promise<FileText | { failure: FileFailure }>
}
