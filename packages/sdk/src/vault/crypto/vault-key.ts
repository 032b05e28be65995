// Generates and validates vault keys and recovery codes.
import { VaultError } from '../../errors.ts'
import { type Bytes, decodeUtf8, encodeUtf8, randomBytes } from './bytes.ts'

/** The minimum length of a chosen vault key, in characters. A generated one has 160 random bits. */
export const vaultKeyCharactersMin = 16
const vaultKeyBytesMax = 1024

/** Crockford's base32, without letters that look like digits. */
const alphabet = '0123456789ABCDEFGHJKMNPQRSTVWXYZ'
const codePattern = /^[0-9A-HJKMNP-TV-Z]{32}$/

/** 160 random bits as 32 characters in groups, such as `7GQ2-…`. */
function makeCode(groupLength: number): string {
  // 32 symbols divide 256 evenly, so the low five bits of a random byte are a random symbol.
  const symbols = Array.from(randomBytes(32), (byte) => alphabet[byte & 31]).join('')
  return (symbols.match(new RegExp(`.{${groupLength}}`, 'g')) as string[]).join('-')
}

/** Generates a vault key of 160 random bits, as four groups of eight characters. */
export const generateVaultKey = (): string => makeCode(8)

/** Generates a recovery code of 160 random bits, as eight groups of four characters. */
export const generateRecoveryCode = (): string => makeCode(4)

/** The bytes of a vault key for deriving, never normalized. Throws `vault_key_unsuitable` for invalid text. */
export function vaultKeyBytes(key: string | Uint8Array): Bytes {
  if (typeof key === 'string' && !isWellFormed(key)) throw unsuitable('is not valid Unicode')
  // A copy, because the caller's bytes must not be zeroed.
  const bytes = typeof key === 'string' ? encodeUtf8(key) : new Uint8Array(key)
  if (bytes.length === 0) throw unsuitable('is empty')
  if (bytes.length > vaultKeyBytesMax) throw unsuitable(`is longer than ${vaultKeyBytesMax} bytes`)
  return bytes
}

/**
 * The bytes of a vault key that is about to be set. It must be long enough and equal to its Unicode NFKC form. Otherwise typing it on another
 * system could produce other bytes, which do not open the vault.
 */
export function newVaultKeyBytes(key: string | Uint8Array): Bytes {
  const bytes = vaultKeyBytes(key)
  let text: string
  try {
    text = decodeUtf8(bytes)
  } catch {
    throw unsuitable('is not valid UTF-8')
  }
  if (text.normalize('NFKC') !== text) throw unsuitable('changes under Unicode normalisation (NFKC), so another keyboard could not type it')
  if (/\p{Cc}/u.test(text)) throw unsuitable('holds control characters')
  if ([...text].length < vaultKeyCharactersMin) throw unsuitable(`has fewer than ${vaultKeyCharactersMin} characters`)
  return bytes
}

/** The canonical bytes of a recovery code. Case, spaces and hyphens do not matter, O is read as 0, and I and L as 1. */
export function recoveryCodeBytes(code: string): Bytes {
  const symbols = code.toUpperCase().replace(/[\s-]/g, '').replaceAll('O', '0').replace(/[IL]/g, '1')
  if (!codePattern.test(symbols)) throw new VaultError('recovery_code_malformed', 'A recovery code has eight groups of four characters.')
  return encodeUtf8((symbols.match(/.{4}/g) as string[]).join('-'))
}

const unsuitable = (reason: string) => new VaultError('vault_key_unsuitable', `The vault key ${reason}.`)

/** No half of a surrogate pair alone. `String.prototype.isWellFormed` came after Node 20's first browsers. */
const isWellFormed = (text: string): boolean => !/[\ud800-\udfff]/u.test(text)
