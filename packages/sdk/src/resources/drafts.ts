// Drafts and their approvals, templates, and labels. `mailbox` is a full address or an agent handle.
// Printed from the contract by npm run docs. Do not edit.
import type * as approvals from '@callsign/contract/approvals'
import type * as attachments from '@callsign/contract/attachments'
import type * as draftLists from '@callsign/contract/draft-lists'
import type * as drafts from '@callsign/contract/drafts'
import type * as labels from '@callsign/contract/labels'
import type { BodyOf, QueryOf, ReplyOf } from '@callsign/contract/operation'
import type * as templates from '@callsign/contract/templates'
import { type Connection, path, type RequestOptions } from '../connection/request.ts'

export type Draft = ReplyOf<typeof drafts.getDraft>
export type DraftPage = ReplyOf<typeof draftLists.listDrafts>
export type DraftVersion = ReplyOf<typeof drafts.listDraftVersions>['data'][number]
export type DraftReview = ReplyOf<typeof approvals.reviewDraft>
export type SentDraft = ReplyOf<typeof drafts.sendDraft>
export type DraftAttachment = ReplyOf<typeof drafts.getDraft>['attachments'][number]
export type NewDraftAttachment = NonNullable<BodyOf<typeof drafts.updateDraft>['add_attachments']>[number]
export type ApprovalPage = ReplyOf<typeof approvals.listApprovals>
export type Approval = ReplyOf<typeof approvals.listApprovals>['data'][number]
export type ApprovalLink = ReplyOf<typeof approvals.createApprovalLink>
export type Template = ReplyOf<typeof templates.getTemplate>
export type TemplatePage = ReplyOf<typeof templates.listTemplates>
export type RenderedTemplate = ReplyOf<typeof templates.renderTemplate>
export type MailboxLabel = ReplyOf<typeof labels.createLabel>
export type MailboxLabelPage = ReplyOf<typeof labels.listLabels>

export class DraftCalls {
  readonly #connection: Connection
  constructor(connection: Connection) {
    this.#connection = connection
  }

