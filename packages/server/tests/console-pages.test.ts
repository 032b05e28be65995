// The console's files over HTTP. Covers redirects, headers, caching, precompressed forms and a missing build.
import { mkdir, mkdtemp, rm, utimes, writeFile } from 'node:fs/promises'
import { get } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { brotliCompressSync, brotliDecompressSync, gzipSync } from 'node:zlib'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Harness, startHarness } from './harness/start.ts'

let folder: string
let harness: Harness
const script = 'console.log("a script of the console")'

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'callsign-console-'))
  await mkdir(join(folder, 'dist', 'assets'), { recursive: true })
  await writeFile(join(folder, 'dist', 'index.html'), '<!doctype html><title>index</title>')
  await writeFile(join(folder, 'dist', 'vault.html'), '<!doctype html><title>vault</title>')
  await writeFile(join(folder, 'dist', 'assets', 'main-a1B2c3D4.js'), script)
  await writeFile(join(folder, 'dist', 'assets', 'main-a1B2c3D4.js.br'), brotliCompressSync(script))
  await writeFile(join(folder, 'dist', 'assets', 'main-a1B2c3D4.js.gz'), gzipSync(script))
  await writeFile(join(folder, 'dist', 'assets', 'vault-worker-a1B2c3D4.js'), 'self.onmessage = null')
  await writeFile(join(folder, 'secret.txt'), 'outside the build')
  harness = await startHarness({ CALLSIGN_CONSOLE_DIR: join(folder, 'dist') })
})
afterAll(async () => {
  await harness.stop()
  await rm(folder, { recursive: true, force: true })
})

/** One request with the path as written, which fetch would normalize. */
const ask = (path: string, headers: Record<string, string> = {}, server = harness) =>
  new Promise<{ status: number; headers: Record<string, string>; body: Buffer }>((resolve, reject) => {
    get(server.baseUrl, { path, headers, agent: false }, (response) => {
      const chunks: Buffer[] = []
      response.on('data', (chunk: Buffer) => chunks.push(chunk))
      response.on('end', () =>
        resolve({ status: response.statusCode ?? 0, headers: response.headers as Record<string, string>, body: Buffer.concat(chunks) }),
      )
    }).on('error', reject)
  })

const html = { accept: 'text/html,application/xhtml+xml,*/*;q=0.8' }

test('a browser at / and at /console is sent to /console/, and a program at / gets no page', async () => {
  for (const path of ['/', '/console']) {
    const answer = await ask(path, html)
    expect([path, answer.status, answer.headers.location]).toEqual([path, 302, '/console/'])
  }
  expect((await ask('/', { accept: 'application/json' })).status).toBe(404)
})

test('every path without an extension is the page, with its policy', async () => {
  for (const path of ['/console/', '/console/inbox', '/console/inbox/sales@agents.localhost', '/console/threads/thrd_1?label=a']) {
    const answer = await ask(path, html)
    expect([path, answer.status, answer.body.toString()]).toEqual([path, 200, '<!doctype html><title>index</title>'])
    expect(answer.headers['content-security-policy']).toBe(
      "script-src 'self'; default-src 'none'; style-src 'self'; img-src 'self' data: blob:; connect-src 'self'; font-src 'self'; " +
        "frame-src 'self' blob:; worker-src 'self'; manifest-src 'self'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'",
    )
    expect(answer.headers).toMatchObject({
      'content-type': 'text/html; charset=utf-8',
      'cache-control': 'no-cache',
      'referrer-policy': 'no-referrer',
      'x-content-type-options': 'nosniff',
      'x-frame-options': 'DENY',
      'cross-origin-opener-policy': 'same-origin',
      'cross-origin-resource-policy': 'same-origin',
    })
  }
})

