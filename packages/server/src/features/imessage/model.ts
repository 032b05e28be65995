// iMessage rows, router commands, permitted file types, and the views that the API returns.
import type { ImessageConversation, ImessageItem, ImessageMedia, ImessageSent } from '@callsign/contract/imessage'
import type { Static } from 'typebox'
import type { ProviderName } from './provider.ts'

/** Job kinds: sending the pieces of a chat, and fetching the files of a message. */
export const chatJob = 'imessage-chat'
export const mediaJob = 'imessage-media'

export type ChatRow = {
  id: string
  provider: ProviderName
  line: string
  participant: string
  chat_ref: string | null
  is_sending: boolean
  helped_at: Date | null
}

export type ArchivedReason = 'disconnected_by_user' | 'disconnected_by_agent' | 'replaced'

export type ConversationRow = {
  id: string
  organization_id: string
  identity_id: string
  agent_handle: string
  chat_id: string
  provider: string
  line: string
  participant: string
  status: 'active' | 'archived'
  archived_at: Date | null
  archived_reason: ArchivedReason | null
  last_message_at: Date | null
  created_at: Date
  updated_at: Date
}

export type MessageRow = {
  id: string
  organization_id: string
  conversation_id: string
  direction: 'inbound' | 'outbound'
  status: 'received' | 'queued' | 'sent' | 'failed'
  sender: string
  text: string
  sent_at: Date | null
  error_code: string | null
  error_detail: string | null
  created_at: Date
}

export type MediaRow = {
  id: string
  organization_id: string
  message_id: string
  position: number
  state: 'pending' | 'stored' | 'unavailable'
  filename: string
  content_type: string
  size_bytes: number
  provider_ref: string | null
  blob_key: string | null
  bytes: Buffer | null
}

export type MediaMetadata = Omit<MediaRow, 'bytes' | 'blob_key'>

export type SendState = 'waiting' | 'sending' | 'sent' | 'failed'

export type SendRow = {
  id: string
  chat_id: string
  organization_id: string | null
  message_id: string | null
  part: number
  text: string | null
  media_id: string | null
  state: SendState
  attempts: number
  first_tried_at: Date | null
  last_tried_at: Date | null
  provider_message_id: string | null
}

/** Path of a provider's callbacks. The token is secret. */
export const callbackPath = (provider: string, routeToken: string): string => `/hooks/imessage/${provider}/${routeToken}`

/** A command that a person texts to the router. */
export type Command = { kind: 'connect'; handle: string } | { kind: 'disconnect' }

/** Reads `connect @handle`, `disconnect` or `stop`, with the spaces, capitals and punctuation that phone keyboards add. Null for anything else. */
export function readCommand(text: string): Command | null {
  const words = text
    .trim()
    .replace(/[\s\u00a0]+/g, ' ')
    .replace(/[.!]$/, '')
    .trim()
  const connect = /^connect @?([A-Za-z0-9_]{2,32})$/i.exec(words)
  if (connect) return { kind: 'connect', handle: (connect[1] as string).toLowerCase() }
  return /^(disconnect|stop)$/i.test(words) ? { kind: 'disconnect' } : null
}

const e164Pattern = /^\+[1-9][0-9]{6,14}$/

export const isE164 = (text: string): boolean => e164Pattern.test(text)

/** Normalizes a number to E.164 or an address to lower case. Null when it is neither. */
export function normalizeParticipant(text: string): string | null {
  const trimmed = text.trim()
  if (/^\+?[0-9 ().-]+$/.test(trimmed)) {
    const number = `+${trimmed.replace(/[^0-9]/g, '')}`
    return isE164(number) ? number : null
  }
  return /^[^\s@\0]+@[^\s@\0]+$/.test(trimmed) && trimmed.length <= 320 && trimmed.isWellFormed() ? trimmed.toLowerCase() : null
}

const textCharactersMax = 100_000

/** Removes characters that PostgreSQL cannot store. */
export const cleanText = (text: string): string => text.slice(0, textCharactersMax).toWellFormed().replaceAll('\0', '')

export const connectPrompt = (handle: string): string => `connect @${handle}`

export const helpIntervalMs = 3_600_000

export const routerTexts = {
  connected: (handle: string, name: string): string =>
    `You are connected to ${name && name !== handle ? `${name} (@${handle})` : `@${handle}`}. Text disconnect to end it.`,
  connectedAlready: (handle: string): string => `You are connected to @${handle} already. Text disconnect to end it.`,
  help: 'No agent is connected to this chat. Text connect @ and the name of an agent, such as: connect @sales',
  unknownAgent: (handle: string): string => `@${handle} is not an agent here. Text connect @ and the name of an agent.`,
}