  /**
   * Returns the text of an attachment of a draft, so that a reviewer can read it without a viewer. It is the same as for an attachment of a
   * message.
   */
  attachmentText(
    mailbox: string,
    id: string,
    attachmentId: string,
    query?: QueryOf<typeof attachments.getDraftAttachmentText>,
    options?: RequestOptions,
  ): Promise<ReplyOf<typeof attachments.getDraftAttachmentText>> {
    return this.#connection.request({
      method: 'GET',
      path: path`/mailboxes/${mailbox}/drafts/${id}/attachments/${attachmentId}/text`,
      query,
      options,
    })
  }

  /**
   * Creates a draft. Every field is optional until the draft is sent. With `in_reply_to` or `forward_of`, recipients and subject come from
   * that message. With `send_at`, the draft is sent at that time.
   */
  create(mailbox: string, body: BodyOf<typeof drafts.createDraft> = {}, options?: RequestOptions): Promise<Draft> {
    return this.#connection.request({ method: 'POST', path: path`/mailboxes/${mailbox}/drafts`, body, isKeyed: true, options })
  }

  /** Deletes a draft with its attachments, and cancels its scheduled time. A draft that is being sent cannot be deleted. */
  delete(mailbox: string, id: string, options?: RequestOptions): Promise<ReplyOf<typeof drafts.deleteDraft>> {
    return this.#connection.request({ method: 'DELETE', path: path`/mailboxes/${mailbox}/drafts/${id}`, options })
  }

  /** Returns one draft with its version and its attachments. */
  get(mailbox: string, id: string, options?: RequestOptions): Promise<Draft> {
    return this.#connection.request({ method: 'GET', path: path`/mailboxes/${mailbox}/drafts/${id}`, options })
  }

  /** Returns one draft without its mailbox in the path. `mailbox_id` names the mailbox. */
  getById(id: string, options?: RequestOptions): Promise<Draft> {
    return this.#connection.request({ method: 'GET', path: path`/drafts/${id}`, options })
  }

  /** Returns the drafts of one mailbox, the latest change first. `count` is the number of all drafts. */
  list(mailbox: string, query?: QueryOf<typeof draftLists.listDrafts>, options?: RequestOptions): Promise<DraftPage> {
    return this.#connection.request({ method: 'GET', path: path`/mailboxes/${mailbox}/drafts`, query, options })
  }

  /** Returns the drafts of all mailboxes, the newest first, or those of one thread. An agent key sees its own drafts. */
  listAll(query?: QueryOf<typeof draftLists.listAllDrafts>, options?: RequestOptions): Promise<ReplyOf<typeof draftLists.listAllDrafts>> {
    return this.#connection.request({ method: 'GET', path: '/drafts', query, options })
  }

  /** Returns the id of the message that a sent draft became. Before a scheduled draft is sent, the answer is 404 `not_found`. */
  message(mailbox: string, id: string, options?: RequestOptions): Promise<ReplyOf<typeof drafts.getDraftMessage>> {
    return this.#connection.request({ method: 'GET', path: path`/mailboxes/${mailbox}/drafts/${id}/message`, options })
  }

  /**
   * Deletes a draft that waits for approval. The agent receives `draft.rejected` with the reason over webhooks and the event stream. Give
   * the `version` that a person has reviewed.
   */
  reject(
    mailbox: string,
    id: string,
    body: BodyOf<typeof drafts.rejectDraft> = {},
    options?: RequestOptions,
  ): Promise<ReplyOf<typeof drafts.rejectDraft>> {
    return this.#connection.request({ method: 'POST', path: path`/mailboxes/${mailbox}/drafts/${id}/reject`, body, options })
  }

  /**
   * Makes a draft wait for a person and emits `draft.approval_requested`. Where mail of the agent needs approval, every complete version
   * that the agent writes makes this request by itself. Call it to choose `expires_at`, to renew a request that has expired, or to ask for
   * approval of a single message. From then on, only an organization key can send the draft.
   */
  requestApproval(
    mailbox: string,
    id: string,
    body: BodyOf<typeof approvals.requestApproval> = {},
    options?: RequestOptions,
  ): Promise<Draft> {
    return this.#connection.request({ method: 'POST', path: path`/mailboxes/${mailbox}/drafts/${id}/request-approval`, body, options })
  }

  /**
   * Returns the message that sending the draft would send, with all header fields, the quoted message and the files of a forward, and the
   * findings of the outbound guard. The approval page, connected apps and the console show the same. `409 conflict` means that the message
   * to forward was deleted.
   */
  review(mailbox: string, id: string, options?: RequestOptions): Promise<DraftReview> {
    return this.#connection.request({ method: 'GET', path: path`/mailboxes/${mailbox}/drafts/${id}/review`, options })
  }

  /**
   * Sends a draft. However often you repeat the request, the draft is sent once. Give the `version` that a person has reviewed, so that
   * exactly this version is sent. Other fields apply to this send only. If the mail of the agent needs approval, only an organization key
   * can send: the key of the agent gets `403 approval_required`.
   */
  send(mailbox: string, id: string, body: BodyOf<typeof drafts.sendDraft> = {}, options?: RequestOptions): Promise<SentDraft> {
    return this.#connection.request({ method: 'POST', path: path`/mailboxes/${mailbox}/drafts/${id}/send`, body, isKeyed: true, options })
  }

  /**
   * Changes the given fields and increases the version by one. null clears a field. Give the `version` that you read, so that two editors
   * do not overwrite each other: `409 draft_version_conflict` means that the draft has changed since.
   */
  update(mailbox: string, id: string, body: BodyOf<typeof drafts.updateDraft>, options?: RequestOptions): Promise<Draft> {
    return this.#connection.request({ method: 'PATCH', path: path`/mailboxes/${mailbox}/drafts/${id}`, body, options })
  }

  /**
   * Returns the earlier versions of a draft with their text, so that a reviewer sees the changes. `written_by` is `agent` if the agent
   * wrote the version with its own key.
   */
  versions(mailbox: string, id: string, options?: RequestOptions): Promise<ReplyOf<typeof drafts.listDraftVersions>> {
    return this.#connection.request({ method: 'GET', path: path`/mailboxes/${mailbox}/drafts/${id}/versions`, options })
  }
}

export class Approvals {
  readonly #connection: Connection
  constructor(connection: Connection) {
    this.#connection = connection
  }

  /**
   * Returns a link to a page that shows this version of the draft and has buttons to approve and reject it. The link alone is enough to
   * decide. Send it to the approver only. It works once, until `expires_at`. Any change of the draft makes it invalid. Opening it decides
   * nothing, so link scanners are harmless. `409 conflict` means that the draft does not wait for approval.
   */
  createLink(mailbox: string, draftId: string, options?: RequestOptions): Promise<ApprovalLink> {
    return this.#connection.request({ method: 'POST', path: path`/mailboxes/${mailbox}/drafts/${draftId}/approval-link`, options })
  }

  /**
   * Returns the drafts of all mailboxes that wait for approval, the oldest request first, or the newest first with `order=desc`. `reasons`
   * in `approval` says why the server holds a message. An agent key sees its own drafts. A request that has expired is not listed.
   */
  list(query?: QueryOf<typeof approvals.listApprovals>, options?: RequestOptions): Promise<ApprovalPage> {
    return this.#connection.request({ method: 'GET', path: '/approvals', query, options })
  }

