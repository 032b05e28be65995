// The DNS record that publishes a DKIM public key (RFC 6376 §3.6.1).

/** `rsa-sha256` is verified everywhere. `ed25519-sha256` (RFC 8463) is shorter and newer, and is used beside it. */
export type DkimAlgorithm = 'rsa-sha256' | 'ed25519-sha256'

/** A TXT record to publish. `value` is the complete text, which a zone file splits into strings of at most 255 octets. */
export type DkimRecord = { name: string; value: string; selector: string; algorithm: DkimAlgorithm }

/** The record of a key. `public_key` is the value of the p= tag. */
export const recordOf = (key: { domain: string; selector: string; algorithm: DkimAlgorithm; public_key: string }): DkimRecord => ({
  name: `${key.selector}._domainkey.${key.domain}`,
  value: `v=DKIM1; k=${key.algorithm === 'rsa-sha256' ? 'rsa' : 'ed25519'}; p=${key.public_key}`,
  selector: key.selector,
  algorithm: key.algorithm,
})
