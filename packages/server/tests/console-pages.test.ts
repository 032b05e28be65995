// The console's files over HTTP. Covers redirects, headers, caching, precompressed forms and a missing build.
import { createHash } from 'node:crypto'
import { mkdir, mkdtemp, rm, utimes, writeFile } from 'node:fs/promises'
import { get } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { brotliCompressSync, brotliDecompressSync, gzipSync } from 'node:zlib'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Harness, startHarness } from './harness/start.ts'

let folder: string
let harness: Harness
const vaultScript = 'self.onmessage = null'
const script = 'console.log("a script of the console")'

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'callsign-console-'))
  await mkdir(join(folder, 'dist', 'assets'), { recursive: true })
  await writeFile(join(folder, 'dist', 'index.html'), '<!doctype html><title>index</title>')
  await writeFile(
    join(folder, 'dist', 'vault.html'),
    '<!doctype html><title>vault</title><script type="module" src="/console/assets/vault-a1B2c3D4.js"></script>',
  )
  await writeFile(join(folder, 'dist', 'assets', 'main-a1B2c3D4.js'), script)
  await writeFile(join(folder, 'dist', 'assets', 'main-a1B2c3D4.js.br'), brotliCompressSync(script))
  await writeFile(join(folder, 'dist', 'assets', 'main-a1B2c3D4.js.gz'), gzipSync(script))
  await writeFile(join(folder, 'dist', 'assets', 'vault-a1B2c3D4.js'), vaultScript)
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

test('a browser at / and at /console is sent to /console/, and so is an uptime check at /', async () => {
  for (const path of ['/', '/console']) {
    const answer = await ask(path, html)
    expect([path, answer.status, answer.headers.location]).toEqual([path, 302, '/console/'])
  }
  for (const headers of [{}, { accept: '*/*' }, { accept: 'application/json' }] as Record<string, string>[])
    expect((await ask('/', headers)).headers.location).toBe('/console/')
  const head = await fetch(`${harness.baseUrl}/`, { method: 'HEAD', redirect: 'manual' })
  expect([head.status, head.headers.get('location')]).toEqual([302, '/console/'])
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

test('WebAssembly may run on the vault page and in its worker alone, which run no script but their own', async () => {
  const policyOf = async (path: string) => (await ask(path, html)).headers['content-security-policy']
  const vaultPolicy =
    "script-src 'self' 'wasm-unsafe-eval'; default-src 'none'; img-src 'self'; connect-src 'self'; worker-src 'self'; form-action 'none'; " +
    "frame-ancestors 'none'; base-uri 'none'; require-trusted-types-for 'script'; trusted-types callsign-vault"
  expect(await policyOf('/console/vault')).toBe(vaultPolicy)
  expect((await ask('/console/vault/secrets/vsec_1', html)).body.toString()).toContain('vault')
  expect(await policyOf('/console/assets/vault-a1B2c3D4.js')).toBe(vaultPolicy)
  for (const path of ['/console/', '/console/vaults', '/console/assets/main-a1B2c3D4.js'])
    expect(await policyOf(path)).not.toContain('wasm')
})

test('no page gets a handle of the vault, and other origins read its script alone', async () => {
  const headersOf = async (path: string) => (await ask(path, html)).headers
  expect(await headersOf('/console/vault')).toMatchObject({
    'cross-origin-opener-policy': 'noopener-allow-popups',
    'cross-origin-resource-policy': 'same-origin',
    'x-frame-options': 'DENY',
  })
  expect((await headersOf('/console/assets/vault-a1B2c3D4.js'))['access-control-allow-origin']).toBe('*')
  for (const path of ['/console/vault', '/console/', '/console/assets/main-a1B2c3D4.js', '/console/vault-loader.html'])
    expect((await headersOf(path))['access-control-allow-origin']).toBeUndefined()
})

test('the page to save names the server, the script and its hash, and permits its own inline script alone', async () => {
  const { status, headers, body } = await ask('/console/vault-loader.html', html)
  expect([status, headers['content-disposition'], headers['cache-control']]).toEqual([
    200,
    'attachment; filename="callsign-vault.html"',
    'no-store',
  ])
  const page = body.toString()
  const metaOf = (name: string) => new RegExp(`<meta name="callsign-${name}" content="([^"]*)">`).exec(page)?.[1]
  expect(metaOf('server')).toBe(harness.publicUrl)
  expect(metaOf('script')).toBe(`${harness.publicUrl}/console/assets/vault-a1B2c3D4.js`)
  expect(metaOf('integrity')).toBe(`sha384-${createHash('sha384').update(vaultScript).digest('base64')}`)
  const [, inline = ''] = /<script>(.*)<\/script>/s.exec(page) ?? []
  const hash = createHash('sha256').update(inline).digest('base64')
  expect(page).toContain(`script-src 'sha256-${hash}' blob: 'wasm-unsafe-eval'; default-src 'none'; connect-src ${harness.publicUrl};`)
})

test('a saved page may call the operations of the vault, and other origins none', async () => {
  const preflight = (path: string, origin: string, method: string) =>
    fetch(`${harness.baseUrl}/api/v1${path}`, { method: 'OPTIONS', headers: { origin, 'access-control-request-method': method } })
  const vault = await preflight('/vault/unlock', 'null', 'POST')
  expect([vault.status, vault.headers.get('access-control-allow-origin'), vault.headers.get('vary')]).toEqual([204, 'null', 'Origin'])
  expect(vault.headers.get('access-control-allow-methods')).toBe('GET, POST, PUT, PATCH, DELETE')
  expect(vault.headers.get('access-control-allow-headers')).toBe('Authorization, Content-Type, Idempotency-Key')
  expect(vault.headers.get('access-control-allow-credentials')).toBeNull()
  expect((await preflight('/identities', 'null', 'GET')).headers.get('access-control-allow-methods')).toBe('GET')
  for (const [path, origin] of [
    ['/keys', 'null'],
    ['/mail/messages', 'null'],
    ['/vaults', 'null'],
    ['/identities/sales', 'null'],
    ['/vault/unlock', 'https://evil.example'],
    ['/vault/unlock', harness.publicUrl],
  ] as const) {
    const refused = await preflight(path, origin, 'GET')
    expect([path, origin, refused.ok, refused.headers.get('access-control-allow-origin')]).toEqual([path, origin, false, null])
  }
  const ask = (path: string, origin: string) =>
    fetch(`${harness.baseUrl}/api/v1${path}`, { headers: { origin, authorization: `Bearer ${harness.organizationKey}` } })
  expect((await ask('/vault', 'null')).headers.get('access-control-allow-origin')).toBe('null')
  for (const [path, origin] of [
    ['/keys', 'null'],
    ['/vault', 'https://evil.example'],
  ] as const)
    expect((await ask(path, origin)).headers.get('access-control-allow-origin')).toBeNull()
  const without = await fetch(`${harness.baseUrl}/api/v1/vault`, { headers: { origin: 'null' } })
  expect(without.status).toBe(401)
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
      for (const headers of [{}, { accept: '*/*' }] as Record<string, string>[]) expect((await ask('/', headers, server)).status).toBe(200)
      expect((await fetch(`${server.baseUrl}/`, { method: 'HEAD' })).status).toBe(200)
    }
  } finally {
    await unbuilt.stop()
    await off.stop()
  }
})
