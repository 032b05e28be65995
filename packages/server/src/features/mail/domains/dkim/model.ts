// DKIM keys (RFC 6376) as they are kept: whose they are, and both their halves.
import type { DkimAlgorithm } from '@callsign/mail/authentication/dkim/key-publication'

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
