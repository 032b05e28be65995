// Callers of keys, read once from the JSON text in which the database returns them.
import type { Caller, CallerAgent } from '../../../core/caller.ts'
import { scopeSet } from './model.ts'

/** The part of a key that authentication needs, with the key's caller. */
export type KeyHolder = { salt: Buffer; secretHash: Buffer; hasAgents: boolean; caller: Caller }

type Fields = [
  salt: string,
  secretHash: string,
  id: string,
  name: string,
  type: 'organization' | 'agent',
  scopes: string[],
  organizationId: string,
  organizationName: string,
  userId: string,
  role: 'owner' | 'operator' | 'reviewer',
  allowedIps: string[],
  expiresAt: string | null,
  /** Id, handle, mailbox id and address per agent. Null for organization keys, and for a key whose agents are deleted. */
  agents: [string, string, string, string][] | null,
]

const knownMax = 10_000

/**
 * The last holder of each key. The database returns every field each time, and a holder is read again when its text differs in any character,
 * so it is never older than the answer.
 */
export class KnownHolders {
  readonly #known = new Map<string, { text: string; holder: KeyHolder }>()

  /** The holder in a text. `lookupId` is the public part of its key. */
  read(lookupId: string, text: string): KeyHolder {
    const known = this.#known.get(lookupId)
    if (known?.text === text) return known.holder
    const holder = toHolder(JSON.parse(text) as Fields)
    this.#known.delete(lookupId)
    this.#known.set(lookupId, { text, holder })
    if (this.#known.size > knownMax) this.#known.delete(this.#known.keys().next().value as string)
    return holder
  }

  /** The holder as it was last read. It may have changed or lost its access since. */
  recall(lookupId: string): KeyHolder | undefined {
    return this.#known.get(lookupId)?.holder
  }
}

function toHolder(fields: Fields): KeyHolder {
  const [salt, secretHash, keyId, keyName, type, scopes, organizationId, organizationName, userId, role, allowedIps, expiresAt, agents] =
    fields
  return {
    salt: Buffer.from(salt, 'hex'),
    secretHash: Buffer.from(secretHash, 'hex'),
    hasAgents: agents !== null,
    caller: {
      keyId,
      keyName,
      keyType: type,
      listedScopes: scopes,
      scopes: scopeSet(type, scopes),
      organizationId,
      organizationName,
      userId,
      role: type === 'agent' ? 'agent' : role,
      agents: agents?.map(([identityId, handle, mailboxId, address]): CallerAgent => ({ identityId, handle, mailboxId, address })) ?? null,
      limits: { expiresAt: expiresAt === null ? null : new Date(expiresAt), allowedIps },
      session: null,
      mailApproval: 'agent',
    },
  }
}
