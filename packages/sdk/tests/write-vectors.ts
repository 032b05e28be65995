// Writes docs/vault-vectors.json from fixed inputs. Run it with `sh bin/run packages/sdk/tests/write-vectors.ts`. A test compares the file with its output.
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { AesKey } from '../src/vault/crypto/aes.ts'
import { sealBlob, wrapKey } from '../src/vault/crypto/blob.ts'
import { type Bytes, decodeBase64, encodeBase64, encodeHex, encodeUtf8 } from '../src/vault/crypto/bytes.ts'
import { authHash, checkKdf, deriveMaster, fingerprintOf } from '../src/vault/crypto/kdf.ts'
import { type SecretContext, writePlaintext } from '../src/vault/secrets/payload.ts'

export const vectorsFile = join(import.meta.dirname, '..', '..', '..', 'docs', 'vault-vectors.json')

/** Ascending bytes from a start value, which are clearly not random. */
const counting = (start: number, size: number): Bytes => Uint8Array.from({ length: size }, (_, i) => (start + i) & 0xff)
const copy = (bytes: Bytes): Bytes => new Uint8Array(bytes)

const kdfInputs = [
  { vault_key: 'correct horse battery staple', m: 19456, t: 2, p: 1, salt: counting(0, 16) },
  { vault_key: '7GQ2K9ZT-0M4XW8RC-5HVN3JPE-B1D6YAFS', m: 65536, t: 3, p: 1, salt: counting(16, 16) },
  { vault_key: 'пароль для хранилища – 金庫の鍵', m: 19456, t: 3, p: 2, salt: counting(32, 32) },
]

const organization = 'org_01hzy3k2m4n5p6q7r8s9tavbwc'
const vault = 'vlt_01hzy3k2m4n5p6q7r8s9tavbwd'
const secretId = (last: string) => `vsec_01hzy3k2m4n5p6q7r8s9tavbw${last}`

const secretInputs: { context: SecretContext; payload: Record<string, unknown> }[] = [
  {
    context: { v: 1, org: organization, vault, id: secretId('0'), type: 'login', name: 'production database', kv: 1, rev: 1 },
    payload: { username: 'admin', password: 'pässwörd “quoted”', url: 'https://db.example', totp: 'JBSWY3DPEHPK3PXP' },
  },
  {
    context: { v: 1, org: organization, vault, id: secretId('1'), type: 'api_key', name: 'payments', kv: 3, rev: 12 },
    payload: { api_key: 'sk_test_1', member_of_another_client: { kept: [true, null, 1.5] } },
  },
  {
    context: { v: 1, org: organization, vault, id: secretId('2'), type: 'other', name: '', kv: 1, rev: 1 },
    payload: { data: '' },
  },
]

async function makeKdf() {
  const cases = []
  for (const { vault_key, m, t, p, salt } of kdfInputs) {
    const kdf_params = { algorithm: 'argon2id', m, t, p }
    const master = await deriveMaster(encodeUtf8(vault_key), checkKdf(kdf_params, encodeBase64(salt)))
    const fields = {
      vault_key,
      kdf_salt: encodeBase64(salt),
      kdf_params,
      master_key: encodeHex(master.bytes),
      auth_hash: await authHash(master),
    }
    const oek = counting(100, 32)
    const iv = counting(200, 12)
    const wrapped_org_key = await wrapKey(master, oek, iv)
    cases.push({ ...fields, iv: encodeHex(iv), org_key: encodeHex(oek), wrapped_org_key })
  }
  return cases
}

async function makeSecrets(key: AesKey) {
  const cases = []
  for (const [i, { context, payload }] of secretInputs.entries()) {
    const iv = counting(40 + i, 12)
    const plaintext = writePlaintext(payload, context)
    const text = new TextDecoder().decode(plaintext)
    cases.push({ iv: encodeHex(iv), payload, context, plaintext: text, encrypted_payload: await sealBlob(key, plaintext, iv) })
  }
  return cases
}

