// Interface of providers of iMessage: lines, sending with a later lookup, callbacks, and a list of missed messages.
import type { RawRequest } from '../../core/route.ts'

export type ProviderName = 'simulator' | 'bluebubbles' | 'linq'

/** A file at the provider. `ref` is the provider's own word for it, whatever it is. */
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

/** Something that a callback or a look at the provider's list tells. */
export type ProviderEvent =
  | { kind: 'message'; message: InboundMessage }
  /** One that was taken before has failed since. */
  | { kind: 'failed'; providerMessageId: string; code: string; detail: string }
  /** Something has happened: it is worth asking now. */
  | { kind: 'hint' }

/** One message of the provider. `key` is the same however often it is handed over; a file's name is unlike any other's. */
export type Piece = {
  key: string
  /** The organization of the sending agent; null for the router's help. */
  organizationId: string | null
  line: string
  recipient: string
  chatRef: string | null
  text: string | null
  media: { id: string; filename: string; contentType: string; bytes: Buffer } | null
}

export type SendOutcome =
  | { kind: 'accepted'; providerMessageId: string; chatRef: string | null }
  /** It was not taken and would not be another time. */
  | { kind: 'refused'; code: string; detail: string }
  /** It was not taken; later it may be. */
  | { kind: 'retry'; detail: string; retryAfterMs: number | null }
  /** It may have been taken. */
  | { kind: 'unknown'; detail: string }

/** The facts about a piece that was sent without a clear answer. Times are of this installation's clock. */
export type Tried = {
  firstAt: Date
  lastAt: Date
  /** The provider's ids of everything else that was sent in the chat: they are not this one. */
  otherIds: ReadonlySet<string>
}

export type Finding =
  | { kind: 'found'; providerMessageId: string; failure: { code: string; detail: string } | null }
  /** It was not taken and cannot be any more, or handing it over again under its key does nothing twice: either way it may be. */
  | { kind: 'repeatable' }
  /** It cannot be told yet. */
  | { kind: 'unknown'; detail: string }

/** The provider does not have the file, and will not. */
export class MediaGone extends Error {
  override name = 'MediaGone'
}

export interface ImessageProvider {
  readonly name: ProviderName
  /** True when text and file are two messages there. */
  readonly sendsFilesApart: boolean
  /** The numbers of our lines, E.164, the first for whoever is new. Rejects when the provider cannot list them. */
  lines(): Promise<string[]>
  /** One attempt. Never rejects for reasons of the outside world. */
  send(piece: Piece): Promise<SendOutcome>
  /** Looks up a piece whose outcome is unknown. Never rejects for reasons of the outside world. */
  find(piece: Piece, tried: Tried): Promise<Finding>
  /** True when the callback is the provider's. Its route token has been checked; nothing has been parsed. */
  verify(request: RawRequest, nowMs: number): boolean
  /** The events in a verified callback; none when it is about something else or cannot be read. */
  parse(request: RawRequest): ProviderEvent[]
  /** Asking for what came in, where the provider can be asked; null where it cannot. */
  readonly backfill: {
    /** Default poll interval. */
    everyMs: number
    /**
     * What came since, oldest first, a little before that included. `upTo` is the time of the newest, by the provider's clock, or `since` when there
     * was nothing. `isWide` looks back a day for what reached the provider late. Rejects when the provider cannot be asked.
     */
    read(since: Date, isWide: boolean): Promise<{ events: ProviderEvent[]; upTo: Date }>
  } | null
  /** Has callbacks sent to this address, where the provider can be told; idempotent. */
  prepare(callbackUrl: string): Promise<void>
  /** The bytes of a file. Rejects with MediaGone when there are none for good, with any other error when it is worth another try. */
  fetchMedia(media: MediaRef, bytesMax: number): Promise<{ bytes: Buffer; contentType: string }>
  close(): Promise<void>
}
