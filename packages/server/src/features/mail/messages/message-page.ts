// A page with one message, behind a signed link. A stranger may have written every value.
import { isId } from '@callsign/contract/ids'
import { textToHtml } from '@callsign/mail/html/text'
import { now } from '../../../core/clock.ts'
import type { Attachments } from '../attachments/operations.ts'
import type { MessageRow } from './model.ts'

/** The id of the page of a message in its link. The id of the message itself leads to the raw message. */
const pageIdOf = (id: string): string => id.replace(/^msg_/, 'page_')
const messageIdOf = (id: string): string | null => {
  const messageId = id.replace(/^page_/, 'msg_')
  return messageId !== id && isId('message', messageId) ? messageId : null
}

type Parts = { attachments: Attachments; findMessage: (id: string) => Promise<MessageRow | null> }

/** Serves the pages as files of attachments, whose links are signed. Returns the function that makes a link. */
export function createSharedPages({ attachments, findMessage }: Parts) {
  attachments.addSource({
    async findFile(id) {
      const messageId = messageIdOf(id)
      const row = messageId === null ? null : await findMessage(messageId)
      return row && { filename: `${id}.html`, content_type: 'text/html; charset=utf-8', bytes: toPage(row), blob_key: null, isPage: true }
    },
    findNamedBlobs: async () => [],
  })

  return (id: string, seconds: number) => ({
    id,
    url: attachments.linkTo(pageIdOf(id), seconds),
    expires_at: new Date(Math.floor(now().getTime() / 1000) * 1000 + seconds * 1000).toISOString(),
  })
}

const style = [
  'body{font:16px/1.5 system-ui,sans-serif;max-width:60rem;margin:0 auto;padding:1rem;color:#1c1c1e;background:#fff}',
  'th{text-align:left;vertical-align:top;padding-right:1rem;color:#5c5c66}td{overflow-wrap:anywhere;unicode-bidi:isolate}',
  // Nothing of the message is drawn outside of its box, whatever its styles are.
  'main{contain:layout paint!important;display:block!important;border-top:1px solid #d8d8de;margin-top:1rem;padding-top:1rem;overflow:auto}',
].join('')

function toPage(row: MessageRow): Buffer {
  const fields = [
    ['From', [row.from_name === '' ? row.from_address : `${row.from_name} <${row.from_address}>`]],
    ['To', row.to_addresses],
    ['Cc', row.cc_addresses],
    ['Subject', [row.subject]],
    ['Date', [row.created_at.toISOString()]],
  ] as const
  const rows = fields.flatMap(([name, values]) =>
    values.length === 0 ? [] : [`<tr><th>${name}</th><td>${values.map(textToHtml).join('')}</td></tr>`],
  )
  return Buffer.from(`<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<meta name="robots" content="noindex">
<title>Shared message</title>
<style>${style}</style>
<table>${rows.join('')}</table>
<main><template shadowrootmode="closed">${bodyOf(row)}</template></main>
</html>
`)
}

/** The body as the content of a shadow root, which styles of the message cannot leave. Templates would end it. */
const bodyOf = ({ html, text }: MessageRow): string => (html === '' ? textToHtml(text) : html.replace(/<(\/?)template/gi, '&lt;$1template'))
