// The binary format of the vault, shared by server and client. It defines the layout of a ciphertext blob, its sizes, and strict base64. It contains no keys and no cryptography.

/** A blob is `[version][algorithm][iv][ciphertext][tag]`, as docs/vault.md describes it. Offsets and sizes are in bytes. */
export const blobVersion = 0x01

/** AES-256-GCM with a 12-byte IV, a 16-byte tag and no additional data. */
export const blobAlgorithm = 0x01

export const blobHeaderBytes = 2
export const ivBytes = 12
export const tagBytes = 16

/** The size of a blob minus the size of its plaintext, 30 bytes. The blob of an empty plaintext has this size. */
export const blobOverheadBytes = blobHeaderBytes + ivBytes + tagBytes

/** The size of the master key and of the organization encryption key. */
export const keyBytes = 32

/** A wrapped organization key is the blob of 32 bytes. The server takes larger ones, up to `wrappedKeyBytesMax`, and none smaller. */
export const wrappedKeyBytes = blobOverheadBytes + keyBytes
export const wrappedKeyBytesMax = 1024

/** The largest `encrypted_payload`, as the whole blob before base64. */
export const payloadBytesMax = 64 * 1024

/** The limits of one vault, so that all its contents fit into one unlock response and one rotation request. */
export const secretsMax = 10_000
export const vaultPayloadBytesMax = 16 * 1024 * 1024

export const saltBytesMin = 16
export const saltBytesMax = 64

/**
 * Strict base64 by RFC 4648 §4, with padding, without line breaks, and with unused bits zero. Text and value correspond one to one, which
 * lenient decoders do not guarantee. Use it for texts of bounded length, because engines run out of stack on tens of megabytes.
 */
export const base64Pattern = '^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/][AQgw]==|[A-Za-z0-9+/]{2}[AEIMQUYcgkosw048]=)?$'

/** The alphabet of base64, for schemas. Matches every text that base64Pattern matches, and is safe on texts of any length. */
export const base64CharactersPattern = '^[A-Za-z0-9+/]*={0,2}$'

/** The base64 length of this number of bytes. */
export const base64Length = (bytes: number): number => 4 * Math.ceil(bytes / 3)

/** 64 hexadecimal digits. A server lowercases them before it compares. */
export const authHashPattern = '^[0-9a-fA-F]{64}$'

/** The limits of KDF parameters, enforced by client and server. Below the floor is `kdf_params_too_weak`, above the ceiling is invalid. `m` is in KiB. */
export const kdfFloor = { m: 19_456, t: 2, p: 1 } as const
export const kdfCeiling = { m: 1_048_576, t: 16, p: 16 } as const
