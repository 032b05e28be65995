// The built-in simulated iMessage provider, without network access. Sent messages are stored in a table, and API calls act as phones that
// write to the line.
import { nowMs } from '../../core/clock.ts'
import type { RawRequest } from '../../core/route.ts'
import { type ImessageProvider, type InboundMessage, MediaGone, type Piece } from '../../features/imessage/provider.ts'
import { listMember, member, readJson, textMember } from './json-members.ts'
import { isSignedBy, signCallback } from './standard-signature.ts'

/** The simulator's stored state, which survives restarts: accepted messages by the key of the piece. */
export type SimulatorMemory = {
  take: (piece: Piece) => Promise<string>
  findTaken: (key: string) => Promise<string | null>
  /** The bytes of a file sent by a simulated phone, or null when they were deleted. */
  readFile: (ref: string) => Promise<Buffer | null>
}

/** The fault for the next send of this organization, or null. */
export type NextFault = (organizationId: string | null) => Promise<'error' | 'timeout' | 'lost_answer' | null>

export type SimulatorOptions = { line: string; secret: Buffer; memory: SimulatorMemory; nextFault: NextFault }

export type SimulatorImessage = ImessageProvider & {
  /** The callback for a phone's message, signed with the simulator's own key. */
  callbackOf: (message: Omit<InboundMessage, 'line' | 'chatRef'>) => RawRequest
}

export function createSimulatorImessage({ line, secret, memory, nextFault }: SimulatorOptions): SimulatorImessage {
  return {
    name: 'simulator',
    sendsFilesApart: false,
    lines: async () => [line],

    async send(piece) {
      const fault = await nextFault(piece.organizationId)
      if (fault === 'error') return { kind: 'retry', detail: 'a simulated error', retryAfterMs: null }
      if (fault === 'timeout') return { kind: 'unknown', detail: 'a simulated timeout' }
      const providerMessageId = await memory.take(piece)
      if (fault === 'lost_answer') return { kind: 'unknown', detail: 'a simulated answer that was lost' }
      return { kind: 'accepted', providerMessageId, chatRef: null }
    },

    async find(piece) {
      const providerMessageId = await memory.findTaken(piece.key)
      return providerMessageId === null ? { kind: 'repeatable' } : { kind: 'found', providerMessageId, failure: null }
    },

    verify: (request, atMs) => isSignedBy(secret, request, atMs),

    parse(request) {
      const said = readJson(request.body)
      const [id, sender, sentAt] = [textMember(said, 'id'), textMember(said, 'from'), textMember(said, 'sent_at')]
      if (id === null || sender === null || sentAt === null) return []
      const media = listMember(said, 'media').flatMap((one) => {
        const ref = textMember(one, 'ref')
        return ref === null
          ? []
          : [{ ref, filename: textMember(one, 'filename') ?? '', contentType: textMember(one, 'content_type') ?? '' }]
      })
      const text = String(member(said, 'text') ?? '')
      return [
        { kind: 'message', message: { providerMessageId: id, line: null, sender, chatRef: null, text, media, sentAt: new Date(sentAt) } },
      ]
    },

    callbackOf(message) {
      const body = Buffer.from(
        JSON.stringify({
          id: message.providerMessageId,
          from: message.sender,
          text: message.text,
          sent_at: message.sentAt.toISOString(),
          media: message.media.map(({ ref, filename, contentType }) => ({ ref, filename, content_type: contentType })),
        }),
      )
      const headers = signCallback(secret, message.providerMessageId, Math.floor(nowMs() / 1000), body)
      return { target: '/hooks/imessage/simulator', headers: { 'content-type': 'application/json', ...headers }, body }
    },

    backfill: null,
    prepare: async () => {},

    async fetchMedia({ ref, contentType }) {
      const bytes = await memory.readFile(ref)
      if (!bytes) throw new MediaGone('the simulated phone has the file no more')
      return { bytes, contentType }
    },

    close: async () => {},
  }
}
