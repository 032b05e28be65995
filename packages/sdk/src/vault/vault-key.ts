// Vault keys and recovery codes: which are good enough, and how to make them.
import { VaultError } from '../errors.ts'
import { type Bytes, decodeUtf8, encodeUtf8, randomBytes } from './bytes.ts'

/** The least a vault key of one's own choice has, in characters. A generated one has 160 random bits. */
export const vaultKeyCharactersMin = 16
const vaultKeyBytesMax = 1024

/** Crockford's base32: no letter that could be read as a digit. */
const alphabet = '0123456789ABCDEFGHJKMNPQRSTVWXYZ'
const codePattern = /^[0-9A-HJKMNP-TV-Z]{32}$/

/** 160 random bits as 32 characters in groups, such as `7GQ2-…`. */
function makeCode(groupLength: number): string {
  // 32 symbols divide 256 evenly, so the low five bits of a random byte are a random symbol.
  const symbols = Array.from(randomBytes(32), (byte) => alphabet[byte & 31]).join('')
  return (symbols.match(new RegExp(`.{${groupLength}}`, 'g')) as string[]).join('-')
}

/** A new vault key of 160 random bits: four groups of eight characters. */
export const generateVaultKey = (): string => makeCode(8)

/** A new recovery code of 160 random bits: eight groups of four characters. */
export const generateRecoveryCode = (): string => makeCode(4)

/** The bytes of a vault key for deriving, as they are: never normalised. Throws `vault_key_unsuitable` for what cannot be one. */
export function vaultKeyBytes(key: string | Uint8Array): Bytes {
  if (typeof key === 'string' && !isWellFormed(key)) throw unsuitable('is not valid Unicode')
  // A copy: what we are given is not ours to zero.
  const bytes = typeof key === 'string' ? encodeUtf8(key) : new Uint8Array(key)
  if (bytes.length === 0) throw unsuitable('is empty')
  if (bytes.length > vaultKeyBytesMax) throw unsuitable(`is longer than ${vaultKeyBytesMax} bytes`)
  return bytes
}

/**
 * The bytes of a vault key that is about to be set. It has to be long enough, and the same in Unicode's NFKC form: typed on another
 * system it would otherwise be other bytes, and open nothing.
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

/** The bytes of a recovery code as it was made, however it was typed: case, spaces and hyphens do not matter, O is 0, I and L are 1. */
export function recoveryCodeBytes(code: string): Bytes {
  const symbols = code.toUpperCase().replace(/[\s-]/g, '').replaceAll('O', '0').replace(/[IL]/g, '1')
  if (!codePattern.test(symbols)) throw new VaultError('recovery_code_malformed', 'A recovery code has eight groups of four characters.')
  return encodeUtf8((symbols.match(/.{4}/g) as string[]).join('-'))
}

const unsuitable = (reason: string) => new VaultError('vault_key_unsuitable', `The vault key ${reason}.`)

/** No half of a surrogate pair alone. `String.prototype.isWellFormed` came after Node 20's first browsers. */
const isWellFormed = (text: string): boolean => !/[\ud800-\udfff]/u.test(text)
