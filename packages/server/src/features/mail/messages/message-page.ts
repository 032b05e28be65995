// A page with one message, behind a signed link. A stranger may have written every value.
import { isId } from '@callsign/contract/ids'
import type { PageMessage } from '@callsign/mail/html/message-page'
import { now } from '../../../core/clock.ts'
import type { Attachments } from '../attachments/operations.ts'
import type { MessageRow } from './model.ts'
import type { ContentWriter } from './provider.ts'

/** The id of the page of a message in its link. The id of the message itself leads to the raw message. */
const pageIdOf = (id: string): string => id.replace(/^msg_/, 'page_')
const messageIdOf = (id: string): string | null => {
  const messageId = id.replace(/^page_/, 'msg_')
  return messageId !== id && isId('message', messageId) ? messageId : null
}

type Parts = { attachments: Attachments; content: ContentWriter; findMessage: (id: string) => Promise<MessageRow | null> }

/** Serves the pages as files of attachments, whose links are signed. Returns the function that makes a link. */
export function createSharedPages({ attachments, content, findMessage }: Parts) {
  attachments.addSource({
    async findFile(id) {
      const messageId = messageIdOf(id)
      const row = messageId === null ? null : await findMessage(messageId)
      if (!row) return null
      const bytes = await content.toPage(row.organization_id, pageMessageOf(row))
      return { filename: `${id}.html`, content_type: 'text/html; charset=utf-8', bytes, blob_key: null, isPage: true }
    },
    findNamedBlobs: async () => [],
  })

  return (id: string, seconds: number) => ({
    id,
    url: attachments.linkTo(pageIdOf(id), seconds),
    expires_at: new Date(Math.floor(now().getTime() / 1000) * 1000 + seconds * 1000).toISOString(),
  })
}

/** The parts of a message that its page shows: of its bodies, the HTML if there is one. */
const pageMessageOf = (row: MessageRow): PageMessage => ({
  from: row.from_name === '' ? row.from_address : `${row.from_name} <${row.from_address}>`,
  to: row.to_addresses,
  cc: row.cc_addresses,
  subject: row.subject,
  date: row.created_at,
  html: row.html,
  text: row.html === '' ? row.text : '',
})