test('WebAssembly may run on the vault page and in its worker alone', async () => {
  const policyOf = async (path: string) => (await ask(path, html)).headers['content-security-policy']
  expect(await policyOf('/console/vault')).toContain("script-src 'self' 'wasm-unsafe-eval';")
  expect((await ask('/console/vault/secrets/vsec_1', html)).body.toString()).toContain('vault')
  expect(await policyOf('/console/assets/vault-worker-a1B2c3D4.js')).toContain("'wasm-unsafe-eval'")
  for (const path of ['/console/', '/console/vaults', '/console/assets/main-a1B2c3D4.js'])
    expect(await policyOf(path)).not.toContain('wasm')
})

test('hashed assets are kept for a year and sent precompressed to browsers that accept it', async () => {
  const path = '/console/assets/main-a1B2c3D4.js'
  const plain = await ask(path)
  expect([plain.status, plain.body.toString(), plain.headers['content-encoding']]).toEqual([200, script, undefined])
  expect(plain.headers).toMatchObject({ 'cache-control': 'public, max-age=31536000, immutable', vary: 'Accept-Encoding' })
  const br = await ask(path, { 'accept-encoding': 'gzip, deflate, br' })
  expect([br.headers['content-encoding'], brotliDecompressSync(br.body).toString()]).toEqual(['br', script])
  expect((await ask(path, { 'accept-encoding': 'gzip, br;q=0' })).headers['content-encoding']).toBe('gzip')
  expect((await ask('/console/', { 'accept-encoding': 'br' })).headers['content-encoding']).toBeUndefined()
})

test('an unchanged file is 304, and a new build is served without a restart', async () => {
  const { headers } = await ask('/console/')
  const again = await ask('/console/', { 'if-none-match': headers.etag as string })
  expect([again.status, again.body.length]).toEqual([304, 0])
  const index = join(folder, 'dist', 'index.html')
  await writeFile(index, '<!doctype html><title>second build</title>')
  await utimes(index, 2_000_000_000, 2_000_000_000)
  expect((await ask('/console/', { 'if-none-match': headers.etag as string })).body.toString()).toContain('second build')
  await writeFile(index, '<!doctype html><title>index</title>')
  await utimes(index, 2_000_000_001, 2_000_000_001)
})

test('no path reaches a file outside the build', async () => {
  for (const path of ['/console/../secret.txt', '/console/..%2fsecret.txt', '/console/%2e%2e/secret.txt', '/console//secret.txt']) {
    const answer = await ask(path, html)
    expect([path, answer.status, answer.body.toString()]).toEqual([path, 200, '<!doctype html><title>index</title>'])
  }
  expect((await ask('/console/assets/main-a1B2c3D4.js.br')).status).toBe(404)
})

test('without a build the page says how to make one, `off` serves nothing, and / is a page in both cases', async () => {
  const [unbuilt, off] = await Promise.all([
    startHarness({ CALLSIGN_CONSOLE_DIR: join(folder, 'missing') }),
    startHarness({ CALLSIGN_CONSOLE: 'off', CALLSIGN_CONSOLE_DIR: join(folder, 'dist') }),
  ])
  try {
    const missing = await ask('/console/', html, unbuilt)
    expect([missing.status, missing.body.toString()]).toEqual([503, expect.stringContaining('npm run build -w @callsign/console')])
    expect((await ask('/console/assets/main.js', html, unbuilt)).status).toBe(404)
    expect((await ask('/console/', html, off)).status).toBe(404)
    for (const server of [unbuilt, off]) {
      const start = await ask('/', html, server)
      expect([start.status, start.headers['content-type']]).toEqual([200, 'text/html; charset=utf-8'])
      expect(start.headers['content-security-policy']).toMatch(/^default-src 'none'; style-src 'sha256-[A-Za-z0-9+/]{43}='; /)
      const text = start.body.toString()
      expect(text).toContain('This server gives AI agents identities')
      expect(text).toContain(`curl ${server.publicUrl}/api/v1/me -H`)
      for (const [, path] of text.matchAll(/href="([^"]+)"/g))
        expect([path, (await ask(path as string, html, server)).status]).toEqual([path, 200])
      expect((await ask('/', { accept: '*/*' }, server)).status).toBe(404)
    }
  } finally {
    await unbuilt.stop()
    await off.stop()
  }
})
