// vault init|keys|rotate|recover|export for the whole vault and its keys.
import { resolve } from 'node:path'
import { ApiError, generateVaultKey, type UnlockedVault } from '@callsign/sdk'
import { type Command, type Context, text, type Values } from '../../command.ts'
import { writePrivate } from '../../session/private-file.ts'
import { table } from '../../terminal/output.ts'
import { ago } from '../../terminal/times.ts'
import { UsageError } from '../../usage-error.ts'
import { readNewVaultKey, unlockOptions, withVault } from './vault-access.ts'

/** The destination of a generated key instead of the screen. */
const keyFileOption = {
  type: 'string',
  value: 'FILE',
  about: 'Write the generated key into this new file, readable by you alone, instead of printing it.',
} as const
const generateOption = { type: 'boolean', about: 'Generate a vault key of 160 random bits.' } as const

/** A vault key to set, and the text that shows it. */
async function chooseNewKey(
  context: Context,
  values: Values,
  option: string,
  variable: string,
): Promise<{ key: string; shown: string | null }> {
  if (values.generate !== true) {
    if (values['write-key-file'] !== undefined) throw new UsageError('--write-key-file requires --generate.')
    return { key: await readNewVaultKey(context, values, option, variable), shown: null }
  }
  if (text(values, option) !== undefined) throw new UsageError(`--generate and --${option} are mutually exclusive. Give one of them.`)
  const key = generateVaultKey()
  const file = text(values, 'write-key-file')
  if (file === undefined) return { key, shown: key }
  // Written before the key is in use, because losing a key in use would lock the user out.
  await writePrivate(file, `${key}\n`, 'wx').catch((error: Error) => {
    throw new UsageError(`${file} cannot be written: ${error.message}`)
  })
  return { key, shown: null }
}

/** Prints a generated key before it replaces the key of a vault, because a process that is killed afterwards cannot print it. */
function announceKey({ output }: Context, shown: string | null): void {
  if (shown !== null) output.note(`New vault key, in use once this command has succeeded: ${shown}`)
}

/**
 * Runs a change that sets a vault key. If it fails without a clear rejection by the server, a generated key is shown anyway, because it may be
 * in use and exist only here.
 */
async function keepingKey<T>({ output }: Context, shown: string | null, change: () => Promise<T>): Promise<T> {
  try {
    return await change()
  } catch (error) {
    const isRefused = error instanceof ApiError && error.status < 500
    if (shown !== null && !isRefused)
      output.note(`The new vault key may have been set nevertheless. Keep it until another key has opened the vault. ${shown}`)
    throw error
  }
}

function showKeys({ output }: Context, vault: UnlockedVault, shown: string | null, recoveryCodes: string[]): void {
  const report = {
    id: vault.id,
    key_version: vault.keyVersion,
    fingerprint: vault.fingerprint,
    ...(shown !== null && { vault_key: shown }),
    recovery_codes: recoveryCodes,
  }
  output.result(report, () =>
    [
      `vault          ${vault.id}`,
      `fingerprint    ${vault.fingerprint}`,
      ...(shown === null ? [] : [`vault key      ${shown}`]),
      ...recoveryCodes.map((code) => `recovery code  ${code}`),
    ].join('\n'),
  )
  if (shown !== null || recoveryCodes.length > 0) {
    output.note('Keep these offline. They are not shown again, and the vault cannot be opened without one of them, not even by the server.')
  }
}

async function listKeys({ client, output }: Context): Promise<number> {
  const keys = await (await client()).vault.keys()
  output.result({ data: keys }, (width) =>
    table(
      ['TYPE', 'ID', 'CREATED', 'LAST USED'],
      keys.map((one) => [one.key_type, one.id, ago(one.created_at), ago(one.last_used_at)]),
      width,
    ),
  )
  return 0
}

function deleteKey(context: Context, values: Values, action: string, id: string | undefined): Promise<number> {
  if (action !== 'delete' || !id)
    throw new UsageError('To delete a recovery code, run callsign vault keys delete ID. Run callsign vault keys for the ids.')
  return withVault(context, values, async (vault) => {
    await vault.deleteKey(id)
    context.output.result({ id, deleted: true }, () => `${id} is deleted. This recovery code no longer opens the vault.`)
    return 0
  })
}

