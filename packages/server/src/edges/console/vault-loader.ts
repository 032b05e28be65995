// Writes the vault page that a person saves. It checks the hash of the server's script before it runs it, which no page of the server can promise.
import { createHash } from 'node:crypto'
import type { BuiltFiles } from './built-files.ts'
import { vaultPage } from './page-headers.ts'

/** The file's name below /console. */
export const loaderName = 'vault-loader.html'

/**
 * Fetches the script under its hash and runs it as page and worker from the checked bytes. Subresource Integrity covers neither workers nor
 * imports of a script, so the script has no imports and its worker is the script itself.
 */
const script = `
const contentOf = (name) => document.querySelector('meta[name="callsign-' + name + '"]').content
const say = (...lines) => {
  const paragraphs = lines.map((line) => Object.assign(document.createElement('p'), { textContent: line }))
  document.getElementById('app').replaceChildren(...paragraphs)
}
const request = (options) =>
  globalThis.fetch(contentOf('script'), { ...options, cache: 'no-store', credentials: 'omit', redirect: 'error', referrerPolicy: 'no-referrer' })
const explain = async () => {
  const wanted = contentOf('integrity')
  const response = await request({}).catch(() => null)
  if (!response) return say('The server did not answer: ' + contentOf('server'), 'Check the connection, and reload this page.')
  if (!response.ok) {
    return say(
      'The server does not have the script of this page any more. It answered ' + response.status + '.',
      'After an upgrade of the server, save the page again, and compare its hash with that of the release (callsignd console-hashes).',
    )
  }
  const digest = new Uint8Array(await crypto.subtle.digest('SHA-384', await response.arrayBuffer()))
  say(
    'Stop: the server sent another script than the one this page was saved for. The script was not run.',
    'Expected ' + wanted,
    'Received sha384-' + btoa(String.fromCharCode(...digest)),
    'Do not enter the vault key on this server. Use the callsign command.',
  )
}
const start = async () => {
  const response = await request({ integrity: contentOf('integrity') }).catch(() => null)
  const bytes = response?.ok ? await response.arrayBuffer().catch(() => null) : null
  if (!bytes) return explain()
  const url = URL.createObjectURL(new Blob([bytes], { type: 'text/javascript' }))
  const policy = globalThis.trustedTypes?.createPolicy('callsign-loader', { createScriptURL: () => url })
  const element = document.createElement('script')
  element.src = policy ? policy.createScriptURL('') : url
  document.head.append(element)
}
void start()
`

const scriptHash = createHash('sha256').update(script).digest('base64')

const escaped = (text: string): string => text.replace(/[&<>"]/g, (character) => `&#${character.charCodeAt(0)};`)

/** The page for this server, or null without a build. `server` is its public URL. */
export async function writeLoader(files: BuiltFiles, server: string): Promise<string | null> {
  const page = await files.find(vaultPage)
  const [, path = ''] = /src="\/console\/(assets\/vault-[A-Za-z0-9_-]+\.js)"/.exec(page?.bytes.toString() ?? '') ?? []
  const file = await files.find(path)
  if (!file) return null
  const policy = [
    `script-src 'sha256-${scriptHash}' blob: 'wasm-unsafe-eval'`,
    "default-src 'none'",
    `connect-src ${new URL(server).origin}`,
    'worker-src blob:',
    "form-action 'none'",
    "base-uri 'none'",
    "require-trusted-types-for 'script'",
    'trusted-types callsign-loader callsign-vault',
  ].join('; ')
  const values = {
    server,
    script: `${server}/console/${path}`,
    integrity: `sha384-${createHash('sha384').update(file.bytes).digest('base64')}`,
  }
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${escaped(policy)}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="referrer" content="no-referrer">
${Object.entries(values)
  .map(([name, value]) => `<meta name="callsign-${name}" content="${escaped(value)}">`)
  .join('\n')}
<title>Vault – Callsign</title>
</head>
<body>
<div id="app"><p>Checking the script of the vault…</p></div>
<noscript>The vault decrypts in the browser and needs JavaScript.</noscript>
<script>${script}</script>
</body>
</html>
`
}
