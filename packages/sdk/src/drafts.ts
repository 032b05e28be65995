// Drafts with their files, and the list of all of them.
import type { Connection, RequestOptions } from './connection/request.ts'
import { type Draft, type DraftAttachment, DraftCalls, type NewDraftAttachment } from './resources/drafts.ts'

/** With a version, a change applies to that version only. Otherwise 409 `draft_version_conflict`. */
type AtVersion = { version?: number }

export class Drafts extends DraftCalls {
  readonly attachments: DraftAttachments
  constructor(connection: Connection) {
    super(connection)
    this.attachments = new DraftAttachments(this)
  }

  /** Iterates over all drafts, each once. Pages use offsets, so a draft sent or deleted in the meantime may hide another. */
  async all(mailbox: string, options?: RequestOptions): Promise<Draft[]> {
    const found = new Map<string, Draft>()
    for (let offset = 0; ; ) {
      const { drafts, count } = await this.list(mailbox, { offset }, options)
      for (const draft of drafts) if (!found.has(draft.id)) found.set(draft.id, draft)
      offset += drafts.length
      if (drafts.length === 0 || offset >= count) return [...found.values()]
    }
  }
}

/** The files of a draft. Adding or removing a file creates a new version. */
class DraftAttachments {
  readonly #drafts: Drafts
  constructor(drafts: Drafts) {
    this.#drafts = drafts
  }

  /** Lists the files with signed download links, valid for one hour. */
  async list(mailbox: string, id: string, options?: RequestOptions): Promise<DraftAttachment[]> {
    return (await this.#drafts.get(mailbox, id, options)).attachments
  }

  /** Adds files with Base64 `content`. The client does not retry this request, because a repetition would add them twice. */
  add(mailbox: string, id: string, files: NewDraftAttachment[], at: AtVersion = {}, options?: RequestOptions): Promise<Draft> {
    return this.#drafts.update(mailbox, id, { ...at, add_attachments: files }, options)
  }

  remove(mailbox: string, id: string, attachmentIds: string[], at: AtVersion = {}, options?: RequestOptions): Promise<Draft> {
    return this.#drafts.update(mailbox, id, { ...at, remove_attachments: attachmentIds }, options)
  }
}
