// Drafts of one mailbox have versions, and are sent once, immediately or at a scheduled time. `mailbox` is a full address or an agent handle everywhere.
import type { requestApproval, reviewDraft } from '@callsign/contract/approvals'
import type { getDraftAttachmentText } from '@callsign/contract/attachments'
import type { listAllDrafts, listDrafts } from '@callsign/contract/draft-lists'
import type * as contract from '@callsign/contract/drafts'
import type { BodyOf, QueryOf, ReplyOf } from '@callsign/contract/operation'
import { type Connection, path, type RequestOptions } from './request.ts'

export type Draft = ReplyOf<typeof contract.getDraft>
export type DraftPage = ReplyOf<typeof listDrafts>
export type DraftVersion = ReplyOf<typeof contract.listDraftVersions>['data'][number]
export type DraftReview = ReplyOf<typeof reviewDraft>
export type SentDraft = ReplyOf<typeof contract.sendDraft>
export type DraftAttachment = Draft['attachments'][number]
export type NewDraftAttachment = NonNullable<BodyOf<typeof contract.updateDraft>['add_attachments']>[number]

/** With a version, a change applies to that version only. Otherwise 409 `draft_version_conflict`. */
type AtVersion = { version?: number }

export class Drafts {
  readonly attachments: DraftAttachments
  readonly #connection: Connection
  constructor(connection: Connection) {
    this.#connection = connection
    this.attachments = new DraftAttachments(this)
  }

  /** Returns one page, newest update first. `count` is the total number. */
  list(mailbox: string, query?: QueryOf<typeof listDrafts>, options?: RequestOptions): Promise<DraftPage> {
    return this.#connection.request({ method: 'GET', path: path`/mailboxes/${mailbox}/drafts`, query, options })
  }

  /** Drafts of every mailbox that the key can access, newest first. */
  listAll(query?: QueryOf<typeof listAllDrafts>, options?: RequestOptions): Promise<ReplyOf<typeof listAllDrafts>> {
    return this.#connection.request({ method: 'GET', path: '/drafts', query, options })
  }

  /** A draft of any mailbox that the key can access. */
  getById(id: string, options?: RequestOptions): Promise<Draft> {
    return this.#connection.request({ method: 'GET', path: path`/drafts/${id}`, options })
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

  /** You can set every field later. `in_reply_to` and `forward_of` take recipients and subject from their message. */
  create(mailbox: string, body: BodyOf<typeof contract.createDraft> = {}, options?: RequestOptions): Promise<Draft> {
    return this.#connection.request({ method: 'POST', path: path`/mailboxes/${mailbox}/drafts`, body, isKeyed: true, options })
  }

  get(mailbox: string, id: string, options?: RequestOptions): Promise<Draft> {
    return this.#connection.request({ method: 'GET', path: path`/mailboxes/${mailbox}/drafts/${id}`, options })
  }

  /** null clears a field, and omitted fields stay. With `version`, an outdated version is rejected with 409 `draft_version_conflict`. */
  update(mailbox: string, id: string, body: BodyOf<typeof contract.updateDraft>, options?: RequestOptions): Promise<Draft> {
    return this.#connection.request({ method: 'PATCH', path: path`/mailboxes/${mailbox}/drafts/${id}`, body, options })
  }

  /** Deletes a draft and cancels its scheduled send. */
  delete(mailbox: string, id: string, options?: RequestOptions): Promise<ReplyOf<typeof contract.deleteDraft>> {
    return this.#connection.request({ method: 'DELETE', path: path`/mailboxes/${mailbox}/drafts/${id}`, options })
  }

  /** The message that a draft became when it was sent. Rejects with 404 `not_found` before that. */
  message(mailbox: string, id: string, options?: RequestOptions): Promise<ReplyOf<typeof contract.getDraftMessage>> {
    return this.#connection.request({ method: 'GET', path: path`/mailboxes/${mailbox}/drafts/${id}/message`, options })
  }

  /** Earlier versions, newest first. The server keeps the last 20. */
  versions(mailbox: string, id: string, options?: RequestOptions): Promise<ReplyOf<typeof contract.listDraftVersions>> {
    return this.#connection.request({ method: 'GET', path: path`/mailboxes/${mailbox}/drafts/${id}/versions`, options })
  }

  /** The message that the draft would be sent as, with warnings for the person that approves it. */
  review(mailbox: string, id: string, options?: RequestOptions): Promise<DraftReview> {
    return this.#connection.request({ method: 'GET', path: path`/mailboxes/${mailbox}/drafts/${id}/review`, options })
  }

  /** The text of a file of the draft as Markdown. */
  attachmentText(
    mailbox: string,
    id: string,
    attachmentId: string,
    query?: QueryOf<typeof getDraftAttachmentText>,
    options?: RequestOptions,
  ): Promise<ReplyOf<typeof getDraftAttachmentText>> {
    const where = path`/mailboxes/${mailbox}/drafts/${id}/attachments/${attachmentId}/text`
    return this.#connection.request({ method: 'GET', path: where, query, options })
  }

  /** Makes a draft wait for a person, or renews a request that has expired. From then on, only an organization key sends it. */
  requestApproval(
    mailbox: string,
    id: string,
    body: BodyOf<typeof requestApproval> = {},
    options?: RequestOptions,
  ): Promise<ReplyOf<typeof requestApproval>> {
    return this.#connection.request({ method: 'POST', path: path`/mailboxes/${mailbox}/drafts/${id}/request-approval`, body, options })
  }

  /** Deletes a draft and reports the reason to its agent with `draft.rejected`. Organization keys only. */
  reject(
    mailbox: string,
    id: string,
    body: BodyOf<typeof contract.rejectDraft> = {},
    options?: RequestOptions,
  ): Promise<ReplyOf<typeof contract.rejectDraft>> {
    return this.#connection.request({ method: 'POST', path: path`/mailboxes/${mailbox}/drafts/${id}/reject`, body, options })
  }

  /**
   * Sends a draft once and returns the message. Fields of `body` apply to this send only. Give the `version` that was
   * reviewed. 403 `approval_required` for an agent's own key when its mail needs approval.
   */
  send(mailbox: string, id: string, body: BodyOf<typeof contract.sendDraft> = {}, options?: RequestOptions): Promise<SentDraft> {
    return this.#connection.request({ method: 'POST', path: path`/mailboxes/${mailbox}/drafts/${id}/send`, body, isKeyed: true, options })
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
