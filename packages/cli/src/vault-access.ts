// How vault commands get at the vault: the vault key from a file, the environment or a prompt, then unlock.
import type { UnlockedVault } from '@callsign/sdk'
import { type Context, type Option, text, type Values } from './command.ts'
import { UsageError } from './usage-error.ts'

/** Options of every command that unlocks. */
export const unlockOptions: Record<string, Option> = {
  'vault-key-file': {
    type: 'string',
    value: 'FILE',
    about: 'A file with the vault key, - for standard input; else CALLSIGN_VAULT_KEY, else a prompt.',
  },
  'accept-changed-vault': {
    type: 'boolean',
    about: 'Trust the vault as it is now, though it is not as seen before. After keys were changed elsewhere.',
  },
}

/** The vault key that opens. */
export async function readVaultKey({ input, environment }: Context, values: Values): Promise<string> {
  const file = text(values, 'vault-key-file')
  if (file !== undefined) return input.file(file)
  return environment.CALLSIGN_VAULT_KEY || input.hidden('Vault key', 'use --vault-key-file or CALLSIGN_VAULT_KEY.')
}

/** A vault key that is to be set: a file's, the environment's, or asked for twice. */
export async function readNewVaultKey({ input, environment }: Context, values: Values, option: string, variable: string): Promise<string> {
  const file = text(values, option)
  if (file !== undefined) return input.file(file)
  return environment[variable] || input.hiddenTwice('New vault key', `use --${option}, ${variable}, or --generate where there is one.`)
}

/** Unlocks, runs `work`, and locks again whatever happens. Says what is not as it should be. */
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

/** What was seen earlier and is not given now, for a note. */
export function noteMissing({ output }: Context, vault: UnlockedVault): void {
  const { missing } = vault
  if (missing.length > 0) {
    output.note(`Seen before and not given now: ${missing.join(', ')}. Deleted or no longer granted elsewhere, or held back by the server.`)
  }
}

/**
 * Members of a payload from where they may come: `--member NAME=file:PATH`, `NAME=env:VARIABLE`, `NAME=-` (standard input), `NAME=prompt`.
 * Throws UsageError on a literal value.
 */
export async function readMembers({ input, environment }: Context, members: string[]): Promise<Record<string, string>> {
  const payload: Record<string, string> = {}
  for (const member of members) {
    const [, name, source] = /^([a-z][a-z0-9_]*)=(.*)$/s.exec(member) ?? []
    if (name === undefined || source === undefined)
      throw new UsageError('--member takes NAME=file:PATH, NAME=env:VARIABLE, NAME=- or NAME=prompt.')
    const [, kind, rest = ''] = /^(file|env):(.+)$/s.exec(source) ?? []
    if (source === '-') payload[name] = await input.file('-')
    else if (source === 'prompt') payload[name] = await input.hidden(name, `use --member ${name}=file:PATH.`)
    else if (kind === 'file') payload[name] = await input.file(rest)
    else if (kind === 'env') payload[name] = environmentValue(environment, rest)
    else {
      throw new UsageError(
        `The value of ${name} is not taken from the command line, where other users and the shell's history see it: use ${name}=file:PATH, ${name}=env:VARIABLE, ${name}=- or ${name}=prompt.`,
      )
    }
  }
  return payload
}

function environmentValue(environment: NodeJS.ProcessEnv, name: string): string {
  const value = environment[name]
  if (value === undefined) throw new UsageError(`The environment has no ${name}.`)
  return value
}
