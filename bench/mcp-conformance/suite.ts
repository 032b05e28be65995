// Runs the conformance suite, with a proxy that adds the key, and with an answer to the consent page.
import { spawn } from 'node:child_process'
import { createServer, request as httpRequest } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'

const suite = join(import.meta.dirname, '..', '..', 'node_modules', '@modelcontextprotocol', 'conformance', 'dist', 'index.js')

/** Sends everything on with this key, because the suite cannot send one. */
export async function startKeyProxy(target: URL, key: string): Promise<{ url: string; close: () => void }> {
  const listener = createServer((incoming, response) => {
    const options = {
      host: target.hostname,
      port: target.port,
      method: incoming.method,
      path: incoming.url,
      headers: { ...incoming.headers, authorization: `Bearer ${key}` },
    }
    const forwarded = httpRequest(options, (answer) => {
      response.writeHead(answer.statusCode ?? 502, answer.headers)
      answer.pipe(response)
    })
    forwarded.on('error', () => response.destroy())
    response.once('close', () => forwarded.destroy())
    incoming.pipe(forwarded)
  })
  await new Promise<void>((resolve) => listener.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://localhost:${(listener.address() as AddressInfo).port}`,
    close: () => {
      listener.close()
      listener.closeAllConnections()
    },
  }
}

/** Prints the part of the output from `heading`, and resolves with the exit code. `onOutput` sees the output as it grows. */
export function runSuite(args: string[], heading: string, onOutput: (output: string) => void = () => {}): Promise<number | null> {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [suite, ...args], { stdio: ['ignore', 'pipe', 'inherit'] })
    let output = ''
    child.stdout.on('data', (chunk: Buffer) => {
      output += chunk
      onOutput(output)
    })
    child.once('error', reject)
    child.once('close', (code) => {
      console.log(output.slice(Math.max(0, output.indexOf(heading))).trim())
      resolve(code)
    })
  })
}

/** Opens an authorization URL in a session of the console, allows the access, and follows the page back to the app. */
export async function allowAccess(authorizationUrl: string, server: { url: string; key: string }): Promise<void> {
  const signedIn = await fetch(`${server.url}/console/api/sign-in/key`, {
    method: 'POST',
    headers: { origin: server.url, 'content-type': 'application/json' },
    body: JSON.stringify({ api_key: server.key }),
  })
  const cookie = String(signedIn.headers.get('set-cookie')).split(';')[0] as string
  const { session } = (await signedIn.json()) as { session: { csrf: string } }
  const answer = await fetch(`${server.url}/console/connect${new URL(authorizationUrl).search}`, {
    method: 'POST',
    headers: { origin: server.url, cookie, 'content-type': 'application/x-www-form-urlencoded' },
    body: new URLSearchParams({ csrf: session.csrf, agent: 'sales', toolset: 'mail', mail_approval: 'always', decision: 'allow' }),
  })
  const page = await answer.text()
  const address = /http-equiv="refresh" content="0; url=([^"]*)"/.exec(page)?.[1]
  if (address === undefined) throw new Error(`the consent page answered ${answer.status}: ${page}`)
  await fetch(address.replaceAll('&amp;', '&'))
}
