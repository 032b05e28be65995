// The endpoints of stored messages and threads.
import { getAttachmentText } from '@callsign/contract/attachments'
import * as batches from '@callsign/contract/batches'
import * as sharing from '@callsign/contract/message-sharing'
import * as contract from '@callsign/contract/messages'
import * as threads from '@callsign/contract/threads'
import { type Route, route } from '../../../core/route.ts'
import type { Attachments } from '../attachments/operations.ts'
import type { Messages } from './operations.ts'

export const messageRoutes = (messages: Messages, attachments: Attachments): Route[] => [
  route(contract.listMail, 'agent', (call, { query }) => messages.listMail(call.caller, query)),
  route(batches.updateMessages, 'agent', (call, { body }) => messages.updateMessages(call, body)),
  route(batches.getMessages, 'agent', (call, { body }) => messages.getMessages(call.caller, body)),
  route(contract.listMessages, 'agent', (call, { params, query }) => messages.listMessages(call.caller, params.email_address, query)),
  route(contract.waitForMessage, 'agent', (call, { params, query }) => messages.waitForMessage(call.caller, params.email_address, query)),
  route(contract.getMessage, 'agent', (call, { params }) => messages.getMessage(call.caller, params.email_address, params.message_id)),
  route(contract.updateMessage, 'agent', (call, { params, body }) =>
    messages.updateMessage(call, params.email_address, params.message_id, body),
  ),
  route(contract.deleteMessage, 'agent', (call, { params }) => messages.deleteMessage(call, params.email_address, params.message_id)),
  route(contract.releaseMessage, 'agent', (call, { params }) => messages.releaseMessage(call, params.email_address, params.message_id)),
  route(sharing.shareMessage, 'agent', (call, { params, body }) =>
    messages.shareMessage(call, params.email_address, params.message_id, body),
  ),
  route(sharing.listMessageShares, 'agent', (call, { params, query }) =>
    messages.listMessageShares(call.caller, params.email_address, params.message_id, query),
  ),
  route(sharing.unshareMessage, 'agent', (call, { params }) =>
    messages.unshareMessage(call, params.email_address, params.message_id, params.link_id),
  ),
  route(contract.getRawMessage, 'agent', (call, { params }) =>
    messages.getRawMessage(call.caller, params.email_address, params.message_id),
  ),
  route(getAttachmentText, 'agent', async (call, { params, query }) => {
    const message = await messages.requireMessage(call.caller, params.email_address, params.message_id)
    return attachments.readText(message, params.attachment_id, query)
  }),
  route(contract.trashMessage, 'agent', (call, { params }) => messages.trashMessage(call, params.email_address, params.message_id)),
  route(contract.restoreMessage, 'agent', (call, { params }) => messages.restoreMessage(call, params.email_address, params.message_id)),
  route(threads.listThreads, 'agent', (call, { params, query }) => messages.listThreads(call.caller, params.email_address, query)),
  route(threads.getThread, 'agent', (call, { params, query }) =>
    messages.getThread(call.caller, params.email_address, params.thread_id, query.view),
  ),
  route(threads.listAllThreads, 'agent', (call, { query }) => messages.listAllThreads(call.caller, query)),
  route(threads.getThreadById, 'agent', (call, { params, query }) => messages.getThreadById(call.caller, params.thread_id, query.view)),
  route(threads.updateThread, 'agent', (call, { params, body }) => messages.updateThread(call, params.thread_id, body)),
  route(threads.deleteThread, 'agent', (call, { params, query }) => messages.deleteThread(call, params.thread_id, query)),
  route(threads.restoreThread, 'agent', (call, { params }) => messages.restoreThread(call, params.thread_id)),
  route(contract.searchMessages, 'agent', (call, { params, query }) => messages.search(call.caller, params.email_address, query)),
]
