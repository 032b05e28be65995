// The built package in a real Chromium under a strict content security policy. A page unlocks the vault and decrypts with WebAssembly and WebCrypto.
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join, normalize } from 'node:path'
import { chromium } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { build } from '../../../bin/build.ts'
import { type Harness, startHarness } from '../../server/tests/harness/start.ts'
import { Callsign } from '../src/index.ts'

const chromiumPath = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'].find(existsSync)
const modules = join(import.meta.dirname, '..', '..', '..', 'node_modules')
const vaultKey = 'correct horse battery stäple'

describe.skipIf(!chromiumPath)(
  chromiumPath ? 'in Chromium' : 'in Chromium (skipped: Chromium is not in /usr/bin, apt install chromium)',
  () => {
    let harness: Harness
    let folder: string
    let site: Server
    beforeAll(async () => {
      harness = await startHarness()
      folder = mkdtempSync(join(tmpdir(), 'callsign-built-'))
      build(folder)
      site = createSite(folder, () => harness.baseUrl)
      await new Promise<void>((resolve) => site.listen(0, '127.0.0.1', resolve))
    })
    afterAll(async () => {
      site.close()
      site.closeAllConnections()
      await harness.stop()
      rmSync(folder, { recursive: true, force: true })
    })

    test('a page unlocks, decrypts, stores and keeps its pins', async () => {
      const client = new Callsign({ url: harness.baseUrl, apiKey: harness.organizationKey })
      const { vault } = await client.vault.initialize({ vaultKey })
      const payload = { username: 'ada', password: 'pässwörd', totp: 'GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ' }
      await vault.create({ type: 'login', name: 'from Node', payload })

      const url = `http://127.0.0.1:${(site.address() as AddressInfo).port}/`
      const profile = mkdtempSync(join(tmpdir(), 'callsign-chromium-'))
      const context = await chromium.launchPersistentContext(profile, {
        executablePath: chromiumPath as string,
        headless: true,
        args: [
          '--no-sandbox',
          '--disable-gpu',
          '--disable-quic',
          '--no-first-run',
          '--disable-background-networking',
          '--disable-component-update',
          '--disable-sync',
        ],
      })
      try {
        const page = await context.newPage()
        const problems: string[] = []
        page.on('pageerror', (error) => problems.push(error.message))
        page.on('console', (message) => message.type() === 'error' && problems.push(message.text()))
        await page.goto(url)
        await page.waitForFunction('globalThis.unlockVault !== undefined')
        const seen = await page.evaluate(
          ([key, secret]) =>
            (globalThis as unknown as { unlockVault: (key: string, secret: string) => Promise<unknown> }).unlockVault(key!, secret!),
          [harness.organizationKey, vaultKey],
        )
        expect(seen).toMatchObject({ payload, code: '287082', fingerprint: vault.fingerprint, hasNode: false, isPinned: true })
        expect(problems).toEqual([])
        await vault.refresh()
        expect((await vault.get('from the page')).payload).toEqual({ data: 'written in a browser' })
      } finally {
        await context.close()
        rmSync(profile, { recursive: true, force: true })
      }
    })
  },
)

/** The page, the built modules, and the API under the same origin. The import map runs by its nonce, and no other inline script runs. */
function createSite(built: string, apiUrl: () => string): Server {
  const nonce = 'bm9uY2U'
  const { exports } = JSON.parse(readFileSync(join(built, '@callsign/contract/package.json'), 'utf8')) as {
    exports: Record<string, string | { default: string }>
  }
  const ofContract = Object.entries(exports).flatMap(([name, target]) =>
    typeof target === 'string' ? [] : [[`@callsign/contract${name.slice(1)}`, `/@callsign/contract${target.default.slice(1)}`]],
  )
  const importMap = {
    imports: {
      '@callsign/sdk': '/@callsign/sdk/index.js',
      ...Object.fromEntries(ofContract),
      '@callsign/contract/tools/': '/@callsign/contract/tools/',
      'hash-wasm': '/hash-wasm/dist/index.esm.js',
    },
  }
  const page = `<!doctype html><title>vault</title><link rel="icon" href="data:,">
<script type="importmap" nonce="${nonce}">${JSON.stringify(importMap)}</script><script type="module" src="/page.js"></script>`
  const script = `import { Callsign, createStoragePins } from '@callsign/sdk'
globalThis.unlockVault = async (apiKey, vaultKey) => {
  const client = new Callsign({ url: location.origin, apiKey, vault: { pins: createStoragePins(localStorage) } })
  const vault = await client.vault.unlock(vaultKey)
  const { payload } = await vault.get('from Node')
  const { code } = await vault.totp('from Node', 59000)
  await vault.create({ type: 'other', name: 'from the page', payload: { data: 'written in a browser' } })
  return { payload, code, fingerprint: vault.fingerprint, hasNode: 'process' in globalThis, isPinned: localStorage.length === 1 }
}`
  const policy = `default-src 'none'; script-src 'self' 'nonce-${nonce}' 'wasm-unsafe-eval'; connect-src 'self'; img-src data:`
  return createServer(async (request, response) => {
    const path = (request.url as string).split('?', 1)[0] as string
    const send = (type: string, body: string | Buffer) =>
      response.writeHead(200, { 'content-type': type, 'content-security-policy': policy }).end(body)
    if (path.startsWith('/api/')) {
      const chunks: Buffer[] = []
      for await (const chunk of request) chunks.push(chunk as Buffer)
      const headers = {
        authorization: request.headers.authorization as string,
        'idempotency-key': request.headers['idempotency-key'] as string,
      }
      const given = Object.fromEntries(Object.entries(headers).filter(([, value]) => value !== undefined))
      const answer = await fetch(apiUrl() + request.url, {
        method: request.method as string,
        headers: { ...given, ...(chunks.length > 0 && { 'content-type': 'application/json' }) },
        ...(chunks.length > 0 && { body: Buffer.concat(chunks) }),
      })
      response.writeHead(answer.status, { 'content-type': 'application/json' }).end(Buffer.from(await answer.arrayBuffer()))
      return
    }
    if (path === '/') return send('text/html', page)
    if (path === '/page.js') return send('text/javascript', script)
    const [from, name] = path.startsWith('/hash-wasm/') ? [modules, path] : [built, path.endsWith('.js') ? path : `${path}.js`]
    const content = await readFile(join(from, normalize(name))).catch(() => null)
    if (content) send('text/javascript', content)
    else response.writeHead(404).end()
  })
}
