// DKIM keys (RFC 6376): whose they are, and the DNS record by which others find their public half.

/** `rsa-sha256` is what everybody verifies; `ed25519-sha256` (RFC 8463) is shorter and newer, and stands beside it. */
export type DkimAlgorithm = 'rsa-sha256' | 'ed25519-sha256'

/** Whose key it is: an organization's own domain, or with null the mail domain, which all of them send from. */
export type DkimOwner = { organizationId: string | null; domain: string }

export type DkimKeyRow = {
  id: string
  organization_id: string | null
  domain: string
  selector: string
  algorithm: DkimAlgorithm
  public_key: string
  private_key: string
  created_at: Date
}

/** A TXT record to publish. `value` is the whole text; in a zone file it is cut into strings of at most 255 octets. */
export type DkimRecord = { name: string; value: string; selector: string; algorithm: DkimAlgorithm }

/** The record of a key (RFC 6376 §3.6.1). */
export const recordOf = (key: Pick<DkimKeyRow, 'domain' | 'selector' | 'algorithm' | 'public_key'>): DkimRecord => ({
  name: `${key.selector}._domainkey.${key.domain}`,
  value: `v=DKIM1; k=${key.algorithm === 'rsa-sha256' ? 'rsa' : 'ed25519'}; p=${key.public_key}`,
  selector: key.selector,
  algorithm: key.algorithm,
})
