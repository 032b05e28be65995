// The interface that converts large contents, so that they do not block the event loop for others.
import type { SigningKey } from '@callsign/mail/authentication/dkim/signing'
import type { MessageDraft } from '@callsign/mail/compose/message-draft'
import type { PageMessage } from '@callsign/mail/html/message-page'

/** Contents of a mailbox's messages. `owner` is its organization. Organizations take turns. Rejects at the limits of a thread. */
export interface ContentWriter {
  /** The text of HTML. */
  toText(owner: string, html: string): Promise<string>
  /** The page of a shared message. */
  toPage(owner: string, message: PageMessage): Promise<Buffer>
  /** The signed bytes of a message. */
  compose(owner: string, draft: MessageDraft, keys: SigningKey[]): Promise<Buffer>
}
