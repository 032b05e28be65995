// The store of certificates that an authority issues, which all processes of an installation share.
import type { Certificate } from './certificate.ts'

export type IssuedCertificate = Certificate & { name: string; issuedAt: Date }

/** A certificate to order. `current` is the one in force. */
export type DueCertificate = { name: string; failures: number; current: IssuedCertificate | null }

export type AcmeAccount = { key: string; url: string | null }

/** Proof that this process is the one that may order. */
export type OrderLease = { token: string; directoryUrl: string }

export interface IssuedCertificates {
  /** Adds rows for these names. A name with a certificate of another directory is due at once. */
  ensure(names: string[], directoryUrl: string): Promise<void>
  list(names: string[]): Promise<IssuedCertificate[]>
  /** The account of a directory, created with this key on the first call. */
  account(directoryUrl: string, newKey: () => Promise<string>): Promise<AcmeAccount>
  /** Null forgets an account that the authority does not know any more. */
  saveAccountUrl(directoryUrl: string, url: string | null): Promise<void>
  /** Null while another process has the lease. The account must exist. */
  lease(directoryUrl: string, leaseMs: number): Promise<OrderLease | null>
  /** Returns false when the lease was lost. */
  renewLease(lease: OrderLease, leaseMs: number): Promise<boolean>
  endLease(lease: OrderLease): Promise<void>
  /** Certificates of these names that are due, the longest due first. */
  findDue(names: string[]): Promise<DueCertificate[]>
  /** Counts one order of the name. Returns false when the day has no order left. */
  countOrder(name: string, perDay: number): Promise<boolean>
  /** Stores a new certificate. Returns false, and stores nothing, when the lease was lost. */
  save(lease: OrderLease, issued: IssuedCertificate, dueAt: Date): Promise<boolean>
  /** Moves the next order of a name. With an error it counts as a failure. */
  postpone(lease: OrderLease, name: string, dueAt: Date, error: string | null): Promise<void>
  /** Moves a renewal that has not failed and is not due yet. */
  reschedule(lease: OrderLease, name: string, dueAt: Date): Promise<void>
  addChallenge(token: string, keyAuthorization: string): Promise<void>
  removeChallenge(token: string): Promise<void>
  findChallenge(token: string): Promise<string | null>
}