/** Malformed blobs by kind, each created from a valid one by one change. */
async function makeInvalidBlobs(key: AesKey) {
  const good = await sealBlob(key, encodeUtf8('{"data":"fours"}'), counting(60, 12))
  const bytes = decodeBase64(good, 'blob', 1024)
  const changed = (change: (blob: Bytes) => unknown) => {
    const blob = copy(bytes)
    change(blob)
    return encodeBase64(blob)
  }
  const flip = (at: number) => changed((blob) => blob.set([(blob.at(at) as number) ^ 1], at < 0 ? blob.length + at : at))
  const withoutPadding = good.replace(/=+$/, '')
  return [
    { kind: 'malformed', what: 'empty', blob: '', error: 'blob_malformed' },
    { kind: 'malformed', what: 'base64 without its padding', blob: withoutPadding, error: 'blob_malformed' },
    { kind: 'malformed', what: 'a newline at the end', blob: `${good}\n`, error: 'blob_malformed' },
    { kind: 'malformed', what: 'a space inside', blob: `${good.slice(0, 8)} ${good.slice(8)}`, error: 'blob_malformed' },
    {
      kind: 'malformed',
      what: 'the URL alphabet',
      blob: changed((blob) => blob.fill(0xff, 20, 26)).replaceAll('/', '_'),
      error: 'blob_malformed',
    },
    { kind: 'malformed', what: 'unused bits that are not zero', blob: 'AQF=', error: 'blob_malformed' },
    { kind: 'malformed', what: 'text behind the padding', blob: `AQE=${good}`, error: 'blob_malformed' },
    { kind: 'malformed', what: '29 bytes', blob: encodeBase64(bytes.slice(0, 29)), error: 'blob_malformed' },
    { kind: 'version', what: 'version 0', blob: changed((blob) => blob.fill(0, 0, 1)), error: 'blob_version_unknown' },
    { kind: 'version', what: 'version 2', blob: changed((blob) => blob.fill(2, 0, 1)), error: 'blob_version_unknown' },
    { kind: 'version', what: 'algorithm 0', blob: changed((blob) => blob.fill(0, 1, 2)), error: 'blob_version_unknown' },
    { kind: 'version', what: 'algorithm 2', blob: changed((blob) => blob.fill(2, 1, 2)), error: 'blob_version_unknown' },
    { kind: 'version', what: 'no version and algorithm bytes', blob: encodeBase64(bytes.slice(2)), error: 'blob_version_unknown' },
    { kind: 'tag', what: 'the tag cut to 12 bytes', blob: encodeBase64(bytes.slice(0, -4)), error: 'blob_rejected' },
    { kind: 'tag', what: 'the tag cut to 4 bytes', blob: encodeBase64(bytes.slice(0, -12)), error: 'blob_rejected' },
    { kind: 'tag', what: 'the last bit of the tag', blob: flip(-1), error: 'blob_rejected' },
    { kind: 'changed', what: 'a bit of the IV', blob: flip(2), error: 'blob_rejected' },
    { kind: 'changed', what: 'a bit of the ciphertext', blob: flip(14), error: 'blob_rejected' },
    {
      kind: 'key',
      what: 'another key',
      blob: await sealBlob(new AesKey(counting(101, 32)), encodeUtf8('{}'), counting(60, 12)),
      error: 'blob_rejected',
    },
  ]
}

