// Finds secrets of an open vault by id or encrypted name, never by a name that only the server asserts.
import { VaultError } from '../../errors.ts'
import type { Held } from './secret.ts'

/** Throws `secret_not_found`, `name_ambiguous`, `name_not_verified`, or the secret's own problem. */
export function findSecret(held: ReadonlyMap<string, Held>, reference: string): Held {
  const byId = held.get(reference)
  if (byId) return byId
  const all = [...held.values()]
  const named = all.filter(({ opened }) => opened?.isBound && opened.name === reference)
  if (named.length === 1) return named[0] as Held
  if (named.length > 1) throw new VaultError('name_ambiguous', `${named.length} secrets are called "${reference}". Use an id.`)
  const claimed = all.find(({ row }) => row.name === reference)
  if (!claimed) throw new VaultError('secret_not_found', `The secret "${reference}" does not exist, or this key cannot read it.`)
  if (claimed.problem) throw claimed.problem
  throw new VaultError('name_not_verified', `The name "${reference}" of ${claimed.row.id} is unverified. To use this secret, give its id.`)
}

/** Throws `secret_name_taken` if a secret with this encrypted name exists. */
export function assertNameFree(held: ReadonlyMap<string, Held>, name: string): void {
  if (![...held.values()].some(({ opened }) => opened?.isBound && opened.name === name)) return
  throw new VaultError('secret_name_taken', `A secret called "${name}" exists already. Choose another name.`)
}
