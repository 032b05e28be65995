// The client is one object with one class per resource.
import { Connection, type ConnectionOptions, type RequestOptions } from './connection/request.ts'
import { Drafts } from './drafts.ts'
import { Events } from './events.ts'
import {
  Addresses,
  Audit,
  type CallerInfo,
  getCaller,
  Identities,
  Keys,
  OrganizationSettings,
  Requests,
  Usage,
} from './resources/account.ts'
import { Approvals, Labels, Templates } from './resources/drafts.ts'
import { Webhooks } from './resources/events.ts'
import { Mail, Threads } from './resources/mail.ts'
import { Domains, MailRules, Suppressions } from './resources/mail-settings.ts'
import { Messages } from './resources/messages.ts'
import { Imessage, Simulator } from './resources/phone.ts'
import { Tunnels } from './tunnels/tunnels.ts'
import { Vault, type VaultOptions } from './vault/vault.ts'
import { Mailboxes, Phone } from './waits.ts'

/**
 * Options of the connection to the server, and of the vault's checks. `url` defaults to the environment variable `CALLSIGN_URL`, and `apiKey` to
 * `CALLSIGN_API_KEY`.
 */
export type CallsignOptions = Partial<ConnectionOptions> & { vault?: VaultOptions }

/** Throws a TypeError that names everything missing. */
function withEnvironment(options: CallsignOptions): CallsignOptions & ConnectionOptions {
  const { process } = globalThis as { process?: { env?: Record<string, string | undefined> } }
  const url = options.url ?? (process?.env?.CALLSIGN_URL || undefined)
  const apiKey = options.apiKey ?? (process?.env?.CALLSIGN_API_KEY || undefined)
  if (url !== undefined && apiKey !== undefined) return { ...options, url, apiKey: options.apiKey ?? apiKey.trim() }
  const missing = [url === undefined && 'url (or CALLSIGN_URL)', apiKey === undefined && 'apiKey (or CALLSIGN_API_KEY)'].filter(Boolean)
  throw new TypeError(
    `${missing.join(' and ')} ${missing.length > 1 ? 'are' : 'is'} missing. Give ${missing.length > 1 ? 'them' : 'it'} to new Callsign().`,
  )
}

/** A client of one Callsign server with one key. It holds no sockets and does not need to be closed. */
export class Callsign {
  readonly organization: OrganizationSettings
  readonly identities: Identities
  readonly addresses: Addresses
  readonly mailboxes: Mailboxes
  readonly messages: Messages
  readonly threads: Threads
  readonly mail: Mail
  readonly drafts: Drafts
  readonly approvals: Approvals
  readonly labels: Labels
  readonly templates: Templates
  readonly domains: Domains
  readonly phone: Phone
  readonly imessage: Imessage
  readonly simulator: Simulator
  readonly mailRules: MailRules
  readonly suppressions: Suppressions
  readonly webhooks: Webhooks
  readonly events: Events
  readonly tunnels: Tunnels
  readonly keys: Keys
  readonly audit: Audit
  readonly usage: Usage
  readonly requests: Requests
  readonly vault: Vault
  readonly #connection: Connection

  constructor(options: CallsignOptions = {}) {
    const connection = new Connection(withEnvironment(options))
    this.#connection = connection
    this.organization = new OrganizationSettings(connection)
    this.identities = new Identities(connection)
    this.addresses = new Addresses(connection)
    this.mailboxes = new Mailboxes(connection)
    this.messages = new Messages(connection)
    this.threads = new Threads(connection)
    this.mail = new Mail(connection)
    this.drafts = new Drafts(connection)
    this.approvals = new Approvals(connection)
    this.labels = new Labels(connection)
    this.templates = new Templates(connection)
    this.domains = new Domains(connection)
    this.phone = new Phone(connection)
    this.imessage = new Imessage(connection)
    this.simulator = new Simulator(connection)
    this.mailRules = new MailRules(connection)
    this.suppressions = new Suppressions(connection)
    this.webhooks = new Webhooks(connection)
    this.events = new Events(connection)
    this.tunnels = new Tunnels(connection)
    this.keys = new Keys(connection)
    this.audit = new Audit(connection)
    this.usage = new Usage(connection)
    this.requests = new Requests(connection)
    this.vault = new Vault(connection, options.vault)
  }

  /** Returns the organization, and the agent if any, that the key belongs to. */
  me(options?: RequestOptions): Promise<CallerInfo> {
    return getCaller(this.#connection, options)
  }
}
