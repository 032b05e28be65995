// The vault's cryptography without a server, for one-time passwords, vault keys, key derivation and blobs.
export { AesKey } from './aes.ts'
export { openBlob, sealBlob, unwrapKey, wrapKey } from './blob.ts'
export { authHash, checkKdf, defaultKdfParams, deriveMaster, fingerprintOf, type KdfParams } from './kdf.ts'
export {
  generatePassword,
  type PasswordCharacters,
  passwordCharacters,
  passwordLengthMax,
  passwordLengthMin,
} from './password.ts'
export { mainMember, payloadMembers } from './payload.ts'
export { codeAt, parseTotp, type TotpCode, type TotpParameters, totpCode } from './totp.ts'
export { generateRecoveryCode, generateVaultKey, newVaultKeyBytes, recoveryCodeBytes, vaultKeyCharactersMin } from './vault-key.ts'
