// What the parts of an open vault share: the connection, where secrets belong, the keys, and the proof of them.
import type { Connection } from '../request.ts'
import type { AesKey } from './aes.ts'
import type { KeyState, PinStore } from './pins.ts'
import type { Binding } from './secret-box.ts'

/** What an open vault works with. Key changes put a new state, key and proof in. */
export type OpenContext = {
  connection: Connection
  pins: PinStore
  binding: Binding
  strictNames: boolean
  organization: string
  vaultId: string
  state: KeyState
  proof: { hash: string; keyType: 'primary' | 'recovery' }
  organizationKey: AesKey
}
