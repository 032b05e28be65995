// The reference of iMessage.
import type { OperationDetails } from '../operation-details.ts'
import { sampleId } from '../samples.ts'

const conversation = sampleId('conversation')

export const imessageDetails: Record<string, OperationDetails> = {
  getImessageRouter: {
    description:
      'Returns the means to start a conversation with an agent: the number of the line, the text to send to it, links that open Messages, and a QR code. A person chooses the agent, so an agent cannot write to a person without a connection.',
    query: { agent: 'sales' },
    sdk: 'const router = await callsign.imessage.router($query)',
    cli: 'callsign imessage router sales',
  },
  sendImessage: {
    description:
      'Sends a message into a conversation, or with `to` and `identity_id` to the number of a connected person. It returns with status `queued`. `imessage.sent` or `imessage.failed` reports the result. `media_url` is fetched once. `403 recipient_not_connected` means that the person has not connected to the agent, and `409 conversation_archived` that the conversation has ended.',
    body: { conversation_id: conversation, text: 'Your order ships today.' },
    sdk: 'const { id } = await callsign.imessage.send($body)',
    cli: `callsign imessage send "Your order ships today." --conversation ${conversation}`,
  },
  listImessages: {
    description: 'Returns messages of one conversation or of all that the key can access, oldest first, or newest first with `order=desc`.',
    query: { conversation_id: conversation, limit: 20 },
    sdk: 'const { messages } = await callsign.imessage.history($query)',
    cli: `callsign imessage history ${conversation}`,
  },
  listImessageConversations: {
    description: 'Returns conversations, newest first. A conversation is `archived` when the person or the agent has ended it.',
    query: { agent: 'sales', status: 'active', limit: 20 },
    sdk: 'const page = await callsign.imessage.conversations($query)',
    cli: 'callsign imessage conversations --agent sales',
  },
  getImessageConversation: {
    description: 'Returns one conversation. `recipient` is the number or the Apple ID of the person.',
    sdk: 'const conversation = await callsign.imessage.conversation($conversation_id)',
  },
  disconnectImessageConversation: {
    description: 'Ends a conversation. Messages that are still queued fail. The person can connect again, which starts a new conversation.',
    reply: { status: 'archived', archived_reason: 'disconnected_by_agent', archived_at: '2026-03-02T10:05:00.000Z' },
    sdk: 'await callsign.imessage.disconnect($conversation_id)',
    cli: `callsign imessage disconnect ${conversation}`,
  },
  receiveImessageCallback: {
    description:
      'Receives callbacks of the iMessage provider. They are verified before they are parsed, and a repeated one is stored once. It is not for your own programs.',
    params: { provider: 'linq', route_token: 'p7kq2x9c7hfm4t8e5v3n6w1r' },
  },
}