  /** Makes the current link of a draft invalid, also the one in `draft.approval_requested`. The draft keeps waiting. */
  revokeLink(mailbox: string, draftId: string, options?: RequestOptions): Promise<ReplyOf<typeof approvals.revokeApprovalLink>> {
    return this.#connection.request({ method: 'DELETE', path: path`/mailboxes/${mailbox}/drafts/${draftId}/approval-link`, options })
  }
}

export class Templates {
  readonly #connection: Connection
  constructor(connection: Connection) {
    this.#connection = connection
  }

  /**
   * Creates a template. In subject, text and html, `{{{NAME}}}` stands for the value of a variable as it is given, and `{{NAME}}` for the
   * value with HTML escaped. Declare a variable in `variables` to give it a type or a fallback. A variable that is not declared is a
   * required string. Organization keys only.
   */
  create(body: BodyOf<typeof templates.createTemplate>, options?: RequestOptions): Promise<Template> {
    return this.#connection.request({ method: 'POST', path: '/templates', body, isKeyed: true, options })
  }

  /** Deletes a template with its published content. Organization keys only. */
  delete(template: string, options?: RequestOptions): Promise<ReplyOf<typeof templates.deleteTemplate>> {
    return this.#connection.request({ method: 'DELETE', path: path`/templates/${template}`, options })
  }

  /** Returns one template with its content. `has_unpublished_changes` is true if the content differs from the published one. */
  get(template: string, options?: RequestOptions): Promise<Template> {
    return this.#connection.request({ method: 'GET', path: path`/templates/${template}`, options })
  }

  /** Returns templates, newest first, without their content. */
  list(query?: QueryOf<typeof templates.listTemplates>, options?: RequestOptions): Promise<TemplatePage> {
    return this.#connection.request({ method: 'GET', path: '/templates', query, options })
  }

  /** Makes the present content the one that is used. Organization keys only. */
  publish(template: string, options?: RequestOptions): Promise<Template> {
    return this.#connection.request({ method: 'POST', path: path`/templates/${template}/publish`, isKeyed: true, options })
  }

  /**
   * Returns the published content with these values. Give the fields to a send, a draft or a batch. A missing or wrong value is a `400
   * validation_error` with its name, and a template that was never published a `409 conflict`.
   */
  render(template: string, body: BodyOf<typeof templates.renderTemplate> = {}, options?: RequestOptions): Promise<RenderedTemplate> {
    return this.#connection.request({ method: 'POST', path: path`/templates/${template}/render`, body, options })
  }

  /** Changes the given fields. Messages use the change after the next publication. Organization keys only. */
  update(template: string, body: BodyOf<typeof templates.updateTemplate>, options?: RequestOptions): Promise<Template> {
    return this.#connection.request({ method: 'PATCH', path: path`/templates/${template}`, body, options })
  }
}

export class Labels {
  readonly #connection: Connection
  constructor(connection: Connection) {
    this.#connection = connection
  }

  /**
   * Defines a label of a mailbox with a color, which the console and clients show. Messages and threads may have labels that are not
   * defined. A mailbox has at most 500 labels.
   */
  create(mailbox: string, body: BodyOf<typeof labels.createLabel>, options?: RequestOptions): Promise<MailboxLabel> {
    return this.#connection.request({ method: 'POST', path: path`/mailboxes/${mailbox}/labels`, body, isKeyed: true, options })
  }

  /** Deletes a label, and removes it from the messages and threads of the mailbox. The messages stay. */
  delete(mailbox: string, id: string, options?: RequestOptions): Promise<ReplyOf<typeof labels.deleteLabel>> {
    return this.#connection.request({ method: 'DELETE', path: path`/mailboxes/${mailbox}/labels/${id}`, options })
  }

  /** Returns one page of the labels of a mailbox, newest first. */
  list(mailbox: string, query?: QueryOf<typeof labels.listLabels>, options?: RequestOptions): Promise<MailboxLabelPage> {
    return this.#connection.request({ method: 'GET', path: path`/mailboxes/${mailbox}/labels`, query, options })
  }

  /**
   * Changes the name or the color of a label. Messages and threads of the mailbox that have the label get its new name in the same
   * transaction.
   */
  update(mailbox: string, id: string, body: BodyOf<typeof labels.updateLabel>, options?: RequestOptions): Promise<MailboxLabel> {
    return this.#connection.request({ method: 'PATCH', path: path`/mailboxes/${mailbox}/labels/${id}`, body, options })
  }
}
