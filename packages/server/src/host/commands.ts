// The host commands of callsignd, run by an operator on the server's machine with the server's settings.
import { parseArgs } from 'node:util'
import { agentScopes, type Scope, scopes } from '@callsign/contract/scopes'
import { quotedTxt } from '@callsign/mail/authentication/dkim/zone-text'
import type { SettingsSource } from '../config/file.ts'
import { type Config, describeConfig } from '../config/settings.ts'
import { createLog, type Log } from '../core/log.ts'
import type { Database } from '../core/sql.ts'
import { openKeyring } from '../edges/keyring/keyring.ts'
import { scopesToStore } from '../features/account/keys/model.ts'
import { createLinks, linkUrl } from '../features/account/links/operations.ts'
import { callbackPath } from '../features/imessage/model.ts'
import { createDkim } from '../features/mail/domains/dkim/operations.ts'
import { imessageRouteToken } from '../wiring/imessage.ts'
import { createBlobs, createCredentials, sealingOf } from '../wiring/parts.ts'
import { writeBackup } from './backup.ts'
import type { End } from './backup-format.ts'
import { listCertificates, renewCertificate } from './certificates.ts'
import { printConsoleHashes, printConsoleLoader } from './console-hashes.ts'
import { openForCommand } from './database.ts'
import { runDoctor } from './doctor.ts'
import { CommandFailed } from './failure.ts'
import { ensureFirstKey } from './first-start.ts'
import { requireFolder } from './folder.ts'
import { printMailDomainReports } from './mail-domain-reports.ts'
import { reencryptBlobs } from './reencrypt.ts'
import { restoreBackup } from './restore.ts'
import { runSetup } from './setup.ts'
import { checkUpgrade, describePlan } from './upgrade-check.ts'

export const usage = `usage: callsignd [command]
  serve                                       run the server (the default)
  init                                        create the database and the first key, then stop
  organizations list
  organizations create --name NAME            create an organization and print its first key once
  keys list --organization ORG
  keys create --organization ORG --name NAME [--agent HANDLE] [--scope SCOPE]
  keys revoke --organization ORG KEY_ID
  console-link [--organization ORG]           print a link that signs the owner in to the console once, within 15 minutes
  console-hashes                              print the hash of every file of the built console
  console-loader [URL]                        print the vault page to save, for the server at URL (CALLSIGN_PUBLIC_URL by default)
  dkim                                        print the DNS records of the mail domain's DKIM keys, for publication
  reports [--kind dmarc|tls] [--json]         list the DMARC and TLS reports of other mail servers about the mail domain
  certificates [--json]                       list the certificates of the ACME authority, with the last error
  certificates renew NAME                     order a certificate now, before it is due
  imessage                                    print the address for the iMessage provider's callbacks (keep it secret)
  config                                      print the settings in force
  migrate                                     bring the tables up to date, then stop
  backup FILE                                 write database, files and keyring into one new file (- is standard output)
  restore FILE [--allow-unencrypted]          restore that file or s3://bucket/prefix/name into an empty installation (- is standard input)
  reencrypt                                   encrypt the stored bytes under the first key of CALLSIGN_BLOB_KEYS, also while the server runs
  upgrade --check [--json]                    list what an upgrade to this version would do. Exits 1 if something has to be solved first
  setup [--answers FILE] [--help]             ask for domain, ports, delivery and certificates, and write callsign.env
  doctor [--json]                             check machine, ports, certificates, database, DNS and mail, and say what to do
ORG is the id of an organization, by default the first one. Settings are listed in docs/configuration.md. They are read from the environment, and from callsign.env in the working or data
directory, or the file of --config FILE.`

type Print = (line: string) => void
type Credentials = ReturnType<typeof createCredentials>
type Options = {
  'allow-unencrypted'?: boolean
  check?: boolean
  json?: boolean
  kind?: string
  name?: string
  organization?: string
  agent?: string
  scope?: string[]
  words: string[]
}
type Context = { config: Config; db: Database; credentials: Credentials; options: Options; print: Print }

/** Runs one command and returns the exit code. Throws CommandFailed with a sentence for the operator. */
export async function runCommand(command: string, args: string[], settings: SettingsSource, print: Print): Promise<number> {
  if (['help', '--help', '-h'].includes(command)) {
    print(usage)
    return 0
  }
  if (command === 'setup') return runSetup(args, print)
  const options = readOptions(args)
  if (command === 'config') {
    for (const line of describeConfig(settings.load())) print(line)
    return 0
  }
  if (command === 'upgrade') return checkUpgradeFor(settings, options, print)
  const ownCommand = ownDatabase[command]
  if (ownCommand) {
    const config = settings.load()
    return ownCommand(config, quietLog(config), options, print)
  }
  const run = commands[command === 'organizations' || command === 'keys' ? `${command} ${options.words.shift() ?? ''}`.trim() : command]
  if (!run) throw new CommandFailed(`unknown command: ${[command, ...args].join(' ')}`, true)
  const config = settings.load()
  const { db, close } = await openForCommand(config, quietLog(config))
  try {
    await run({ config, db, credentials: createCredentials(db), options, print })
    return 0
  } finally {
    await close()
  }
}

