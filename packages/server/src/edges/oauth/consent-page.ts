// The pages that a person sees when an app asks for access. They have no script, so nothing in them runs.
import { createHash } from 'node:crypto'
import { type Toolset, toolsets } from '@callsign/contract/tools/tool'
import { Html, html, type Piece } from '../../core/html.ts'
import { isLoopback, type MailApproval } from '../../features/account/oauth/model.ts'
import type { Agent, Authorization } from '../../features/account/oauth/operations.ts'

const style = `:root{color-scheme:light dark}body{font:16px/1.5 system-ui,sans-serif;max-width:36rem;margin:2rem auto;padding:0 1rem}
h1{font-size:1.4rem;overflow-wrap:anywhere}fieldset{border:1px solid #8886;border-radius:8px;margin:1rem 0;padding:.5rem 1rem}
legend{font-weight:600}label{display:block;padding:.2rem 0}small{opacity:.75}dt{opacity:.75}dd{margin:0 0 .5rem;overflow-wrap:anywhere;font-weight:600}
.warn{border-left:4px solid #d97706;padding-left:.75rem}button{font:inherit;padding:.5rem 1.25rem;border-radius:8px;border:1px solid #8886;cursor:pointer}
button.main{background:#2563eb;border-color:#2563eb;color:#fff}`

const styleHash = createHash('sha256').update(style).digest('base64')

/**
 * Headers of the pages. The answer to the form is a page that continues to the app, because browsers check every redirect of a form against
 * form-action, and the app may redirect on. Under `no-referrer` browsers send the form with `Origin: null`.
 */
export const pageHeaders: Record<string, string> = {
  'content-security-policy': [
    "default-src 'none'",
    `style-src 'sha256-${styleHash}'`,
    "form-action 'self'",
    "frame-ancestors 'none'",
    "base-uri 'none'",
  ].join('; '),
  'x-frame-options': 'DENY',
  'referrer-policy': 'same-origin',
  'cache-control': 'no-store',
  'content-type': 'text/html; charset=utf-8',
}

const page = (title: string, body: Piece, head: Piece = ''): string =>
  `<!doctype html>\n${
    html`<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>${title}</title><style>${new Html(style)}</style>${head}</head><body>${body}</body></html>`
      .text
  }\n`

const continueAt = (address: string): Html => html`<meta http-equiv="refresh" content="0; url=${address}">`

/** Continues at an address of this server. The navigation starts here, so the browser sends a cookie with SameSite=Strict. */
export const continuePage = (address: string): string =>
  page('Connect an app', html`<h1>Connect an app</h1><p><a href="${address}">Continue</a></p>`, continueAt(address))

/** Returns to the app with the answer of the person. The page stays open where the address starts a program. */
export const returnPage = (address: string): string =>
  page(
    'Return to the app',
    html`<h1>Return to the app</h1><p>Your answer goes to: ${receiverOf(address).text}.</p>
<p><a href="${address}">Return to the app</a> if it does not open by itself. Then you can close this page.</p>`,
    continueAt(address),
  )

/** The receiver of the access, in words for a person. */
function receiverOf(redirectUri: string): { text: string; isLocal: boolean } {
  const url = new URL(redirectUri)
  if (url.protocol === 'http:' && isLoopback(url)) return { text: 'A program on this computer', isLocal: true }
  if (url.protocol === 'https:') return { text: url.host, isLocal: false }
  return { text: `The program that opens ${url.protocol} links`, isLocal: true }
}

/**
 * Explains why nothing is connected. The way back to the app is a link. Anyone can register an app with any address, so a redirect without a
 * click would make this server an open redirector (RFC 9700 §4.11.2).
 */
export const refusalPage = (message: string, back: string | null = null): string =>
  page(
    'The app cannot be connected',
    html`<h1>The app cannot be connected</h1><p>${message}</p><p>Nothing was changed. You can close this page.</p>${
      back === null ? '' : html`<p><a href="${back}">Return to the app</a>. Access goes to: ${receiverOf(back).text}.</p>`
    }`,
  )

const toolsetLabels: Record<Toolset, string> = {
  mail: 'Mail: read, search, write and send',
  phone: 'Phone: read texts',
  imessage: 'iMessage: read and send',
  tunnel: 'Tunnel: see its state and requests',
  vault: 'Vault: names of secrets, never their values',
  events: 'Events: what happened',
}

const approvalLabels: Record<MailApproval, string> = {
  always: 'Every message waits in the console until a person sends it',
  ask: 'The app asks you before each message. Where it cannot ask, the message waits in the console',
  agent: 'As each agent is set',
}

const isChecked = (on: boolean): Html => new Html(on ? ' checked' : '')

export type ConsentView = {
  authorization: Authorization
  organizationName: string
  person: string
  agents: Agent[]
  /** The toolsets that are chosen at first. */
  proposed: ReadonlySet<Toolset>
  isReadOnlyProposed: boolean
  /** The address with the authorization request, which the form posts to. */
  action: string
  csrf: string
  /** The reason why the last choice was refused. */
  problem: string | null
}

/** The form with which a person gives access. */
export function consentPage(view: ConsentView): string {
  const { client, request } = view.authorization
  const receiver = receiverOf(request.redirectUri)
  const identification = client.host === null ? 'Not verified. It chose its name itself.' : `${client.host}, which publishes this app`
  return page(
    `Connect ${client.name}`,
    html`<h1>Connect “${client.name}” to ${view.organizationName}?</h1>
<p>You are signed in as ${view.person}. The app will act with the access that you choose here.</p>
${view.problem === null ? '' : html`<p class="warn" role="alert">${view.problem}</p>`}
<dl><dt>Identified by</dt><dd>${identification}</dd><dt>Access goes to</dt><dd>${receiver.text}</dd></dl>
${client.host === null || receiver.isLocal ? html`<p class="warn">Continue only if you have just started to connect this app yourself.</p>` : ''}
<form method="post" action="${view.action}">
<input type="hidden" name="csrf" value="${view.csrf}">
<fieldset><legend>Agents</legend>${view.agents.map(
      (agent) =>
        html`<label><input type="checkbox" name="agent" value="${agent.handle}"${isChecked(view.agents.length === 1)}> ${agent.handle} <small>${agent.address}${agent.needsApproval ? ', its mail needs approval' : ''}</small></label>`,
    )}${view.agents.length === 0 ? 'Create an agent in the console first.' : ''}</fieldset>
<fieldset><legend>Tools</legend>${toolsets.map(
      (name) =>
        html`<label><input type="checkbox" name="toolset" value="${name}"${isChecked(view.proposed.has(name))}> ${toolsetLabels[name]}</label>`,
    )}<label><input type="checkbox" name="read_only" value="1"${isChecked(view.isReadOnlyProposed)}> Read only: the app changes and sends nothing</label></fieldset>
<fieldset><legend>Mail that the app sends</legend>${Object.entries(approvalLabels).map(
      ([value, label]) =>
        html`<label><input type="radio" name="mail_approval" value="${value}"${isChecked(value === 'always')}> ${label}</label>`,
    )}</fieldset>
<button class="main" name="decision" value="allow">Allow</button> <button name="decision" value="deny">Cancel</button>
</form>
<p><small>You can end the access at any time under Keys in the console.</small></p>`,
  )
}
