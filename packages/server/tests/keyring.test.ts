// The master secret's file. It is created once, kept, and refused when it is unsafe.
import { execFile } from 'node:child_process'
import { createHmac } from 'node:crypto'
import { chmod, mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { openKeyring } from '../src/edges/keyring/keyring.ts'

let dataDir: string
let path: string

beforeEach(async () => {
  dataDir = await mkdtemp(join(tmpdir(), 'callsign-keyring-'))
  path = join(dataDir, 'keyring', 'master')
})
afterEach(() => rm(dataDir, { recursive: true }))

const write = async (text: string, mode = 0o600) => {
  await mkdir(join(dataDir, 'keyring'), { recursive: true })
  await writeFile(path, text)
  await chmod(path, mode)
}
const known = `callsign-master-1:${Buffer.alloc(32, 1).toString('base64url')}\n`

test('the first start creates a file for the owner alone, and later starts find the same keys', async () => {
  const first = await openKeyring(dataDir)
  expect((await stat(path)).mode & 0o777).toBe(0o600)
  expect((await stat(join(dataDir, 'keyring'))).mode & 0o777).toBe(0o700)
  expect(await readdir(join(dataDir, 'keyring'))).toEqual(['master'])
  const again = await openKeyring(dataDir)
  expect(again.subkey('media-links')).toEqual(first.subkey('media-links'))
  expect(first.subkey('media-links').length).toBe(32)
  expect(first.subkey('webhook-secrets')).not.toEqual(first.subkey('media-links'))
})

test('a missing data directory is created as well, and two directories have two secrets', async () => {
  const deep = await openKeyring(join(dataDir, 'a', 'b'))
  expect(deep.subkey('media-links')).not.toEqual((await openKeyring(dataDir)).subkey('media-links'))
})

test('subkeys are HKDF-SHA256 of RFC 5869, with extract without salt and expand with the purpose', async () => {
  await write(known)
  const extracted = createHmac('sha256', Buffer.alloc(32)).update(Buffer.alloc(32, 1)).digest()
  const expanded = createHmac('sha256', extracted).update('callsign/1/media-links\x01').digest()
  expect((await openKeyring(dataDir)).subkey('media-links')).toEqual(expanded)
})

test('many concurrent starts agree, in this process and in others', async () => {
  const script = `import { openKeyring } from ${JSON.stringify(new URL('../src/edges/keyring/keyring.ts', import.meta.url).href)}
    console.log((await openKeyring(process.argv[1])).subkey('media-links').toString('hex'))`
  const processes = Array.from({ length: 4 }, () => promisify(execFile)(process.execPath, ['--input-type=module', '-e', script, dataDir]))
  const here = Array.from({ length: 20 }, async () => (await openKeyring(dataDir)).subkey('media-links').toString('hex'))
  const keys = [...(await Promise.all(here)), ...(await Promise.all(processes)).map(({ stdout }) => stdout.trim())]
  expect(new Set(keys).size).toBe(1)
  expect(await readdir(join(dataDir, 'keyring'))).toEqual(['master'])
})

test.each([0o640, 0o604, 0o660, 0o644, 0o610])('mode %o is refused with the remedy', async (mode) => {
  await write(known, mode)
  await expect(openKeyring(dataDir)).rejects.toThrow(`chmod 600 ${path}`)
})

test.each([
  '',
  '\n',
  'callsign-master-1:',
  known.slice(0, -2),
  `${known}${known}`,
  known.replace('-1:', '-2:'),
  Buffer.alloc(32, 1).toString('base64url'),
  `${known} `,
  'x'.repeat(10_000),
])('a damaged file (%j) is refused and left unchanged', async (text) => {
  await write(text)
  await expect(openKeyring(dataDir)).rejects.toThrow('is damaged, so restore it from a backup')
  expect(await readFile(path, 'utf8')).toBe(text)
})

test('a folder in its place is an error, not a new secret', async () => {
  await mkdir(path, { recursive: true, mode: 0o700 })
  await chmod(path, 0o700)
  await expect(openKeyring(dataDir)).rejects.toThrow()
})

test.each(['', 'Media', 'a/b', 'a\0b', '1a'])('%j is not a purpose', async (purpose) => {
  const keyring = await openKeyring(dataDir)
  expect(() => keyring.subkey(purpose)).toThrow('not a purpose')
})
