// Drafts of one mailbox: written in versions, sent once, now or at a time. `mailbox` is a full address or an agent handle everywhere.
import type * as contract from '@callsign/contract/drafts'
import type { BodyOf, QueryOf, ReplyOf } from '@callsign/contract/operation'
import { type Connection, path, type RequestOptions } from './request.ts'

export type Draft = ReplyOf<typeof contract.getDraft>
export type DraftPage = ReplyOf<typeof contract.listDrafts>
export type SentDraft = ReplyOf<typeof contract.sendDraft>
export type DraftAttachment = Draft['attachments'][number]
export type NewDraftAttachment = NonNullable<BodyOf<typeof contract.updateDraft>['add_attachments']>[number]

/** With a version, a change is made to that version only; else 409 `draft_version_conflict`. */
type AtVersion = { version?: number }

export class Drafts {
  readonly attachments: DraftAttachments
  readonly #connection: Connection
  constructor(connection: Connection) {
    this.#connection = connection
    this.attachments = new DraftAttachments(this)
  }

  /** One page, newest update first; `count` is the total. */
  list(mailbox: string, query?: QueryOf<typeof contract.listDrafts>, options?: RequestOptions): Promise<DraftPage> {
    return this.#connection.request({ method: 'GET', path: path`/mailboxes/${mailbox}/drafts`, query, options })
  }

  /** All of them, each once. Pages are by offset: a draft that is sent or deleted meanwhile may hide another one. */
  async all(mailbox: string, options?: RequestOptions): Promise<Draft[]> {
    const found = new Map<string, Draft>()
    for (let offset = 0; ; ) {
      const { drafts, count } = await this.list(mailbox, { offset }, options)
      for (const draft of drafts) if (!found.has(draft.id)) found.set(draft.id, draft)
      offset += drafts.length
      if (drafts.length === 0 || offset >= count) return [...found.values()]
    }
  }

  /** Every field may come later. `in_reply_to` and `forward_of` take recipients and subject from their message. */
  create(mailbox: string, body: BodyOf<typeof contract.createDraft> = {}, options?: RequestOptions): Promise<Draft> {
    return this.#connection.request({ method: 'POST', path: path`/mailboxes/${mailbox}/drafts`, body, isKeyed: true, options })
  }

  get(mailbox: string, id: string, options?: RequestOptions): Promise<Draft> {
    return this.#connection.request({ method: 'GET', path: path`/mailboxes/${mailbox}/drafts/${id}`, options })
  }

  /** Null clears a field, what is left out stays. With `version`, 409 `draft_version_conflict` when somebody else was quicker. */
  update(mailbox: string, id: string, body: BodyOf<typeof contract.updateDraft>, options?: RequestOptions): Promise<Draft> {
    return this.#connection.request({ method: 'PATCH', path: path`/mailboxes/${mailbox}/drafts/${id}`, body, options })
  }

  /** A scheduled send does not happen then. */
  delete(mailbox: string, id: string, options?: RequestOptions): Promise<ReplyOf<typeof contract.deleteDraft>> {
    return this.#connection.request({ method: 'DELETE', path: path`/mailboxes/${mailbox}/drafts/${id}`, options })
  }

  /**
   * Sends a draft, once: it becomes the message of the answer. Fields of `body` hold for this send only; give the `version` that was
   * reviewed. 403 `approval_required` for an agent's own key when its mail needs approval.
   */
  send(mailbox: string, id: string, body: BodyOf<typeof contract.sendDraft> = {}, options?: RequestOptions): Promise<SentDraft> {
    return this.#connection.request({ method: 'POST', path: path`/mailboxes/${mailbox}/drafts/${id}/send`, body, isKeyed: true, options })
  }
}

/** The files of a draft. Adding and removing make a new version of it. */
class DraftAttachments {
  readonly #drafts: Drafts
  constructor(drafts: Drafts) {
    this.#drafts = drafts
  }

  /** With signed links to their bytes, good for an hour. */
  async list(mailbox: string, id: string, options?: RequestOptions): Promise<DraftAttachment[]> {
    return (await this.#drafts.get(mailbox, id, options)).attachments
  }

  /** Adds files; their `content` is Base64. It is not tried again by itself: repeated, it would add them twice. */
  add(mailbox: string, id: string, files: NewDraftAttachment[], at: AtVersion = {}, options?: RequestOptions): Promise<Draft> {
    return this.#drafts.update(mailbox, id, { ...at, add_attachments: files }, options)
  }

  remove(mailbox: string, id: string, attachmentIds: string[], at: AtVersion = {}, options?: RequestOptions): Promise<Draft> {
    return this.#drafts.update(mailbox, id, { ...at, remove_attachments: attachmentIds }, options)
  }
}
