// The vault's cryptography without a server, for one-time passwords, vault keys, key derivation and blobs.
export { AesKey } from './crypto/aes.ts'
export { openBlob, sealBlob, unwrapKey, wrapKey } from './crypto/blob.ts'
export { authHash, checkKdf, defaultKdfParams, deriveMaster, fingerprintOf, type KdfParams } from './crypto/kdf.ts'
export {
  generatePassword,
  type PasswordCharacters,
  passwordCharacters,
  passwordLengthMax,
  passwordLengthMin,
} from './crypto/password.ts'
export { codeAt, parseTotp, type TotpCode, type TotpParameters, totpCode } from './crypto/totp.ts'
export { generateRecoveryCode, generateVaultKey, newVaultKeyBytes, recoveryCodeBytes, vaultKeyCharactersMin } from './crypto/vault-key.ts'
export { mainMember, payloadMembers } from './secrets/payload.ts'
