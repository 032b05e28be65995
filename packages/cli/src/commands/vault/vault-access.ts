// Opens the vault for commands, with the vault key from a file, the environment or a prompt.
import type { UnlockedVault } from '@callsign/sdk'
import { type Context, type Option, text, type Values } from '../../command.ts'
import { UsageError } from '../../usage-error.ts'

/** Options of every command that unlocks. */
export const unlockOptions: Record<string, Option> = {
  'vault-key-file': {
    type: 'string',
    value: 'FILE',
    about: 'A file with the vault key, - for standard input. Defaults to CALLSIGN_VAULT_KEY, then a prompt.',
  },
  'accept-changed-vault': {
    type: 'boolean',
    about: 'Trust the current state of the vault although it differs from the pinned one. Use it after keys were changed elsewhere.',
  },
}

/** A variable that was set from a file keeps its last newline in some shells and in every container secret. */
const ofLine = (value: string | undefined): string | undefined => value?.replace(/\r?\n$/, '')

/** Reads the vault key that opens the vault. */
export async function readVaultKey({ input, environment }: Context, values: Values): Promise<string> {
  const file = text(values, 'vault-key-file')
  if (file !== undefined) return input.file(file)
  return ofLine(environment.CALLSIGN_VAULT_KEY) || input.hidden('Vault key', 'use --vault-key-file or CALLSIGN_VAULT_KEY.')
}

/** Reads a new vault key from a file, the environment or a repeated prompt. */
export async function readNewVaultKey({ input, environment }: Context, values: Values, option: string, variable: string): Promise<string> {
  const file = text(values, option)
  if (file !== undefined) return input.file(file)
  return (
    ofLine(environment[variable]) || input.hiddenTwice('New vault key', `use --${option}, ${variable}, or --generate where there is one.`)
  )
}

/** Unlocks, runs `work`, and locks again in every case. Prints a note for each problem. */
export async function withVault<T>(context: Context, values: Values, work: (vault: UnlockedVault) => Promise<T>): Promise<T> {
  const client = await context.client()
  const key = await readVaultKey(context, values)
  context.output.progress('Unlocking…')
  const vault = await client.vault.unlock(key, { acceptNewVault: values['accept-changed-vault'] === true })
  try {
    return await work(vault)
  } finally {
    vault.lock()
  }
}

/** Prints a note about secrets that were seen earlier and are missing now. */
export function noteMissing({ output }: Context, vault: UnlockedVault): void {
  const { missing } = vault
  if (missing.length > 0) {
    output.note(
      `Missing now, but present before: ${missing.join(', ')}. They were deleted or revoked elsewhere, or the server withholds them.`,
    )
  }
}

/**
 * Reads members of a payload from their sources, `--member NAME=file:PATH`, `NAME=env:VARIABLE`, `NAME=-` (standard input), `NAME=prompt`.
 * Throws UsageError on a literal value.
 */
export async function readMembers({ input, environment }: Context, members: string[]): Promise<Record<string, string>> {
  const payload: Record<string, string> = {}
  for (const member of members) {
    const [, name, source] = /^([a-z][a-z0-9_]*)=(.*)$/s.exec(member) ?? []
    if (name === undefined || source === undefined)
      throw new UsageError('--member must be NAME=file:PATH, NAME=env:VARIABLE, NAME=- or NAME=prompt.')
    const [, kind, rest = ''] = /^(file|env):(.+)$/s.exec(source) ?? []
    if (source === '-') payload[name] = await input.value('-')
    else if (source === 'prompt') payload[name] = await input.hidden(name, `use --member ${name}=file:PATH.`)
    else if (kind === 'file') payload[name] = await input.value(rest)
    else if (kind === 'env') payload[name] = environmentValue(environment, rest)
    else {
      throw new UsageError(
        `The value of ${name} is not taken from the command line, where other users and the shell's history see it. Use ${name}=file:PATH, ${name}=env:VARIABLE, ${name}=- or ${name}=prompt.`,
      )
    }
  }
  return payload
}

function environmentValue(environment: NodeJS.ProcessEnv, name: string): string {
  const value = environment[name]
  if (value === undefined) throw new UsageError(`The environment variable ${name} is not set.`)
  return value
}
