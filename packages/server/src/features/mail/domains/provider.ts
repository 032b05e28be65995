// The interface of mail providers for custom domains: the built-in engine or a supplier.
import type { Tx } from '../../../core/sql.ts'
import type { DomainRecord, Inspection } from './model.ts'

/** A name and the organization that requests or has it. */
export type DomainClaim = { organizationId: string; domain: string }

/** A domain as its provider knows it. */
export type RegisteredDomain = DomainClaim & { providerDomainId: string | null; records: DomainRecord[] }

/** A new registration. `keep` stores the provider's own data in the transaction that stores the domain, and returns the records to publish. */
export type Registration = {
  providerDomainId: string | null
  /** The provider has already verified it. */
  isVerified: boolean
  keep: (tx: Tx) => Promise<DomainRecord[]>
}

/** The provider was not reachable or failed. `isOutcomeUnknown`: the request may have taken effect nevertheless. */
export class ProviderError extends Error {
  override name = 'ProviderError'
  readonly isOutcomeUnknown: boolean
  constructor(message: string, more: { isOutcomeUnknown?: boolean; cause?: unknown } = {}) {
    super(message, { cause: more.cause })
    this.isOutcomeUnknown = more.isOutcomeUnknown ?? false
  }
}

/** The name is registered at the provider by another customer, or by another organization of this server. */
export class NameTaken extends Error {
  override name = 'NameTaken'
}

/** Every method rejects with ProviderError when the provider fails. The error's message may be shown to the caller. */
export interface DomainProvider {
  name: string
  /** True for a supplier: a registration there can be lost, has to be taken back, and may have its mail served elsewhere. */
  isElsewhere: boolean
  /** Registers a name. `triedAt` is the start of the same organization's attempt with an unknown outcome, whose registration is adopted. Throws NameTaken. */
  register(claim: DomainClaim, triedAt: Date | null): Promise<Registration>
  /** Inspects the records. `isAsked`: a caller requested a fresh look. Otherwise the provider's last known result suffices. */
  inspect(domain: RegisteredDomain, isAsked: boolean): Promise<Inspection>
  /** Deletes the data that `keep` stored, in the transaction that deletes the domain. */
  forget(tx: Tx, claim: DomainClaim): Promise<void>
  /** Takes a registration back. Succeeds when it is already gone. */
  unregister(providerDomainId: string): Promise<void>
}
