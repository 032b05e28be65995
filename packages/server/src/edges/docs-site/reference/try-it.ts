// Forms that send a request of the reference to this server. Without JavaScript they stay hidden.
import type { Parameter } from '@callsign/contract/openapi-types'
import { type Html, html } from '../../../core/html.ts'
import type { Entry } from './entry.ts'

/** The key for the requests of a page. The script keeps it in this tab only. */
export const keyField: Html = html`<p class="key" hidden><label>API key for “Try it” <input type="text" id="try-key" autocomplete="off" spellcheck="false" placeholder="svc_live_…"></label>
<small>Requests go from your browser to this server, with your key. The key stays in this tab.</small></p>`

/** A stream does not end, and operations without a key are called by providers. */
const isTryable = ({ operation }: Entry): boolean =>
  operation.security?.length !== 0 && operation.operationId !== 'streamEvents' && operation['x-codeSamples'] !== undefined

export function tryForm(entry: Entry, parameters: Parameter[]): Html | '' {
  if (!isTryable(entry)) return ''
  const { method, path, operation } = entry
  const json = operation.requestBody?.content['application/json']
  const fields = parameters.filter(({ in: place, name }) => place !== 'header' || name === 'Idempotency-Key')
  return html`<details class="try" hidden><summary>Try it</summary><form data-method="${method}" data-path="${path}" autocomplete="off">
${fields.map(
  ({ name, in: place, required, example }) =>
    html`<label>${name}<input type="text" name="${name}" data-in="${place}"${required ? html` required` : ''} value="${place === 'path' && example !== undefined ? String(example) : ''}" spellcheck="false"></label>`,
)}${json ? html`<label>Body<textarea rows="8" spellcheck="false">${JSON.stringify(json.example ?? {}, null, 2)}</textarea></label>` : ''}
<button>Send ${method} to this server</button><output></output></form></details>`
}