const quietLog = (config: Config): Log => createLog(config.logLevel === 'info' ? 'warn' : config.logLevel)

/** Commands that open the database themselves, or not at all. They return the exit code. */
const ownDatabase: Record<string, (config: Config, log: Log, options: Options, print: Print) => Promise<number>> = {
  async backup(config, log, options, print) {
    const path = fileOf('backup', options)
    // Standard output may carry the backup itself.
    const say = path === '-' ? (line: string) => void process.stderr.write(`${line}\n`) : print
    const end = await writeBackup(config, log, path, process.stdout)
    say(`backed up ${describeEnd(end)}. The file holds the keyring and gives access to everything, so keep it secret`)
    if (end.missing_blobs === 0) return 0
    say(`warning: ${count(end.missing_blobs, 'file')} named by the database could not be found. The backup holds everything else.`)
    return 1
  },

  async restore(config, log, options, print) {
    const from = { config, path: fileOf('restore', options), allowPlain: options['allow-unencrypted'] === true }
    print(`restored ${describeEnd(await restoreBackup(from, log, process.stdin))}`)
    return 0
  },

  async reencrypt(config, _log, _options, print) {
    print(await reencryptBlobs(createBlobs(config)))
    return 0
  },

  async imessage(config, _log, _options, print) {
    if (config.publicUrl === null) throw new CommandFailed('the provider needs the address of this server: set CALLSIGN_PUBLIC_URL')
    requireFolder(config.dataDir, 'CALLSIGN_DATA_DIR')
    const token = imessageRouteToken(await openKeyring(config.dataDir))
    print(`${config.publicUrl}${callbackPath(config.imessageProvider, token)}`)
    return 0
  },

  async 'console-hashes'(config, _log, _options, print) {
    await printConsoleHashes(config.consoleDir, print)
    return 0
  },

  async 'console-loader'(config, _log, { words }, print) {
    const server = words[0] ?? config.publicUrl
    if (server === null || words.length > 1) throw new CommandFailed('give the address of the server: callsignd console-loader URL', true)
    if (!/^https?:$/.test(URL.parse(server)?.protocol ?? ''))
      throw new CommandFailed(`${server} is not an address: it must begin with https:// or http://`)
    await printConsoleLoader(config.consoleDir, server.replace(/\/+$/, ''), print)
    return 0
  },

  async doctor(config, log, { json }, print) {
    return (await runDoctor({ config, log, print, isJson: json === true })) ? 0 : 1
  },
}

/** Reads the settings itself, because unknown ones are a finding. */
async function checkUpgradeFor(settings: SettingsSource, options: Options, print: Print): Promise<number> {
  if (!options.check) throw new CommandFailed('upgrade only checks: run callsignd upgrade --check, then start this version', true)
  const { config, unknown } = settings.loadKnown()
  const plan = await checkUpgrade(config, quietLog(config), unknown)
  for (const line of options.json ? [JSON.stringify(plan)] : describePlan(plan)) print(line)
  return plan.problems.length === 0 ? 0 : 1
}

function fileOf(command: string, options: Options): string {
  const [path] = options.words
  if (path === undefined || options.words.length > 1)
    throw new CommandFailed(`${command} needs the name of one file, or - for a pipe`, true)
  return path
}

function describeEnd(end: End): string {
  const rows = Object.values(end.rows).reduce((sum, one) => sum + one, 0)
  return `${count(rows, 'row')} of ${count(Object.keys(end.rows).length, 'table')} and ${count(end.blobs, 'file')}`
}

const count = (number: number, noun: string): string => `${number} ${noun}${number === 1 ? '' : 's'}`

function readOptions(args: string[]): Options {
  try {
    const { values, positionals } = parseArgs({
      args,
      allowPositionals: true,
      options: {
        json: { type: 'boolean' },
        kind: { type: 'string' },
        name: { type: 'string' },
        organization: { type: 'string' },
        agent: { type: 'string' },
        scope: { type: 'string', multiple: true },
        check: { type: 'boolean' },
        'allow-unencrypted': { type: 'boolean' },
      },
    })
    return { ...values, words: positionals }
  } catch (error) {
    throw new CommandFailed((error as Error).message, true)
  }
}

