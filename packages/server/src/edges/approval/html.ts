// The HTML of the approval page. Every value is untrusted: an agent wrote the draft, perhaps after reading a stranger's mail.
import { createHash } from 'node:crypto'
import type { DraftReview } from '@callsign/contract/approvals'
import type { Static } from 'typebox'
import { isTooLongToApprove, shownCharactersMax } from '../../features/mail/drafts/model.ts'

const style = [
  ':root{color-scheme:light dark}body{font:16px/1.5 system-ui,sans-serif;max-width:44rem;margin:0 auto;padding:1rem;color:#1c1c1e;background:#fff}',
  'h1{font-size:1.25rem}h2{font-size:1rem;margin:1.5rem 0 .25rem}dl{display:grid;grid-template-columns:auto 1fr;gap:.25rem 1rem;margin:0}',
  'dt{color:#5c5c66}dd{margin:0;overflow-wrap:anywhere;unicode-bidi:isolate}',
  'pre{white-space:pre-wrap;overflow-wrap:anywhere;unicode-bidi:plaintext;border:1px solid #d8d8de;border-radius:6px;padding:.75rem;margin:0;font:inherit}',
  '.warning{border:1px solid #b25000;border-radius:6px;padding:.5rem .75rem}',
  'form{margin-top:1.5rem}textarea{box-sizing:border-box;width:100%;font:inherit;min-height:4rem;color:inherit;background:inherit;border:1px solid #77777f;border-radius:6px}',
  'button{font:inherit;padding:.6rem 1.2rem;border-radius:6px;border:1px solid #1c1c1e;background:#fff;color:inherit;margin:.5rem .5rem 0 0}',
  'button.approve{background:#1c1c1e;color:#fff}',
  '@media(prefers-color-scheme:dark){body,button{background:#1c1c1e;color:#f2f2f7}button.approve{background:#f2f2f7;color:#1c1c1e}button{border-color:#f2f2f7}dt{color:#a1a1aa}}',
].join('')

/** No script, no image, no frame. The forms post to this server only. */
export const policy = `default-src 'none'; style-src 'sha256-${createHash('sha256').update(style).digest('base64')}'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'`

/** The selector that makes a sign an emoji, as in a heart or a keycap. */
const emojiSelector = '(?<=\\p{Extended_Pictographic})\\ufe0f|(?<=[0-9#*])\\ufe0f(?=\\u20e3)'

/** Characters that are not visible or change the order of the text around them, without those of plain text and of emoji. */
const unseen = new RegExp(`(?![\\n\\t\\u200d]|${emojiSelector})[\\p{Cc}\\p{Cf}\\p{Zl}\\p{Zp}\\p{Default_Ignorable_Code_Point}]`, 'gu')

/** A text in HTML. Invisible characters are shown as `[U+202E]`, so that the page shows what is sent. */
export const escapeHtml = (text: string): string =>
  text
    .replaceAll('\r\n', '\n')
    .replace(unseen, (character) => `[U+${(character.codePointAt(0) as number).toString(16).toUpperCase().padStart(4, '0')}]`)
    .replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`)

const frame = (title: string, body: string): string => `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<meta name="robots" content="noindex">
<title>${title}</title>
<style>${style}</style>
<h1>${title}</h1>
${body}
</html>
`

/** A page with one sentence. */
export const noticePage = (title: string, sentence: string): string => frame(escapeHtml(title), `<p>${escapeHtml(sentence)}</p>`)

const row = (name: string, values: string[]): string[] =>
  values.length === 0 ? [] : [`<dt>${escapeHtml(name)}</dt><dd>${values.map(escapeHtml).join('<br>')}</dd>`]

const part = (title: string, text: string): string => `<h2>${title}</h2>\n<pre>${escapeHtml(text)}</pre>`

const utc = new Intl.DateTimeFormat('en-GB', { dateStyle: 'long', timeZone: 'UTC' })

/** A time in words, such as "1 December 2026, 23:38 UTC". The page has no script, so it does not know the reader's time zone. */
const timeText = (at: string): string => `<time datetime="${escapeHtml(at)}">${utc.format(Date.parse(at))}, ${at.slice(11, 16)} UTC</time>`

/** The draft with its two forms, or without them when it is too long to show. */
export function draftPage(draft: Static<typeof DraftReview>): string {
  const { text, html_text: htmlText, images, attachments } = draft
  const fields = [
    ...draft.fields.flatMap(({ name, values }) => row(name, values)),
    ...row(
      'Attachments',
      attachments.map(
        (file) =>
          `${file.filename} (${file.content_type}, ${file.size_bytes} bytes${file.is_forwarded ? ', of the forwarded message' : ''})`,
      ),
    ),
    ...row('Images in the HTML', images),
  ]
  const validity = draft.expires_at === null ? '' : ` The link is valid until ${timeText(draft.expires_at)}.`
  const body = [
    `<p>The agent ${escapeHtml(draft.agent_handle)} asks to send this message.${validity}</p>`,
    ...draft.warnings.map((warning) => `<p class="warning"><strong>Warning:</strong> ${escapeHtml(warning.text)}</p>`),
    `<dl>${fields.join('')}</dl>`,
    ...(text ? [part('Text', text.slice(0, shownCharactersMax))] : []),
    ...(htmlText !== null ? [part('Text of the HTML part, which most recipients see', htmlText.slice(0, shownCharactersMax))] : []),
    isTooLongToApprove(draft) ? '<p>The message is too long to approve here. Review it in the console.</p>' : forms,
  ]
  return frame('Approve this message?', body.join('\n'))
}

const forms = `<form method="post">
<button class="approve" name="decision" value="approve">Approve and send</button>
</form>
<form method="post">
<label for="reason">Reason for a rejection, which the agent receives</label>
<textarea id="reason" name="reason" maxlength="2000"></textarea>
<button name="decision" value="reject">Reject</button>
</form>`
