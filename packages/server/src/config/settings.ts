// Reads the settings of all areas from the environment, and prints them. No other folder reads the environment.
import { readFileSync } from 'node:fs'
import { account } from './account.ts'
import { acme } from './acme.ts'
import { backups } from './backups.ts'
import { webConsole } from './console.ts'
import { doctor } from './doctor.ts'
import { domains } from './domains.ts'
import { events } from './events.ts'
import { http } from './http.ts'
import { https } from './https.ts'
import { imessage } from './imessage.ts'
import { mail } from './mail.ts'
import { network } from './network.ts'
import { phone } from './phone.ts'
import { serverProcess } from './process.ts'
import type { Setting, Settings, Values } from './setting.ts'
import { smtp } from './smtp.ts'
import { storage } from './storage.ts'
import { tunnels } from './tunnels.ts'

/** Every setting by its field in Config. */
const settings = {
  ...http.settings,
  ...https.settings,
  ...acme.settings,
  ...serverProcess.settings,
  ...storage.settings,
  ...backups.settings,
  ...network.settings,
  ...account.settings,
  ...webConsole.settings,
  ...smtp.settings,
  ...mail.settings,
  ...domains.settings,
  ...phone.settings,
  ...imessage.settings,
  ...tunnels.settings,
  ...events.settings,
  ...doctor.settings,
}

type SettingValues = Values<typeof settings>
/** The AWS variables. Null without them, which is an error when a setting names S3. */
type AwsCredentials = { region: string; accessKeyId: string; secretAccessKey: string; sessionToken: string | null }
export type Config = SettingValues & { aws: AwsCredentials | null }

type AnyArea = { title: string; settings: Settings; check?: (values: SettingValues) => string | null }
/** In the order of docs/configuration.md. */
const areas: AnyArea[] = [
  http,
  https,
  acme,
  serverProcess,
  storage,
  backups,
  network,
  account,
  webConsole,
  smtp,
  mail,
  domains,
  phone,
  imessage,
  tunnels,
  events,
  doctor,
]

const rows = Object.entries(settings) as [keyof SettingValues, Setting<unknown>][]

/** A setting that stops the start. The message is the sentence to print. */
export class BadSetting extends Error {
  override name = 'BadSetting'
}

/** Reads every setting. Throws BadSetting for a bad value, an unknown CALLSIGN_ name, or settings that need one another. */
export function readConfig(environment: Record<string, string | undefined> = process.env): Config {
  refuseUnknownNames(environment)
  const values: Record<string, unknown> = {}
  for (const [key, row] of rows) {
    const text = readText(row, environment) ?? row.fallback
    try {
      values[key] = text === null ? null : row.read(text)
    } catch (error) {
      throw new BadSetting(`${row.name} ${(error as Error).message}${row.secret ? '' : `, not "${text}"`}`)
    }
  }
  const config = { ...values, aws: null } as unknown as Config
  for (const { check } of areas) {
    const refusal = check?.(config) ?? null
    if (refusal !== null) throw new BadSetting(refusal)
  }
  const kinds = { CALLSIGN_BLOBS: config.blobs.kind, CALLSIGN_BACKUP_TARGET: config.backupTarget?.kind }
  config.aws = readAws(environment, Object.entries(kinds).find(([, kind]) => kind === 's3')?.[0] ?? null)
  return config
}

/** Settings of the clients, which may share the server's environment. */
const clientNames = [
  'CALLSIGN_URL',
  'CALLSIGN_API_KEY',
  'CALLSIGN_VAULT_KEY',
  'CALLSIGN_NEW_VAULT_KEY',
  'CALLSIGN_RECOVERY_CODE',
  'CALLSIGN_CLIENT_DIR',
]
const knownNames = new Set([...clientNames, ...rows.flatMap(([, { name, secret }]) => (secret ? [name, `${name}_FILE`] : [name]))])

/** The names of earlier versions with the present ones. */
const renamedNames: Record<string, string> = {}

/** A variable that looks like a setting. `renamedTo` is its present name if it was renamed. */
export type UnknownName = { name: string; renamedTo: string | null }

/** Variables that look like settings of this version and are not. */
export const findUnknownNames = (environment: Record<string, string | undefined>): UnknownName[] =>
  Object.keys(environment).flatMap((name) =>
    name.startsWith('CALLSIGN_') && !name.startsWith('CALLSIGN_TEST_') && !knownNames.has(name)
      ? [{ name, renamedTo: renamedNames[name] ?? null }]
      : [],
  )

function refuseUnknownNames(environment: Record<string, string | undefined>): void {
  const [unknown] = findUnknownNames(environment)
  if (!unknown) return
  const { name, renamedTo } = unknown
  throw new BadSetting(
    renamedTo === null
      ? `${name} is not a setting of callsignd: correct the name by docs/configuration.md`
      : `${name} has been renamed: set ${renamedTo} instead`,
  )
}

/** The setting of a variable. Null for variables of the clients and of AWS, undefined for an unknown name. */
export function findSetting(name: string): Setting<unknown> | null | undefined {
  const found = rows.find(([, row]) => row.name === name || (row.secret && `${row.name}_FILE` === name))
  if (found) return found[1]
  return clientNames.includes(name) || /^AWS_[A-Z_]+$/.test(name) ? null : undefined
}

function readText(row: Setting<unknown>, environment: Record<string, string | undefined>): string | undefined {
  const text = environment[row.name]
  const file = row.secret ? environment[`${row.name}_FILE`] : undefined
  if (file === undefined) return text === '' ? undefined : text
  if (text) throw new BadSetting(`${row.name} and ${row.name}_FILE are both set: remove one`)
  try {
    return readFileSync(file, 'utf8').trim()
  } catch {
    throw new BadSetting(`${row.name}_FILE names a file that cannot be read`)
  }
}

/** `setting` is the one that needs them. Without one, they are optional. */
function readAws(environment: Record<string, string | undefined>, setting: string | null): AwsCredentials | null {
  const region = environment.AWS_REGION ?? environment.AWS_DEFAULT_REGION ?? 'us-east-1'
  const { AWS_ACCESS_KEY_ID: accessKeyId, AWS_SECRET_ACCESS_KEY: secretAccessKey, AWS_SESSION_TOKEN: sessionToken } = environment
  if (!accessKeyId || !secretAccessKey) {
    if (setting === null) return null
    throw new BadSetting(`${setting}=s3://… needs AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY`)
  }
  return { region, accessKeyId, secretAccessKey, sessionToken: sessionToken ?? null }
}

/** The settings as Markdown, one section with a table per area. */
export const configurationTables = (): string => areas.map(({ title, settings }) => `## ${title}\n\n${tableOf(settings)}`).join('\n\n')

function tableOf(settings: Settings): string {
  const cell = (text: string) => text.replaceAll('|', '\\|').replaceAll('<', '&lt;')
  const lines = Object.values(settings).map(({ name, fallback, shown, sentence, secret }) => {
    const file = secret ? ` Also \`${name}_FILE\`.` : ''
    return `| \`${name}\` | ${cell(shown ?? fallback ?? '–')} | ${cell(sentence)}${file} |`
  })
  return ['| variable | default | meaning |', '|---|---|---|', ...lines].join('\n')
}

/** Every setting with its value in force, for `callsignd config`. Secrets are shown as `(set)`. */
export function describeConfig(config: Config): string[] {
  return rows.map(([key, row]) => {
    const value = config[key]
    const shown = value === null ? '' : row.secret ? '(set)' : typeof value === 'object' ? JSON.stringify(value) : String(value)
    return `${row.name}=${shown}`
  })
}
