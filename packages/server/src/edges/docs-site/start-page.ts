// Answers browsers at `/` with the console, or without one with a page that describes the server and links to its documents.
import { createHash } from 'node:crypto'
import type { FastifyInstance } from 'fastify'

const style = 'body{font:16px/1.5 system-ui,sans-serif;max-width:40rem;margin:3rem auto;padding:0 1rem}code{overflow-wrap:anywhere}'

const pageOf = (publicUrl: string): string => `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>Callsign</title>
<style>${style}</style>
<h1>Callsign</h1>
<p>This server gives AI agents identities to communicate with: mailboxes, phone numbers, iMessage, tunnels and a vault.</p>
<ul>
<li><a href="/docs">Documentation</a>, and the API as <a href="/openapi.json">OpenAPI</a></li>
<li><a href="/readyz">State of this server</a></li>
</ul>
<p>You need an API key. The first start of the server prints one. Send it with each request:</p>
<pre><code>curl ${escapeHtml(publicUrl)}/api/v1/me -H "Authorization: Bearer $KEY"</code></pre>
<p>For organizations, keys and other questions, ask the operator of this server.</p>
</html>
`

const escapeHtml = (text: string): string => text.replace(/[&<>"]/g, (character) => `&#${character.charCodeAt(0)};`)

const headers = {
  'content-security-policy': `default-src 'none'; style-src 'sha256-${createHash('sha256').update(style).digest('base64')}'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`,
  'cache-control': 'no-cache',
}

/** Adds `/`. It is the same for every client, because uptime checks ask for it with any Accept, and take 404 for an outage. */
export function mountStartPage(app: FastifyInstance, publicUrl: () => string, hasConsole: () => Promise<boolean>): void {
  app.get('/', async (request, reply) => {
    request.pattern = '/'
    reply.headers(headers)
    if (await hasConsole()) return reply.redirect('/console/', 302)
    return reply.type('text/html; charset=utf-8').send(pageOf(publicUrl()))
  })
}
