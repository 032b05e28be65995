// The server cannot open the vault. It lacks the code and the dependencies, and only the vault reads its tables.
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

/** Decrypts, derives a key from a password, or loads a module that does. */
const opener =
  /\bcreateDecipher|\bsubtle\s*\.\s*(?:decrypt|unwrapKey)|\bargon2(?!id\b)|\bhash-wasm\b|\bscrypt|\bpbkdf2|@noble\/|libsodium|\bdecrypt\(/i

/** Files that decrypt the server's own data, under its keyring, its blob keys or the passphrase of its backups. They must not touch the vault. */
const ownSecrets = ['core/secret-seal.ts', 'edges/blobs/encrypted.ts', 'host/backup-cipher.ts']

/** Every source file that this one loads, itself included. */
function reach(path: string, seen = new Set<string>()): Set<string> {
  if (seen.has(path)) return seen
  seen.add(path)
  for (const specifier of importsOf(path))
    if (specifier.startsWith('.')) reach(relative(source, resolve(source, dirname(path), specifier)), seen)
  return seen
}

/** Hashes the passwords of members for sign-in to the console. The vault must not load it. */
const passwordHash = 'features/account/members/password.ts'

const vaultFiles = files.filter((path) => path.startsWith('features/vault/'))
const vaultTable = /\b(vaults|vault_keys|vault_secrets|vault_access|vault_unlock_failures)\b/

test('no code of the server decrypts or derives keys, except for its own secrets', () => {
  expect(files.length).toBeGreaterThan(100)
  const openers = files.filter((path) => opener.test(codeOf(path)) && !ownSecrets.includes(path))
  expect(openers).toEqual([passwordHash])
  // It hashes and compares, and opens nothing.
  expect(codeOf(passwordHash)).not.toMatch(/createDecipher|subtle|decrypt|\b(vault|unwrap)/i)
})

test('no module that the vault loads can decrypt', () => {
  expect(vaultFiles.length).toBeGreaterThan(5)
  const reached = new Set(vaultFiles.flatMap((path) => [...reach(path)]))
  expect(reached.size).toBeGreaterThan(vaultFiles.length)
  expect([...reached].filter((path) => opener.test(codeOf(path)))).toEqual([])
})

test("only the vault's stores name its tables, and the sealing of the server's own secrets loads nothing of it", () => {
  const readers = files.filter((path) => vaultTable.test(codeOf(path)) && /\b(FROM|JOIN|INTO|UPDATE)\s/.test(codeOf(path)))
  expect(readers.filter((path) => !/^features\/vault\/([a-z]+-)?store\.ts$/.test(path))).toEqual([])
  for (const path of ownSecrets.filter((one) => files.includes(one)))
    expect([...reach(path)].filter((one) => one.startsWith('features/vault/'))).toEqual([])
})

/** Loads the ACME client. */
const acmeClient = 'edges/acme/authority.ts'

/** Encrypts and opens backups of the server. */
const backupCipher = 'host/backup-cipher.ts'

/** Packages that open blobs, or clients that do. */
const openerPackage = /argon2|hash-wasm|noble|sodium|sjcl|crypto-js|node-forge|callsign\/(sdk|cli)/

test('the server imports no client, and its dependencies include no library that could open a blob', () => {
  const imports = files.flatMap(importsOf)
  expect(imports.filter((specifier) => /^@callsign\/(sdk|cli)|packages\/(sdk|cli)\//.test(specifier))).toEqual([])
  const names = treeOf('packages/server')
  expect(names).toContain('node_modules/pg')
  expect(names.length).toBeGreaterThan(50)
  const hashing = /^node_modules\/@node-rs\/argon2(-[\w-]+)?$/
  // The ACME client depends on node-forge, and the age format of backups on @noble. Each has one caller, which the vault does not reach.
  const needed = new Set(['node_modules/node-forge', ...treeOf('node_modules/age-encryption')])
  expect(names.filter((name) => openerPackage.test(name) && !hashing.test(name) && !needed.has(name))).toEqual([])
  const importing = (pattern: RegExp) => files.filter((path) => importsOf(path).some((name) => pattern.test(name)))
  expect(importing(/^(acme-client|node-forge)\b/)).toEqual([acmeClient])
  expect(importing(/^(age-encryption\b|@noble\/)/)).toEqual([backupCipher])
  expect(vaultFiles.filter((path) => [acmeClient, backupCipher].some((one) => reach(path).has(one)))).toEqual([])
  expect(files.filter((path) => importsOf(path).includes('@node-rs/argon2'))).toEqual([passwordHash])
  // The walk finds one where there is one.
  expect(treeOf('packages/sdk').filter((name) => openerPackage.test(name))).toContain('node_modules/hash-wasm')
})

type Locked = { link?: boolean; resolved?: string; dependencies?: object; optionalDependencies?: object }

/** The lock file paths of everything that a package loads, directly or indirectly. Development dependencies are excluded. */
function treeOf(place: string): string[] {
  const lock = JSON.parse(readFileSync(resolve(root, '../../package-lock.json'), 'utf8')) as { packages: Record<string, Locked> }
  const found = new Set<string>()
  const visit = (from: string) => {
    const { dependencies, optionalDependencies } = lock.packages[from] as Locked
    for (const name of Object.keys({ ...dependencies, ...optionalDependencies })) {
      const at = foldersAbove(from).find((folder) => lock.packages[`${folder}node_modules/${name}`])
      // An optional one may be missing.
      if (at === undefined || found.has(`${at}node_modules/${name}`)) continue
      found.add(`${at}node_modules/${name}`)
      const { link, resolved } = lock.packages[`${at}node_modules/${name}`] as Locked
      visit(link ? (resolved as string) : `${at}node_modules/${name}`)
    }
  }
  visit(place)
  return [...found]
}

/** Folders where Node looks for a package from here. These are `a/b/` and every folder above it, with the root (empty) last. */
const foldersAbove = (place: string): string[] => {
  const parts = place.split('/')
  return parts.map((_, i) => `${parts.slice(0, parts.length - i).join('/')}/`).concat('')
}

test('the contract, which both ends share, has no cryptography of blobs', () => {
  const contract = resolve(root, '../contract/src')
  const wrong = globSync('**/*.ts', { cwd: contract }).filter((path) => {
    const code = readFileSync(join(contract, path), 'utf8').replace(/^\s*(\/\/|\*|\/\*).*$/gm, '')
    return /createDecipher|\b(decrypt|encrypt|deriveKey|unwrapKey)\(|AES-GCM/.test(code)
  })
  expect(wrong).toEqual([])
})

test('the rules detect violations', () => {
  for (const text of ["import { argon2Sync } from 'node:crypto'", 'crypto.subtle.decrypt(', 'createDecipheriv(', "from 'hash-wasm'"])
    expect(opener.test(text)).toBe(true)
  expect(opener.test("algorithm: 'argon2id'")).toBe(false)
})
