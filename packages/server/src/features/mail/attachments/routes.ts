// The endpoint of attachments: the signed download.
import * as contract from '@callsign/contract/attachments'
import { type Route, route } from '../../../core/route.ts'
import type { Attachments } from './operations.ts'

export const attachmentRoutes = (attachments: Attachments): Route[] => [
  route(contract.downloadAttachment, 'agent', (_call, { params, query }) => attachments.download(params.attachment_id, query)),
]
