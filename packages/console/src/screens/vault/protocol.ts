// The calls of the vault's worker and of its page. The worker alone holds keys. The page gets one decrypted secret at a time.
import type {
  AuditEntry,
  GrantedAgent,
  Identity,
  NewSecret,
  RotationProgress,
  SecretChange,
  SecretSummary,
  TotpCode,
  VaultKey,
  VaultStatus,
} from '@callsign/sdk'
import type { Role } from '../../session/console-api.ts'

/** A summary whose problem can be copied between threads. */
export type ListedSecret = Omit<SecretSummary, 'problem'> & { problem: string | null }

/** An open vault as the page sees it. */
export type OpenedVault = { id: string; keyVersion: number; fingerprint: string; missing: string[]; secrets: ListedSecret[] }

export type OpenedSecret = { id: string; payload: Record<string, unknown> }

export type Caller = { role: Role; name: string }

export type WorkerCalls = {
  /** Names the server. `apiKey` null calls with the session of the page. */
  connect: (server: string, apiKey: string | null) => Promise<Caller>
  status: () => Promise<VaultStatus>
  initialize: (vaultKey: string) => Promise<{ vault: OpenedVault; recoveryCodes: string[] }>
  unlock: (vaultKey: string, acceptNewVault: boolean) => Promise<OpenedVault>
  recover: (code: string, newVaultKey: string, acceptNewVault: boolean) => Promise<OpenedVault>
  refresh: () => Promise<OpenedVault>
  get: (id: string) => Promise<OpenedSecret>
  create: (secret: NewSecret) => Promise<OpenedVault & { createdId: string }>
  update: (id: string, change: SecretChange) => Promise<OpenedVault>
  remove: (id: string) => Promise<OpenedVault>
  totp: (id: string, nowMs: number) => Promise<TotpCode>
  grants: () => Promise<Record<string, GrantedAgent[]>>
  grant: (id: string, identityId: string) => Promise<void>
  revoke: (id: string, identityId: string) => Promise<void>
  identities: () => Promise<Identity[]>
  /** A page of the audit log, reduced to entries about the vault. */
  audit: (cursor: string | null) => Promise<{ entries: AuditEntry[]; next: string | null }>
  keys: () => Promise<VaultKey[]>
  deleteKey: (id: string) => Promise<void>
  changeKey: (newVaultKey: string) => Promise<OpenedVault>
  rotate: (newVaultKey: string, recoveryCodes: string[], withoutMissing: boolean) => Promise<OpenedVault>
}

export type PageCalls = {
  /** The worker has started and takes calls. */
  ready: () => Promise<void>
  /** A console token of the session. `isRejected` asks for another one. */
  token: (isRejected: boolean) => Promise<string>
  readPins: (name: string) => Promise<string | null>
  /** Stores pins, unless they have changed since `before` was read. Returns false then. */
  swapPins: (name: string, before: string | null, after: string) => Promise<boolean>
  progress: (progress: RotationProgress) => Promise<void>
}
