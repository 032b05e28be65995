// vault unlock|list|get|set|rm|grant|revoke|totp for the secrets.
import { type Secret, type SecretSummary, type SecretType, totpCode } from '@callsign/sdk'
import { mainMember, payloadMembers } from '@callsign/sdk/vault'
import { type Command, type Context, needed, several, text, type Values } from '../../command.ts'
import { table } from '../../terminal/output.ts'
import { UsageError } from '../../usage-error.ts'
import { noteMissing, readMembers, unlockOptions, withVault } from './vault-access.ts'

/** Converts a summary to JSON with the field names of the API. */
const toWire = (one: SecretSummary) => ({
  id: one.id,
  type: one.type,
  name: one.name,
  name_verified: one.nameVerified,
  bound: one.isBound,
  description: one.description,
  revision: one.revision,
  updated_at: one.updatedAt,
  problem: one.problem ? { code: one.problem.code, message: one.problem.message } : null,
})

const stateOf = (one: SecretSummary): string => (one.problem ? one.problem.code : one.nameVerified ? 'ok' : 'name not verified')

const typeNames = Object.keys(payloadMembers) as SecretType[]

async function readPayload(context: Context, values: Values, type: SecretType, isNew: boolean): Promise<Record<string, unknown>> {
  const payload: Record<string, unknown> = {}
  const payloadFile = text(values, 'payload-file')
  if (payloadFile !== undefined) {
    let parsed: unknown
    try {
      parsed = JSON.parse(await context.input.file(payloadFile))
    } catch (error) {
      if (error instanceof UsageError) throw error
    }
    if (typeof parsed !== 'object' || parsed === null || Array.isArray(parsed))
      throw new UsageError('--payload-file must contain a JSON object.')
    Object.assign(payload, parsed)
  }
  Object.assign(payload, await readMembers(context, several(values, 'member')))
  const valueFile = text(values, 'value-file')
  if (valueFile !== undefined) payload[mainMember[type]] = await context.input.value(valueFile)
  if (!isNew) return payload
  for (const name of payloadMembers[type].required) {
    payload[name] ??= await context.input.hidden(
      name,
      `give it with --member ${name}=file:PATH${name === mainMember[type] ? ' or --value-file' : ''}.`,
    )
  }
  return payload
}

