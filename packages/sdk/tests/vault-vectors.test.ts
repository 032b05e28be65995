// The published vectors. The file equals the script's output, and two implementations without shared code read and write them alike.
import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { AesKey } from '../src/vault/crypto/aes.ts'
import { openBlob, sealBlob, unwrapKey } from '../src/vault/crypto/blob.ts'
import { encodeHex, encodeUtf8 } from '../src/vault/crypto/bytes.ts'
import { authHash, checkKdf, deriveMaster, fingerprintOf } from '../src/vault/crypto/kdf.ts'
import { newVaultKeyBytes } from '../src/vault/crypto/vault-key.ts'
import type { SecretPin } from '../src/vault/pins.ts'
import { type SecretContext, writePlaintext } from '../src/vault/secrets/payload.ts'
import type { SecretRow } from '../src/vault/secrets/replies.ts'
import { SecretBox } from '../src/vault/secrets/secret-box.ts'
import * as second from './second-vault.ts'
import { type makeVectors, vectorsFile, vectorsText } from './write-vectors.ts'

const vectors = JSON.parse(readFileSync(vectorsFile, 'utf8')) as Awaited<ReturnType<typeof makeVectors>>
const hex = (text: string) => new Uint8Array(Buffer.from(text, 'hex'))
const key = () => new AesKey(hex(vectors.org_key))

test('docs/vault-vectors.json equals the output of the script', async () => {
  expect(JSON.parse(await vectorsText())).toEqual(JSON.parse(readFileSync(vectorsFile, 'utf8')))
})

describe('key derivation and wrapped key', () => {
  test.each(vectors.kdf)('$vault_key', async (vector) => {
    const master = await deriveMaster(encodeUtf8(vector.vault_key), checkKdf(vector.kdf_params, vector.kdf_salt))
    expect(encodeHex(master.bytes)).toBe(vector.master_key)
    expect(await authHash(master)).toBe(vector.auth_hash)
    expect(encodeHex((await unwrapKey(master, vector.wrapped_org_key)).bytes)).toBe(vector.org_key)

    const other = second.derive(vector.vault_key, vector.kdf_salt, vector.kdf_params)
    expect(encodeHex(other.master)).toBe(vector.master_key)
    expect(other.authHash).toBe(vector.auth_hash)
    expect(encodeHex(second.open(other.master, vector.wrapped_org_key))).toBe(vector.org_key)
    expect(second.seal(other.master, hex(vector.iv), hex(vector.org_key))).toBe(vector.wrapped_org_key)
  })

  test('fingerprint', async () => {
    expect(await fingerprintOf(key())).toBe(vectors.fingerprint)
    expect(second.fingerprint(hex(vectors.org_key))).toBe(vectors.fingerprint)
  })
})

const rowOf = (context: SecretContext, encryptedPayload: string): SecretRow => ({
  id: context.id,
  type: context.type,
  name: context.name,
  description: null,
  encryptedPayload,
  revision: context.rev,
  keyVersion: context.kv,
  updatedAt: '2026-01-01T00:00:00.000Z',
})
const boxFor = ({ org, vault, kv }: SecretContext, binding: 'if-seen' | 'always' = 'if-seen') =>
  new SecretBox(key(), { organization: org, vaultId: vault, keyVersion: kv }, binding)

describe('secrets', () => {
  test.each(vectors.secrets)('$context.name', async ({ iv, payload, context, plaintext, encrypted_payload }) => {
    const opened = await boxFor(context, 'always').open(rowOf(context, encrypted_payload), undefined)
    expect(opened).toMatchObject({ payload, nameVerified: true, isBound: true, rev: context.rev })
    expect(new TextDecoder().decode(writePlaintext(payload, context))).toBe(plaintext)
    expect(await sealBlob(key(), encodeUtf8(plaintext), hex(iv))).toBe(encrypted_payload)
    expect(encodeUtf8(plaintext).length % 64).toBe(0)

    expect(second.openSecret(hex(vectors.org_key), encrypted_payload, context)).toEqual(payload)
    expect(second.sealSecret(hex(vectors.org_key), hex(iv), payload, context)).toBe(encrypted_payload)
  })

  test('each implementation reads the output of the other', async () => {
    const context: SecretContext = { ...vectors.secrets[0]!.context, name: 'written anew', rev: 7 }
    const payload = { username: 'a', password: 'b', further: { members: ['stay'] } }
    const byOther = second.sealSecret(hex(vectors.org_key), crypto.getRandomValues(new Uint8Array(12)), payload, context)
    expect((await boxFor(context).open(rowOf(context, byOther), undefined)).payload).toEqual(payload)
    const { v: _, org: __, vault: ___, kv: ____, ...own } = context
    const byUs = await boxFor(context).seal(payload, own)
    expect(second.openSecret(hex(vectors.org_key), byUs, context)).toEqual(payload)
  })
})

describe('invalid input is rejected', () => {
  test.each(vectors.invalid.blobs)('blob: $what', async ({ blob, error }) => {
    await expect(openBlob(key(), blob, 'blob')).rejects.toMatchObject({ code: error })
    expect(() => second.open(hex(vectors.org_key), blob)).toThrow()
  })

  test.each(vectors.invalid.kdf_params)('parameters: $what', ({ kdf_params, error }) => {
    expect(() => checkKdf(kdf_params, vectors.kdf[0]!.kdf_salt)).toThrowError(expect.objectContaining({ code: error }))
    expect(() => second.derive('x', vectors.kdf[0]!.kdf_salt, kdf_params as never)).toThrow()
  })

  test.each(vectors.invalid.kdf_salts)('salt: $what', ({ kdf_salt, error }) => {
    expect(() => checkKdf(vectors.kdf[0]!.kdf_params, kdf_salt)).toThrowError(expect.objectContaining({ code: error }))
    expect(() => second.derive('x', kdf_salt, vectors.kdf[0]!.kdf_params)).toThrow()
  })

  test.each(vectors.invalid.vault_keys)('an invalid new vault key: $what', ({ vault_key }) => {
    expect(() => newVaultKeyBytes(vault_key)).toThrowError(expect.objectContaining({ code: 'vault_key_unsuitable' }))
  })

  test.each(vectors.invalid.contexts)('context: $what', async ({ presented, pinned, error, name_verified }) => {
    const { context, encrypted_payload } = vectors.secrets[0]!
    const shown = { ...context, ...presented } as SecretContext
    const opening = boxFor(shown).open(rowOf(shown, encrypted_payload), pinned as SecretPin | undefined)
    if (error) return expect(opening).rejects.toMatchObject({ code: error })
    expect((await opening).nameVerified).toBe(name_verified)
  })

  test('a payload without context is accepted once, rejected if it was bound before, and rejected if binding is always required', async () => {
    const { context } = vectors.secrets[0]!
    const row = rowOf(context, vectors.invalid.unbound_payload)
    expect(await boxFor(context).open(row, undefined)).toMatchObject({ isBound: false, nameVerified: false })
    await expect(boxFor(context).open(row, { rev: 1, bound: true })).rejects.toMatchObject({ code: 'context_missing' })
    await expect(boxFor(context, 'always').open(row, undefined)).rejects.toMatchObject({ code: 'context_missing' })
  })
})
