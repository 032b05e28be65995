// A page with one message, behind a signed link. A stranger may have written every value.
import type { PageMessage } from '@callsign/mail/html/message-page'
import type { Attachments } from '../attachments/operations.ts'
import type { MessageRow } from '../stored/model.ts'
import type { ContentWriter } from './provider.ts'

/** `findSharedMessage` returns the message of a link, or null if the link does not open it. */
type Parts = { attachments: Attachments; content: ContentWriter; findSharedMessage: (linkId: string) => Promise<MessageRow | null> }

/** Serves the pages as files of attachments, whose links are signed. */
export function serveSharedPages({ attachments, content, findSharedMessage }: Parts): void {
  attachments.addSource({
    async findFile(id) {
      const row = await findSharedMessage(id)
      if (!row) return null
      const bytes = await content.toPage(row.organization_id, pageMessageOf(row))
      return { filename: `${id}.html`, content_type: 'text/html; charset=utf-8', bytes, blob_key: null, isPage: true }
    },
    findNamedBlobs: async () => [],
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
