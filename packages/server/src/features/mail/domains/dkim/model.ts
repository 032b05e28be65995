// Stored DKIM keys (RFC 6376): their owner, and both halves.
import type { DkimAlgorithm } from '@callsign/mail/authentication/dkim/key-publication'

/** The owner of a key: an organization's own domain, or null and the mail domain, which all organizations share. */
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
