// The bytes of the vault as both ends know them: the layout of a ciphertext blob, its sizes, and strict base64. No keys and no cryptography.

/** A blob is `[version][algorithm][iv][ciphertext][tag]`, as docs/vault.md describes it. Offsets and sizes are in bytes. */
export const blobVersion = 0x01

/** AES-256-GCM with a 12-byte IV, a 16-byte tag and no additional data. */
export const blobAlgorithm = 0x01

export const blobHeaderBytes = 2
export const ivBytes = 12
export const tagBytes = 16

/** What a blob is larger than its plaintext: 30 bytes; also the smallest blob, that of an empty plaintext. */
export const blobOverheadBytes = blobHeaderBytes + ivBytes + tagBytes

/** Of the master key and of the organization encryption key. */
export const keyBytes = 32

/** A wrapped organization key is the blob of 32 bytes. The server takes larger ones, up to `wrappedKeyBytesMax`, and none smaller. */
export const wrappedKeyBytes = blobOverheadBytes + keyBytes
export const wrappedKeyBytesMax = 1024

/** The largest `encrypted_payload`, as the whole blob before base64. */
export const payloadBytesMax = 64 * 1024

/** What one vault holds at most: everything in it has to fit one unlock answer and one rotation request. */
export const secretsMax = 10_000
export const vaultPayloadBytesMax = 16 * 1024 * 1024

export const saltBytesMin = 16
export const saltBytesMax = 64

/**
 * RFC 4648 §4 base64 and nothing else: padded, no line breaks, unused bits zero. So every text has one value and every value one text, which
 * lenient decoders do not promise. For texts of bounded length: engines run out of stack on tens of megabytes.
 */
export const base64Pattern = '^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/][AQgw]==|[A-Za-z0-9+/]{2}[AEIMQUYcgkosw048]=)?$'

/** The characters of base64, for schemas: holds for every text that base64Pattern takes, and is safe on texts of any length. */
export const base64CharactersPattern = '^[A-Za-z0-9+/]*={0,2}$'

/** How many characters so many bytes take. */
export const base64Length = (bytes: number): number => 4 * Math.ceil(bytes / 3)

/** 64 hexadecimal digits; a server lowers upper case before it compares. */
export const authHashPattern = '^[0-9a-fA-F]{64}$'

/** What both ends refuse in KDF parameters: below the floor with `kdf_params_too_weak`, above the ceiling as invalid. `m` is in KiB. */
export const kdfFloor = { m: 19_456, t: 2, p: 1 } as const
export const kdfCeiling = { m: 1_048_576, t: 16, p: 16 } as const