export const vaultKeyCommands: Command[] = [
  {
    words: 'vault init',
    about: 'Creates the vault of the organization and prints its recovery codes once.',
    example: 'callsign vault init --generate --write-key-file vault-key',
    operations: ['initializeVault'],
    options: {
      'vault-key-file': {
        type: 'string',
        value: 'FILE',
        about: 'A file with the vault key to set, - for standard input. Defaults to CALLSIGN_VAULT_KEY, then a prompt.',
      },
      generate: generateOption,
      'write-key-file': keyFileOption,
    },
    async run(context, values) {
      const client = await context.client()
      const { key, shown } = await chooseNewKey(context, values, 'vault-key-file', 'CALLSIGN_VAULT_KEY')
      const made = await keepingKey(context, shown, () => client.vault.initialize({ vaultKey: key }))
      showKeys(context, made.vault, shown, made.recoveryCodes)
      made.vault.lock()
      return 0
    },
  },
  {
    words: 'vault keys',
    takes: '[ACTION] [ID]',
    about: 'Lists the vault key and the unused recovery codes, by id and time. With `delete` and an id, deletes a recovery code.',
    example: 'callsign vault keys delete vkey_01hzx3jq7v8k9m2n4p6r8t0w1y',
    operations: ['listVaultKeys', 'deleteVaultKey'],
    options: unlockOptions,
    run: (context, values, [action, id]) => (action ? deleteKey(context, values, action, id) : listKeys(context)),
  },
  {
    words: 'vault rotate',
    about:
      'Changes the organization key, re-encrypts every secret, and prints new recovery codes once. Run it after an agent with the vault key was compromised.',
    example: 'callsign vault rotate --generate --write-key-file new-vault-key',
    operations: ['rotateVault', 'replaceVaultPrimaryKey'],
    options: {
      'new-vault-key-file': {
        type: 'string',
        value: 'FILE',
        about: 'A file with the vault key to set. Defaults to CALLSIGN_NEW_VAULT_KEY, then a prompt.',
      },
      generate: generateOption,
      'write-key-file': keyFileOption,
      'without-missing': {
        type: 'boolean',
        about: 'Rotate although the server no longer returns secrets that it returned before. They are lost.',
      },
      'key-only': { type: 'boolean', about: 'Change only the vault key. Secrets and recovery codes stay unchanged.' },
      ...unlockOptions,
    },
    run: (context, values) =>
      withVault(context, values, async (vault) => {
        const { key, shown } = await chooseNewKey(context, values, 'new-vault-key-file', 'CALLSIGN_NEW_VAULT_KEY')
        announceKey(context, shown)
        if (values['key-only'] === true) {
          await keepingKey(context, shown, () => vault.changeKey(key))
          showKeys(context, vault, shown, [])
          return 0
        }
        const { recoveryCodes } = await keepingKey(context, shown, () =>
          vault.rotate(key, { withoutMissing: values['without-missing'] === true }),
        )
        showKeys(context, vault, shown, recoveryCodes)
        return 0
      }),
  },
  {
    words: 'vault recover',
    about: 'Sets a new vault key with a recovery code. The code cannot be used again.',
    example: 'callsign vault recover --recovery-code-file code.txt',
    operations: ['replaceVaultPrimaryKey'],
    options: {
      'recovery-code-file': {
        type: 'string',
        value: 'FILE',
        about: 'A file with the code, - for standard input. Defaults to CALLSIGN_RECOVERY_CODE, then a prompt.',
      },
      'new-vault-key-file': {
        type: 'string',
        value: 'FILE',
        about: 'A file with the vault key to set. Defaults to CALLSIGN_NEW_VAULT_KEY, then a prompt.',
      },
      generate: generateOption,
      'write-key-file': keyFileOption,
      'accept-changed-vault': unlockOptions['accept-changed-vault']!,
    },
    async run(context, values) {
      const { input, environment } = context
      const client = await context.client()
      const file = text(values, 'recovery-code-file')
      const given = file !== undefined ? await input.file(file) : environment.CALLSIGN_RECOVERY_CODE
      const code = given || (await input.hidden('Recovery code', 'use --recovery-code-file or CALLSIGN_RECOVERY_CODE.'))
      const { key, shown } = await chooseNewKey(context, values, 'new-vault-key-file', 'CALLSIGN_NEW_VAULT_KEY')
      const options = { acceptNewVault: values['accept-changed-vault'] === true }
      announceKey(context, shown)
      const vault = await keepingKey(context, shown, () => client.vault.recover(code, key, options))
      showKeys(context, vault, shown, [])
      vault.lock()
      return 0
    },
  },
  {
    words: 'vault export',
    about: 'Writes every secret unencrypted into a new file that only you can read.',
    example: 'callsign vault export --output secrets.json',
    operations: ['unlockVault'],
    options: { output: { type: 'string', value: 'FILE', about: 'The file, or - for standard output.' }, ...unlockOptions },
    run: (context, values) => {
      const target = text(values, 'output')
      if (target === undefined) throw new UsageError('--output is required. Give a new file, or - for standard output.')
      return withVault(context, values, async (vault) => {
        const content = await vault.export()
        if (target === '-') {
          context.output.raw(JSON.stringify(content, null, 2))
          return 0
        }
        const file = resolve(target)
        await writePrivate(file, `${JSON.stringify(content, null, 2)}\n`, 'wx').catch((error: Error) => {
          throw new UsageError(`${file} cannot be written: ${error.message}`)
        })
        context.output.result(
          { file, secrets: content.secrets.length },
          () => `${content.secrets.length} secrets are in ${file}, unencrypted.`,
        )
        return 0
      })
    },
  },
]
