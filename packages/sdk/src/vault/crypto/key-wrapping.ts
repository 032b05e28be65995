// Wraps the organization key for a vault key or recovery codes. The server stores the result.
import type { AesKey } from './aes.ts'
import { wrapKey } from './blob.ts'
import { type Bytes, encodeBase64, randomBytes } from './bytes.ts'
import { authHash, type CheckedKdf, checkKdf, defaultKdfParams, deriveMaster, type KdfParams, newSaltBytes } from './kdf.ts'
import { recoveryCodeBytes } from './vault-key.ts'

/** Creates a new salt with these parameters, or the defaults. */
export const newKdf = (params: KdfParams = defaultKdfParams): CheckedKdf => checkKdf(params, encodeBase64(randomBytes(newSaltBytes)))

/** Derives from a key, wraps the organization key, and zeroes the intermediate keys. */
export async function wrapFor(
  secret: Bytes,
  kdf: CheckedKdf,
  organizationKey: AesKey,
): Promise<{ auth_hash: string; wrapped_org_key: string }> {
  const master = await deriveMaster(secret, kdf)
  try {
    return { auth_hash: await authHash(master), wrapped_org_key: await wrapKey(master, organizationKey.bytes) }
  } finally {
    master.wipe()
    secret.fill(0)
  }
}

/** The parameters for the next keys of a vault, never weaker than its own or the defaults. */
export const renewedParams = ({ m, t, p }: KdfParams): KdfParams => ({
  algorithm: 'argon2id',
  m: Math.max(m, defaultKdfParams.m),
  t: Math.max(t, defaultKdfParams.t),
  p: Math.max(p, defaultKdfParams.p),
})

/** One record per recovery code, all with one salt, so that recovering derives once. Calls `onDerived` with the number of finished codes. */
export async function wrapForCodes(codes: string[], organizationKey: AesKey, params: KdfParams, onDerived?: (done: number) => void) {
  const kdf = newKdf(params)
  const records: { auth_hash: string; wrapped_org_key: string; kdf_salt: string; kdf_params: KdfParams }[] = []
  for (const code of codes) {
    records.push({ ...(await wrapFor(recoveryCodeBytes(code), kdf, organizationKey)), kdf_salt: kdf.saltText, kdf_params: kdf.params })
    onDerived?.(records.length)
  }
  return records
}
