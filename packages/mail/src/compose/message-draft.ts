// The draft of a message: addresses, texts, thread and attachments, from which `composeMessage` writes bytes.

/** An address and its display name. An empty name is left out of the header. */
export type NamedAddress = { name: string; address: string }

/** An address of a draft. `name` is the display name, empty by default. */
export type DraftAddress = { name?: string; address: string }

/** An attachment. It is inline when the HTML refers to its `contentId` with a `cid:` URL (RFC 2392), and otherwise a separate file. */
export type DraftAttachment = {
  /** Without a name, the part is named `attachment-1`, `attachment-2` and so on, with the extension of its type. */
  filename?: string | null
  /** `application/octet-stream` by default. */
  contentType?: string
  /** With or without angle brackets. */
  contentId?: string | null
  bytes: Buffer
}

/** Content without its header. `fields` are folded Content fields without line ends, one per name. A signature may cover the bytes of `body`. */
export type FinishedContent = { fields: string[]; body: Buffer }

/** A message to compose. Only `from`, `to`, `messageId` and `date` are required. Blind copies exist in the envelope only. */
export type MessageDraft = {
  from: DraftAddress
  to: DraftAddress[]
  cc?: DraftAddress[]
  replyTo?: DraftAddress[]
  subject?: string
  /** The plain text. */
  text?: string
  /** The HTML. With both, the message is `multipart/alternative`. */
  html?: string
  /** With or without angle brackets. Unique per message, for example a UUID and the domain of the sender. */
  messageId: string
  /** The message id that a reply answers. */
  inReplyTo?: string | null
  /** Message ids of the thread, oldest first. The first id and the last 50 are sent. */
  references?: string[]
  date: Date
  /** Further header fields, checked by `checkCustomHeaders`. */
  headers?: Record<string, string>
  /** The value of Auto-Submitted (RFC 3834 §5), for example `auto-replied`. Null for a message that a person or an agent wrote. */
  autoSubmitted?: string | null
  attachments?: DraftAttachment[]
  /** Content that a program has composed, in place of texts and attachments. Its lines may be longer and have 8 bits. */
  content?: FinishedContent | null
  /** Source of the MIME boundaries. The same seed gives the same boundaries. The message id by default. */
  boundarySeed?: string
}
