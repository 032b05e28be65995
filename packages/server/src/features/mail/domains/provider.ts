// What we ask of whoever serves the mail of custom domains: our own engine, or a supplier.
import type { Tx } from '../../../core/sql.ts'
import type { DomainRecord, Inspection } from './model.ts'

/** A name and the organization that wants it or has it. */
export type DomainClaim = { organizationId: string; domain: string }

/** A domain as its provider knows it. */
export type RegisteredDomain = DomainClaim & { providerDomainId: string | null; records: DomainRecord[] }

/** A new registration. `keep` stores what the provider itself needs, in the transaction that stores the domain, and gives the records to publish. */
export type Registration = {
  providerDomainId: string | null
  /** The provider considers it verified already. */
  isVerified: boolean
  keep: (tx: Tx) => Promise<DomainRecord[]>
}

/** The provider could not be asked, or did not do its part. `isOutcomeUnknown`: what was asked for may have happened all the same. */
export class ProviderError extends Error {
  override name = 'ProviderError'
  readonly isOutcomeUnknown: boolean
  constructor(message: string, more: { isOutcomeUnknown?: boolean; cause?: unknown } = {}) {
    super(message, { cause: more.cause })
    this.isOutcomeUnknown = more.isOutcomeUnknown ?? false
  }
}

/** The name is registered at the provider by somebody else, or by another organization of this server. */
export class NameTaken extends Error {
  override name = 'NameTaken'
}

/** Every method rejects with ProviderError, whose message may be shown to the caller, when the provider cannot do it now. */
export interface DomainProvider {
  name: string
  /** True when the domain is registered somewhere else, so that a registration can be lost and has to be taken back; its mail may be served elsewhere. */
  isElsewhere: boolean
  /** Registers a name. `triedAt` is when an attempt of the same organization began whose outcome is unknown: what it made is taken over. Throws NameTaken. */
  register(claim: DomainClaim, triedAt: Date | null): Promise<Registration>
  /** Looks at the records. `isAsked`: somebody wants them looked at anew; else what the provider knows is enough. */
  inspect(domain: RegisteredDomain, isAsked: boolean): Promise<Inspection>
  /** Forgets what `keep` stored, in the transaction that deletes the domain. */
  forget(tx: Tx, claim: DomainClaim): Promise<void>
  /** Takes a registration back; one that is gone already is fine. */
  unregister(providerDomainId: string): Promise<void>
}