/** Detects PNG, JPEG, GIF and PDF, which phones show inline, by their first bytes. Null for anything else. */
export function sniffMedia(bytes: Buffer): { contentType: string; extension: string } | null {
  const starts = (...magic: number[]) => bytes.length > magic.length && magic.every((byte, i) => bytes[i] === byte)
  if (starts(0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a)) return { contentType: 'image/png', extension: 'png' }
  if (starts(0xff, 0xd8, 0xff)) return { contentType: 'image/jpeg', extension: 'jpg' }
  if (starts(0x47, 0x49, 0x46, 0x38, 0x37, 0x61) || starts(0x47, 0x49, 0x46, 0x38, 0x39, 0x61))
    return { contentType: 'image/gif', extension: 'gif' }
  if (starts(0x25, 0x50, 0x44, 0x46, 0x2d)) return { contentType: 'application/pdf', extension: 'pdf' }
  return null
}

const typePattern = /^[a-z0-9!#$&^_.+-]{1,127}\/[a-z0-9!#$&^_.+-]{1,127}$/

/** Makes an external content type safe for a header. */
export function cleanType(text: string): string {
  const type = (text.split(';', 1)[0] as string).trim().toLowerCase()
  return typePattern.test(type) ? type : 'application/octet-stream'
}

/** Removes path separators and control characters from an external file name. */
export function cleanFilename(text: string, fallback: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: removes control characters
  const name = text.toWellFormed().replace(/[\u0000-\u001f\u007f/\\]/g, '_')
  return name === '' ? fallback : name.slice(0, 255)
}

export type SentView = Static<typeof ImessageSent>

export const toSent = (row: MessageRow): SentView => ({
  id: row.id,
  conversation_id: row.conversation_id,
  direction: 'outbound',
  status: row.status as SentView['status'],
  text: row.text,
  sent_at: (row.sent_at ?? row.created_at).toISOString(),
})

export function toMedia(row: MediaMetadata, linkTo: (id: string) => string): Static<typeof ImessageMedia> {
  const { id, filename, content_type, size_bytes, state } = row
  return { id, filename, content_type, size_bytes, status: state, url: state === 'stored' ? linkTo(id) : null }
}

export function toItem(row: MessageRow, media: MediaMetadata[], linkTo: (id: string) => string): Static<typeof ImessageItem> {
  const shown = media.map((one) => toMedia(one, linkTo))
  return {
    id: row.id,
    conversation_id: row.conversation_id,
    direction: row.direction,
    status: row.status,
    sender: row.sender,
    text: row.text,
    media_url: shown.find((one) => one.url !== null)?.url ?? null,
    media: shown,
    sent_at: row.sent_at?.toISOString() ?? null,
    error: row.error_code === null ? null : { code: row.error_code, message: row.error_detail ?? '' },
    created_at: row.created_at.toISOString(),
  }
}

export const toConversation = (row: ConversationRow): Static<typeof ImessageConversation> => ({
  id: row.id,
  agent_handle: row.agent_handle,
  agent_identity_id: row.identity_id,
  phone_number: row.line,
  recipient: row.participant,
  provider: row.provider,
  status: row.status,
  archived_at: row.archived_at?.toISOString() ?? null,
  archived_reason: row.archived_reason,
  last_message_at: row.last_message_at?.toISOString() ?? null,
  created_at: row.created_at.toISOString(),
  updated_at: row.updated_at.toISOString(),
})

/** A message in events, with immutable facts only. Files have no links, and the event's type gives the status. */
export const describeMessage = (row: MessageRow, participant: string, media: MediaMetadata[]): Record<string, unknown> => ({
  id: row.id,
  conversation_id: row.conversation_id,
  direction: row.direction,
  sender: row.sender,
  recipient: participant,
  text: row.text,
  media_url: null,
  media: media.map(({ id, filename, content_type }) => ({ id, filename, content_type, url: null })),
  created_at: row.created_at.toISOString(),
})

export const describeConversation = (row: ConversationRow): Record<string, unknown> => ({
  id: row.id,
  conversation_id: row.id,
  phone_number: row.line,
  recipient: row.participant,
  provider: row.provider,
  created_at: row.created_at.toISOString(),
})
