// The server holds nothing that can open the vault: no code, no dependency, and no other reader of its tables.
import { globSync, readFileSync } from 'node:fs'
import { dirname, join, relative, resolve } from 'node:path'
import { expect, test } from 'vitest'

const root = resolve(import.meta.dirname, '..')
const source = join(root, 'src')
const files = globSync('**/*.ts', { cwd: source }).filter((path) => !path.endsWith('.test.ts'))

// Whole-line comments are cut, so that a word in one does not count.
const codeOf = (path: string) => readFileSync(join(source, path), 'utf8').replace(/^\s*(\/\/|\*|\/\*).*$/gm, '')

const importPattern = /(?:\bfrom\s*|\bimport\s*\(?\s*)['"]([^'"]+)['"]/g
const importsOf = (path: string) => [...codeOf(path).matchAll(importPattern)].map((match) => match[1] as string)

/** What decrypts, derives a key from a password, or loads something that does. */
const opener =
  /\bcreateDecipher|\bsubtle\s*\.\s*(?:decrypt|unwrapKey)|\bargon2(?!id\b)|\bhash-wasm\b|\bscrypt|\bpbkdf2|@noble\/|libsodium|\bdecrypt\(/i

/** Files that decrypt what is the server's own, under its own keyring. None may touch the vault. */
const ownSecrets = ['features/webhooks/secret-seal.ts']

/** Every file of ours that this one loads, itself included. */
function reach(path: string, seen = new Set<string>()): Set<string> {
  if (seen.has(path)) return seen
  seen.add(path)
  for (const specifier of importsOf(path))
    if (specifier.startsWith('.')) reach(relative(source, resolve(source, dirname(path), specifier)), seen)
  return seen
}

const vaultFiles = files.filter((path) => path.startsWith('features/vault/'))
const vaultTable = /\b(vaults|vault_keys|vault_secrets|vault_access|vault_unlock_failures)\b/

test('no code of the server decrypts or derives keys, but for its own secrets', () => {
  expect(files.length).toBeGreaterThan(100)
  expect(files.filter((path) => opener.test(codeOf(path)) && !ownSecrets.includes(path))).toEqual([])
})

test('nothing that the vault loads can decrypt', () => {
  expect(vaultFiles.length).toBeGreaterThan(5)
  const reached = new Set(vaultFiles.flatMap((path) => [...reach(path)]))
  expect(reached.size).toBeGreaterThan(vaultFiles.length)
  expect([...reached].filter((path) => opener.test(codeOf(path)))).toEqual([])
})

test("only the vault's stores know its tables, and what seals the server's own secrets loads nothing of it", () => {
  const readers = files.filter((path) => vaultTable.test(codeOf(path)) && /\b(FROM|JOIN|INTO|UPDATE)\s/.test(codeOf(path)))
  expect(readers.filter((path) => !/^features\/vault\/([a-z]+-)?store\.ts$/.test(path))).toEqual([])
  for (const path of ownSecrets.filter((one) => files.includes(one)))
    expect([...reach(path)].filter((one) => one.startsWith('features/vault/'))).toEqual([])
})

test('the server imports and depends on no client and no library that could open a blob', () => {
  const imports = files.flatMap(importsOf)
  expect(imports.filter((specifier) => /^@callsign\/(sdk|cli)|packages\/(sdk|cli)\//.test(specifier))).toEqual([])
  const { dependencies, optionalDependencies } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
  const names = Object.keys({ ...dependencies, ...optionalDependencies })
  expect(names).toContain('pg')
  expect(names.filter((name) => /argon2|hash-wasm|noble|sodium|sjcl|crypto-js|callsign\/(sdk|cli)/.test(name))).toEqual([])
})

test('the contract, which both ends share, has no cryptography of blobs', () => {
  const contract = resolve(root, '../contract/src')
  const wrong = globSync('**/*.ts', { cwd: contract }).filter((path) => {
    const code = readFileSync(join(contract, path), 'utf8').replace(/^\s*(\/\/|\*|\/\*).*$/gm, '')
    return /createDecipher|\b(decrypt|encrypt|deriveKey|unwrapKey)\(|AES-GCM/.test(code)
  })
  expect(wrong).toEqual([])
})

test('the rules bite', () => {
  for (const text of ["import { argon2Sync } from 'node:crypto'", 'crypto.subtle.decrypt(', 'createDecipheriv(', "from 'hash-wasm'"])
    expect(opener.test(text)).toBe(true)
  expect(opener.test("algorithm: 'argon2id'")).toBe(false)
})
