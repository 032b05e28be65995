// The endpoints that send.
import { sendBatch } from '@callsign/contract/batches'
import * as contract from '@callsign/contract/outbound-mail'
import { type Route, route } from '../../../core/route.ts'
import type { OutboundMail } from './operations.ts'

export const outboundMailRoutes = (outboundMail: OutboundMail): Route[] => [
  route(contract.sendMail, 'agent', (call, { body }) => outboundMail.sendMail(call, body)),
  route(sendBatch, 'agent', (call, { body }) => outboundMail.sendBatch(call, body)),
  route(contract.sendMessage, 'agent', (call, { params, body }) => outboundMail.sendMessage(call, params.email_address, body)),
  route(contract.replyToMessage, 'agent', (call, { params, body }) =>
    outboundMail.replyToMessage(call, params.email_address, params.message_id, body),
  ),
  route(contract.forwardMessage, 'agent', (call, { params, body }) =>
    outboundMail.forwardMessage(call, params.email_address, params.message_id, body),
  ),
]
