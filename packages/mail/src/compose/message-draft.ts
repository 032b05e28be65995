// What a message is composed from.

/** An address with the name shown beside it; empty for none. */
export type NamedAddress = { name: string; address: string }

/** One attachment. With a `contentId` that the html refers to (`cid:`), it becomes part of the html; otherwise it stands beside it. */
export type DraftAttachment = { filename: string | null; contentType: string; contentId: string | null; bytes: Buffer }

/** Everything that a message is made of. Blind copies are no part of it: they exist in the envelope only. */
export type MessageDraft = {
  from: NamedAddress
  to: NamedAddress[]
  cc: NamedAddress[]
  replyTo: NamedAddress[]
  subject: string
  /** Empty for none; so is html. */
  text: string
  html: string
  /** With or without angle brackets. */
  messageId: string
  inReplyTo: string | null
  /** Oldest first. */
  references: string[]
  date: Date
  /** Checked by checkCustomHeaders. */
  headers: Record<string, string>
  /** The value of Auto-Submitted (RFC 3834 §5); null for a message that somebody wrote. */
  autoSubmitted: string | null
  attachments: DraftAttachment[]
  /** What the MIME boundaries are made from; the message's id, for instance. */
  boundarySeed: string
}
