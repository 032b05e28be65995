// Reads messages and file references in the formats of Linq's lists and callbacks.
import { nowMs } from '../../core/clock.ts'
import { normalizeParticipant } from '../../features/imessage/model.ts'
import type { InboundMessage, MediaRef, ProviderEvent } from '../../features/imessage/provider.ts'
import { member, readJson, textMember } from './json-members.ts'

export const timeOf = (item: unknown, field = 'created_at'): number => {
  const at = Date.parse(textMember(item, field) ?? '')
  return Number.isNaN(at) ? 0 : at
}

export function partsOf(parts: unknown): { text: string; media: MediaRef[] } {
  const texts: string[] = []
  const media: MediaRef[] = []
  for (const part of Array.isArray(parts) ? parts : []) {
    const type = textMember(part, 'type')
    if (type === 'text' || type === 'link') texts.push(textMember(part, 'value') ?? '')
    const id = textMember(part, 'id')
    if (type === 'media' && id !== null) {
      const ref = JSON.stringify({ id, url: textMember(part, 'url') })
      media.push({ ref, filename: textMember(part, 'filename') ?? '', contentType: textMember(part, 'mime_type') ?? '' })
    }
  }
  return { text: texts.join('\n'), media }
}

export function readRef(ref: string): { id: string; url: string | null } {
  const said = readJson(Buffer.from(ref))
  return { id: textMember(said, 'id') ?? ref, url: textMember(said, 'url') }
}

export const failureOf = (one: unknown): { code: string; detail: string } | null =>
  textMember(one, 'delivery_status') === 'failed' ? { code: 'not_delivered', detail: 'Linq says that the message failed.' } : null

/** Reads a message in the format of lists. */
export function listed(one: unknown, chatRef: string, line: string): ProviderEvent | null {
  const id = textMember(one, 'id')
  if (id === null) return null
  if (member(one, 'is_from_me') === true) {
    const failure = failureOf(one)
    return failure && { kind: 'failed', providerMessageId: id, ...failure }
  }
  const sender = textMember(one, 'from_handle', 'handle') ?? textMember(one, 'from')
  if (sender === null) return null
  const sentAt = new Date(timeOf(one, 'sent_at') || timeOf(one))
  return { kind: 'message', message: { providerMessageId: id, line, sender, chatRef, ...partsOf(member(one, 'parts')), sentAt } }
}

/** Reads a message in the format of callbacks of version 2026-02-03. */
export function readMessage(data: unknown): InboundMessage | null {
  const [id, sender] = [textMember(data, 'id'), textMember(data, 'sender_handle', 'handle')]
  if (id === null || sender === null || member(data, 'direction') !== 'inbound' || member(data, 'chat', 'is_group') === true) return null
  const owner = textMember(data, 'chat', 'owner_handle', 'handle')
  return {
    providerMessageId: id,
    line: owner === null ? null : normalizeParticipant(owner),
    sender,
    chatRef: textMember(data, 'chat', 'id'),
    ...partsOf(member(data, 'parts')),
    sentAt: new Date(timeOf(data, 'sent_at') || nowMs()),
  }
}