export const vaultCommands: Command[] = [
  {
    words: 'vault unlock',
    about: 'Unlocks the vault, verifies every secret, and shows the status. The vault is locked again afterwards.',
    example: 'callsign vault unlock',
    operations: ['getVault', 'unlockVault'],
    options: unlockOptions,
    run: (context, values) =>
      withVault(context, values, async (vault) => {
        const secrets = vault.list()
        const problems = secrets.filter((one) => one.problem)
        const report = {
          id: vault.id,
          key_version: vault.keyVersion,
          fingerprint: vault.fingerprint,
          secrets: secrets.length,
          problems: problems.map(toWire),
          missing: vault.missing,
        }
        context.output.result(report, () =>
          [
            `vault        ${vault.id}`,
            `key version  ${vault.keyVersion}`,
            `fingerprint  ${vault.fingerprint}`,
            `secrets      ${secrets.length}`,
            ...problems.map((one) => `problem      ${one.id} ${one.problem?.message}`),
          ].join('\n'),
        )
        noteMissing(context, vault)
        return problems.length > 0 ? 1 : 0
      }),
  },
  {
    words: 'vault list',
    about: 'Lists the secrets that the key can read, without their values.',
    example: 'callsign vault list',
    operations: ['unlockVault'],
    options: unlockOptions,
    run: (context, values) =>
      withVault(context, values, async (vault) => {
        const secrets = vault.list()
        context.output.result({ data: secrets.map(toWire), missing: vault.missing }, (width) =>
          table(
            ['NAME', 'TYPE', 'ID', 'STATE', 'DESCRIPTION'],
            secrets.map((one) => [one.name, one.type, one.id, stateOf(one), one.description ?? '']),
            width,
          ),
        )
        noteMissing(context, vault)
        return 0
      }),
  },
  {
    words: 'vault get',
    takes: 'NAME',
    about: 'Prints a secret, by name or id.',
    example: 'callsign vault get payments --member api_key',
    operations: ['unlockVault'],
    options: { member: { type: 'string', value: 'NAME', about: 'Print only this member, unformatted.' }, ...unlockOptions },
    run: (context, values, [reference = '']) =>
      withVault(context, values, async (vault) => {
        const secret: Secret = await vault.get(reference)
        const member = text(values, 'member')
        if (member === undefined) {
          context.output.result({ ...toWire(secret), payload: secret.payload }, () =>
            Object.entries(secret.payload)
              .map(([name, value]) => `${name}: ${typeof value === 'string' ? value : JSON.stringify(value)}`)
              .join('\n'),
          )
          return 0
        }
        const value = Object.hasOwn(secret.payload, member) ? (secret.payload as Record<string, unknown>)[member] : undefined
        if (value === undefined) throw new UsageError(`The secret does not have a member ${member}.`)
        if (context.output.isJson) context.output.result(value, () => '')
        else context.output.raw(typeof value === 'string' ? value : JSON.stringify(value))
        return 0
      }),
  },
  {
    words: 'vault set',
    takes: 'NAME',
    about: 'Stores a secret, or changes the one with this name or id. Give values in files, standard input, the environment or a prompt.',
    example: 'callsign vault set payments --type api_key --value-file key.txt',
    operations: ['createVaultSecret', 'updateVaultSecret'],
    options: {
      type: { type: 'string', value: 'TYPE', about: `The type of a new secret, one of ${typeNames.join(', ')}. Defaults to other.` },
      'value-file': {
        type: 'string',
        value: 'FILE',
        about: 'A file with the main value (password, api_key, …), - for standard input.',
      },
      member: {
        type: 'string',
        multiple: true,
        value: 'NAME=SOURCE',
        about: 'A member from file:PATH, env:VARIABLE, - or prompt. Repeatable.',
      },
      'payload-file': { type: 'string', value: 'FILE', about: 'A file with all members as a JSON object, - for standard input.' },
      name: { type: 'string', value: 'NAME', about: 'A new name.' },
      description: { type: 'string', value: 'TEXT', about: 'Not encrypted.' },
      ...unlockOptions,
    },
    run: (context, values, [reference = '']) =>
      withVault(context, values, async (vault) => {
        const description = text(values, 'description')
        const named = vault.list().filter((one) => one.id === reference || one.name === reference)
        // A name that only the server asserts must not take precedence over an encrypted name.
        const known = named.find((one) => one.id === reference || one.isBound) ?? named[0]
        const wanted = text(values, 'type')
        if (wanted !== undefined && !typeNames.includes(wanted as SecretType))
          throw new UsageError(`--type must be one of ${typeNames.join(', ')}.`)
        if (known && wanted !== undefined && wanted !== known.type)
          throw new UsageError(`The type of the secret is ${known.type} and cannot be changed. Omit --type.`)
        if (known) {
          const name = text(values, 'name')
          const payload = typeNames.includes(known.type as SecretType)
            ? await readPayload(context, values, known.type as SecretType, false)
            : await readMembers(context, several(values, 'member'))
          const change = {
            ...(name !== undefined && { name }),
            ...(description !== undefined && { description }),
            ...(Object.keys(payload).length > 0 && { payload }),
          }
          if (Object.keys(change).length === 0)
            throw new UsageError('Nothing to change. Give --value-file, --member, --payload-file, --name or --description.')
          const changed = await vault.update(reference, change)
          context.output.result(toWire(changed), () => `${changed.name} is now revision ${changed.revision}.`)
          return 0
        }
        const type = (wanted ?? 'other') as SecretType
        const payload = await readPayload(context, values, type, true)
        const secret = { type, name: text(values, 'name') ?? reference, payload, ...(description !== undefined && { description }) }
        const created = await vault.create(secret as Parameters<typeof vault.create>[0])
        context.output.result(toWire(created), () => `${created.name} is stored as ${created.id}.`)
        return 0
      }),
  },
  {
    words: 'vault rm',
    takes: 'NAME',
    about: 'Deletes a secret with its grants.',
    example: 'callsign vault rm payments',
    operations: ['deleteVaultSecret'],
    options: unlockOptions,
    run: (context, values, [reference = '']) =>
      withVault(context, values, async (vault) => {
        await vault.delete(reference)
        context.output.result({ deleted: true }, () => `${reference} is deleted.`)
        return 0
      }),
  },
  {
    words: 'vault grant',
    takes: 'NAME',
    about:
      'Lets an agent read a secret. The server enforces grants. Every holder of the vault key can decrypt the secrets that it returns.',
    example: 'callsign vault grant payments --agent sales',
    operations: ['grantVaultAccess'],
    options: { agent: { type: 'string', value: 'HANDLE', about: 'The agent.' }, ...unlockOptions },
    run: (context, values, [reference = '']) => {
      const agent = needed(values, 'agent')
      return withVault(context, values, async (vault) => {
        const grant = await vault.grant(reference, { agentHandle: agent })
        context.output.result(grant, () => `${grant.agent_handle} can read ${reference}.`)
        return 0
      })
    },
  },
  {
    words: 'vault revoke',
    takes: 'NAME',
    about: 'Revokes a grant. The agent keeps any value that it has read.',
    example: 'callsign vault revoke payments --agent sales',
    operations: ['revokeVaultAccess'],
    options: { agent: { type: 'string', value: 'HANDLE', about: 'The agent.' }, ...unlockOptions },
    run: (context, values, [reference = '']) => {
      const agent = needed(values, 'agent')
      return withVault(context, values, async (vault) => {
        await vault.revoke(reference, { agentHandle: agent })
        context.output.result({ agent_handle: agent, deleted: true }, () => `${agent} can no longer read ${reference}.`)
        return 0
      })
    },
  },
  {
    words: 'vault totp',
    takes: 'NAME',
    about: 'Prints the one-time password of a login secret.',
    example: 'callsign vault totp github',
    operations: ['unlockVault'],
    options: unlockOptions,
    run: (context, values, [reference = '']) =>
      withVault(context, values, async (vault) => {
        const { payload } = await vault.get(reference)
        if (typeof payload.totp !== 'string') throw new UsageError('The secret does not have a totp member.')
        const { code, secondsLeft, periodSeconds } = await totpCode(payload.totp)
        context.output.result({ code, seconds_left: secondsLeft, period_seconds: periodSeconds }, () => code)
        context.output.progress(`Valid for ${secondsLeft} seconds.`)
        return 0
      }),
  },
]