const invalidKdf = [
  { what: 'm below the floor', kdf_params: { algorithm: 'argon2id', m: 19455, t: 2, p: 1 }, error: 'kdf_params_too_weak' },
  { what: 't below the floor', kdf_params: { algorithm: 'argon2id', m: 65536, t: 1, p: 1 }, error: 'kdf_params_too_weak' },
  { what: 'p of nothing', kdf_params: { algorithm: 'argon2id', m: 65536, t: 3, p: 0 }, error: 'kdf_params_too_weak' },
  { what: 'm above the ceiling', kdf_params: { algorithm: 'argon2id', m: 1048577, t: 3, p: 1 }, error: 'kdf_params_too_costly' },
  { what: 't above the ceiling', kdf_params: { algorithm: 'argon2id', m: 65536, t: 17, p: 1 }, error: 'kdf_params_too_costly' },
  { what: 'p above the ceiling', kdf_params: { algorithm: 'argon2id', m: 65536, t: 3, p: 17 }, error: 'kdf_params_too_costly' },
  { what: 'argon2i', kdf_params: { algorithm: 'argon2i', m: 65536, t: 3, p: 1 }, error: 'kdf_params_unusable' },
  { what: 'pbkdf2', kdf_params: { algorithm: 'pbkdf2', m: 65536, t: 3, p: 1 }, error: 'kdf_params_unusable' },
  { what: 'a number as text', kdf_params: { algorithm: 'argon2id', m: '65536', t: 3, p: 1 }, error: 'kdf_params_unusable' },
  { what: 'a fraction', kdf_params: { algorithm: 'argon2id', m: 65536.5, t: 3, p: 1 }, error: 'kdf_params_unusable' },
  { what: 'below nothing', kdf_params: { algorithm: 'argon2id', m: 65536, t: -3, p: 1 }, error: 'kdf_params_unusable' },
  { what: 'no p', kdf_params: { algorithm: 'argon2id', m: 65536, t: 3 }, error: 'kdf_params_unusable' },
]

const invalidSalts = [
  { what: '15 bytes', kdf_salt: encodeBase64(counting(0, 15)), error: 'kdf_params_too_weak' },
  { what: 'none', kdf_salt: '', error: 'kdf_params_too_weak' },
  { what: '65 bytes', kdf_salt: encodeBase64(counting(0, 65)), error: 'kdf_params_unusable' },
  { what: 'no base64', kdf_salt: '!!!!!!!!!!!!!!!!!!!!!!==', error: 'kdf_params_unusable' },
]

const invalidVaultKeys = [
  { what: '15 characters', vault_key: 'fifteen letters' },
  { what: 'not stable under NFKC: a combining accent', vault_key: 'cafe\u0301 with a long tail' },
  { what: 'not stable under NFKC: a ligature', vault_key: '\ufb01fteen letters and more' },
  { what: 'a control character', vault_key: 'a tab\tis no good character' },
]

/** A valid blob, presented otherwise than it was encrypted. `pinned` is the client's knowledge of the secret. */
const contextCases = [
  { what: 'another id', presented: { id: secretId('9') }, error: 'context_mismatch' },
  { what: 'another type', presented: { type: 'other' }, error: 'context_mismatch' },
  { what: 'another vault', presented: { vault: 'vlt_01hzy3k2m4n5p6q7r8s9tavbw9' }, error: 'context_mismatch' },
  { what: 'another organization', presented: { org: 'org_01hzy3k2m4n5p6q7r8s9tavbw9' }, error: 'context_mismatch' },
  { what: 'another key version', presented: { kv: 2 }, error: 'context_mismatch' },
  { what: 'an older revision than was seen', presented: {}, pinned: { rev: 2, bound: true }, error: 'secret_rolled_back' },
  { what: 'another name', presented: { name: 'staging database' }, name_verified: false },
  { what: 'as it was encrypted', presented: {}, name_verified: true },
]

export async function makeVectors() {
  const key = new AesKey(counting(100, 32))
  return {
    description: 'Vectors of the Callsign vault format, version 1: docs/vault.md. Binary inputs are hexadecimal, wire values base64.',
    kdf: await makeKdf(),
    org_key: encodeHex(key.bytes),
    fingerprint: await fingerprintOf(key),
    secrets: await makeSecrets(key),
    invalid: {
      blobs: await makeInvalidBlobs(key),
      kdf_params: invalidKdf,
      kdf_salts: invalidSalts,
      vault_keys: invalidVaultKeys,
      contexts: contextCases,
      unbound_payload: await sealBlob(key, encodeUtf8('{"username":"admin","password":"unbound"}'), counting(61, 12)),
    },
  }
}

export const vectorsText = async (): Promise<string> => `${JSON.stringify(await makeVectors(), null, 2)}\n`

if (import.meta.main) writeFileSync(vectorsFile, await vectorsText())