const commands: Record<string, (context: Context) => Promise<void>> = {
  async migrate({ print }) {
    // Opening the database has migrated it.
    print('the tables are up to date')
  },

  async init({ config, db, credentials, print }) {
    const { key } = await ensureFirstKey(db, credentials.accounts, credentials.keys, config.bootstrapApiKey)
    if (key !== null) print(key)
    else print('the database is ready, and its first organization exists already or has the bootstrap key')
  },

  async dkim({ config, db, print }) {
    const sealing = sealingOf((await openKeyring(config.dataDir)).subkey('dkim-keys'))
    const dkim = createDkim({ db, sealing, mailDomain: config.mailDomain })
    await dkim.ensureMailDomainKeys()
    for (const { name, value } of await dkim.listRecords({ organizationId: null, domain: config.mailDomain }))
      print(`${name}. IN TXT ${quotedTxt(value)}`)
  },

  certificates: ({ config, db, options, print }) => {
    const [word, name] = options.words
    if (word === 'renew') return renewCertificate(config, db, name, print)
    if (word !== undefined) throw new CommandFailed(`unknown command: certificates ${word}`, true)
    return listCertificates(config, db, options, print)
  },

  reports: ({ db, options, print }) => printMailDomainReports(db, options, print),

  async 'console-link'({ config, db, credentials, options, print }) {
    const organizationId = await organizationOf(credentials, options)
    const token = await createLinks(db, credentials.accounts).createForOwner(organizationId)
    if (token === null) throw new CommandFailed(`unknown organization: ${organizationId}`)
    print(linkUrl(config.publicUrl ?? `http://localhost:${config.port}`, token))
  },

  async 'organizations list'({ credentials, print }) {
    for (const row of await credentials.accounts.listOrganizations()) print(`${row.id}  ${row.created_at.toISOString()}  ${row.name}`)
  },

  async 'organizations create'({ db, credentials, options, print }) {
    const name = options.name?.trim()
    if (!name || name.length > 200) throw new CommandFailed('organizations create needs --name, at most 200 characters', true)
    const made = await db.transact(async (tx) => {
      const { organizationId, userId } = await credentials.accounts.createOrganization(tx, name)
      const request = { organizationId, userId, name: 'First key', agents: null, scopes: [], allowedIps: [], expiresAt: null }
      return { organizationId, key: (await credentials.keys.insertFromHost(tx, request)).key }
    })
    print(`organization ${made.organizationId}`)
    print(`key (shown this once) ${made.key}`)
  },

  async 'keys list'({ credentials, options, print }) {
    const organizationId = await organizationOf(credentials, options)
    for (const key of await credentials.keys.listFromHost(organizationId)) {
      const state = key.revoked_at ? 'revoked' : key.expires_at ? `expires ${key.expires_at.toISOString()}` : 'active'
      print(`${key.id}  …${key.last4}  ${[key.type, ...key.agent_handles].join(' ')}  ${state}  ${key.name}`)
    }
  },

  async 'keys create'({ db, credentials, options, print }) {
    const organizationId = await organizationOf(credentials, options)
    if (!options.name || options.name.length > 100) throw new CommandFailed('keys create needs --name, at most 100 characters', true)
    const owner = await credentials.accounts.findOwner(organizationId)
    if (!owner) throw new CommandFailed(`unknown organization: ${organizationId}`)
    const agent = options.agent ? await credentials.findAgent(organizationId, options.agent.replace(/^@/, '')) : null
    if (options.agent && !agent) throw new CommandFailed(`the organization has no agent ${options.agent}`)
    const possible: readonly string[] = agent ? agentScopes : scopes
    if (options.scope?.some((scope) => !possible.includes(scope)))
      throw new CommandFailed(`--scope is one of ${possible.join(', ')}${agent ? ' for an agent key' : ''}`, true)
    const request = {
      organizationId,
      userId: owner.userId,
      name: options.name,
      agents: agent && [agent],
      scopes: scopesToStore(agent ? 'agent' : 'organization', (options.scope ?? []) as Scope[]),
      allowedIps: [],
      expiresAt: null,
    }
    const made = await db.transact((tx) => credentials.keys.insertFromHost(tx, request))
    print(`key ${made.id} (shown this once) ${made.key}`)
  },

  async 'keys revoke'({ credentials, options, print }) {
    const organizationId = await organizationOf(credentials, options)
    const [id] = options.words
    if (!id) throw new CommandFailed('keys revoke needs the id of a key', true)
    const at = await credentials.keys.revokeFromHost(organizationId, id).catch(() => null)
    if (!at) throw new CommandFailed(`the organization ${organizationId} has no key ${id}`)
    print(`revoked ${id} ${at.toISOString()}`)
  },
}

async function organizationOf(credentials: Credentials, options: Options): Promise<string> {
  const id = options.organization ?? (await credentials.accounts.findInstallation())
  if (!id) throw new CommandFailed('the database has no organization yet: run callsignd init')
  return id
}
