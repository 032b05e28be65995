// The shared context of an open vault, with the connection, the organization, the keys, and the proof of the vault key.
import type { Connection } from '../connection/request.ts'
import type { VaultCalls } from '../resources/vault.ts'
import type { AesKey } from './crypto/aes.ts'
import type { KeyState, PinStore } from './pins.ts'
import type { Binding } from './secrets/secret-box.ts'

/** The context of an open vault. Key changes replace its state, key and proof. */
export type OpenContext = {
  connection: Connection
  calls: VaultCalls
  pins: PinStore
  binding: Binding
  strictNames: boolean
  organization: string
  vaultId: string
  state: KeyState
  proof: { hash: string; keyType: 'primary' | 'recovery' }
  organizationKey: AesKey
}
