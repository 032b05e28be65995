// Interface of providers of iMessage: lines, sending with a later lookup, callbacks, and a list of missed messages.
import type { RawRequest } from '../../core/route.ts'

export type ProviderName = 'simulator' | 'bluebubbles' | 'linq'

/** A file at the provider. `ref` is the provider's own identifier. */
export type MediaRef = { ref: string; filename: string; contentType: string }

/** A message from a person to a line. `sender` is in the provider's form. `line` is null when the provider has one line only. */
export type InboundMessage = {
  providerMessageId: string
  line: string | null
  sender: string
  chatRef: string | null
  text: string
  media: MediaRef[]
  sentAt: Date
}

/** An event from a callback or a poll. */
export type ProviderEvent =
  | { kind: 'message'; message: InboundMessage }
  /** A previously accepted message has failed. */
  | { kind: 'failed'; providerMessageId: string; code: string; detail: string }
  /** Something has changed. Poll now. */
  | { kind: 'hint' }

/** One message at the provider. `key` is the idempotency key of all attempts. The file name is unique. */
export type Piece = {
  key: string
  /** The organization of the sending agent. Null for texts of the router. */
  organizationId: string | null
  line: string
  recipient: string
  chatRef: string | null
  text: string | null
  media: { id: string; filename: string; contentType: string; bytes: Buffer } | null
}

export type SendOutcome =
  | { kind: 'accepted'; providerMessageId: string; chatRef: string | null }
  /** Rejected permanently. */
  | { kind: 'refused'; code: string; detail: string }
  /** Rejected for now. */
  | { kind: 'retry'; detail: string; retryAfterMs: number | null }
  /** It may have been accepted. */
  | { kind: 'unknown'; detail: string }

/** The attempts at a piece with an unknown outcome. Times are from this installation's clock. */
export type Tried = {
  firstAt: Date
  lastAt: Date
  /** The provider's ids of the other messages sent in the chat, to exclude. */
  otherIds: ReadonlySet<string>
}

export type Finding =
  | { kind: 'found'; providerMessageId: string; failure: { code: string; detail: string } | null }
  /** Safe to send again: the provider rejected it, or deduplicates by its key. */
  | { kind: 'repeatable' }
  /** Not known yet. */
  | { kind: 'unknown'; detail: string }

/** The file no longer exists at the provider. */
export class MediaGone extends Error {
  override name = 'MediaGone'
}

export interface ImessageProvider {
  readonly name: ProviderName
  /** True when the provider sends text and file as two messages. */
  readonly sendsFilesApart: boolean
  /** Our numbers in E.164, the first one for new contacts. Rejects when the provider cannot list them. */
  lines(): Promise<string[]>
  /** Makes one attempt. External failures are outcomes, not rejections. */
  send(piece: Piece): Promise<SendOutcome>
  /** Looks up a piece with an unknown outcome. External failures are findings, not rejections. */
  find(piece: Piece, tried: Tried): Promise<Finding>
  /** Verifies the signature of a callback. Its route token is checked already, and its body is not parsed yet. */
  verify(request: RawRequest, nowMs: number): boolean
  /** The events in a verified callback. Empty when it is malformed or irrelevant. */
  parse(request: RawRequest): ProviderEvent[]
  /** Polling for received messages. Null when the provider only makes callbacks. */
  readonly backfill: {
    /** Default poll interval. */
    everyMs: number
    /**
     * The events since a time, oldest first, with a small overlap. `upTo` is the provider's time of the newest, or `since` when there are none.
     * `isWide` reads back a day for messages that reached the provider late. Rejects when the provider is unavailable.
     */
    read(since: Date, isWide: boolean): Promise<{ events: ProviderEvent[]; upTo: Date }>
  } | null
  /** Registers the callback address, where the provider has an API for it. Idempotent. */
  prepare(callbackUrl: string): Promise<void>
  /** The bytes of a file. Rejects with `MediaGone` when retrying is useless, and with another error otherwise. */
  fetchMedia(media: MediaRef, bytesMax: number): Promise<{ bytes: Buffer; contentType: string }>
  close(): Promise<void>
}
