// The HTML of a page with one message. A stranger may have written every value.
import { textToHtml } from './text.ts'

/** The parts of a message that its page shows. `text` is shown without HTML. Addresses may have names. */
export type PageMessage = { from: string; to: string[]; cc: string[]; subject: string; date: Date; html: string; text: string }

const style = [
  'body{font:16px/1.5 system-ui,sans-serif;max-width:60rem;margin:0 auto;padding:1rem;color:#1c1c1e;background:#fff}',
  'th{text-align:left;vertical-align:top;padding-right:1rem;color:#5c5c66}td{overflow-wrap:anywhere;unicode-bidi:isolate}',
  // Nothing of the message is drawn outside of its box, whatever its styles are.
  'main{contain:layout paint!important;display:block!important;border-top:1px solid #d8d8de;margin-top:1rem;padding-top:1rem;overflow:auto}',
].join('')

/** The page of a message. */
export function messagePage(message: PageMessage): Buffer {
  const fields = [
    ['From', [message.from]],
    ['To', message.to],
    ['Cc', message.cc],
    ['Subject', [message.subject]],
    ['Date', [message.date.toISOString()]],
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
<main><template shadowrootmode="closed">${bodyOf(message)}</template></main>
</html>
`)
}

/** The body as the content of a shadow root, which styles of the message cannot leave. Templates would end it. */
const bodyOf = ({ html, text }: PageMessage): string =>
  html === '' ? textToHtml(text) : html.replace(/<(\/?)template/gi, '&lt;$1template')
