// The interface that converts large contents, so that they do not block the event loop for others.
import type { SigningKey } from '@callsign/mail/authentication/dkim/signing'
import type { MessageDraft } from '@callsign/mail/compose/message-draft'
import type { ForwardBodies, ForwardSource } from '@callsign/mail/compose/reply'
import type { PageMessage } from '@callsign/mail/html/message-page'
import type { ReviewedHtml } from '@callsign/mail/html/review'

/** Contents of a mailbox's messages. `owner` is its organization. Organizations take turns. Rejects with 429 at the limits of a thread,
 * and when too much of the owner waits. */
export interface ContentWriter {
  /** The text of HTML. */
  toText(owner: string, html: string): Promise<string>
  /** HTML for people that see its text only. */
  toReview(owner: string, html: string): Promise<ReviewedHtml>
  /** The bodies of a forward. */
  toForward(owner: string, source: ForwardSource): Promise<ForwardBodies>
  /** The page of a shared message. */
  toPage(owner: string, message: PageMessage): Promise<Buffer>
  /** The signed bytes of a message. */
  compose(owner: string, draft: MessageDraft, keys: SigningKey[]): Promise<Buffer>
}
