// The servers of a connection string, and how a session starts on one of them, also through PgBouncer.
import pg from 'pg'
import { nowMs } from '../../core/clock.ts'
import { DatabaseUnavailable } from '../../core/sql.ts'
import { typeParsers } from './types.ts'

/** Address of the embedded database. `host` is the directory of its socket. */
export type Connection = { host: string; port: number; user: string; database: string }

export type Target = { connectionString: string } | Connection

/** The kind of server that sessions go to. */
export type Wanted = 'primary' | 'replica'

/** Well above the time of a connection across a continent. A frozen server accepts connections and never answers. */
const connectTimeoutMs = 3_000

/**
 * Settings of every session.
 * Generic plans: the planner assumes that a list of ids has ten entries. For one id it would therefore find a custom plan cheaper each
 * time, and spend longer on planning than on execution (measured: 0.42 ms against 0.16 ms for a key's row).
 * Most plans are made while tables are empty or queues are drained, when a sequential scan costs least. As the tables grow, every use of
 * such a plan would read them whole, including foreign key checks, until the statistics are updated. Sequential scans are therefore
 * disabled where an index exists.
 * A transaction that is idle for 30 seconds holds locks for nothing.
 */
export const sessionSettings = {
  timezone: 'UTC',
  plan_cache_mode: 'force_generic_plan',
  enable_seqscan: 'off',
  statement_timeout: '30s',
  idle_in_transaction_session_timeout: '30s',
}
const settingNames = Object.keys(sessionSettings) as (keyof typeof sessionSettings)[]
/** The last value of a setting holds, so that `options` of a connection string cannot change these. */
const sessionOptions = Object.entries(sessionSettings).map(([name, value]) => `-c ${name}=${value}`)
const settingValue = (name: keyof typeof sessionSettings): string => sessionSettings[name]

/** The errors of `pg` for a server that does not answer in time. */
const noAnswer = /timeout/i
const avoidedMs = 10_000

/** The error of `pg` for a server without TLS. */
const withoutTls = /does not support SSL/

/** PgBouncer's answer to a session that starts with settings. */
const poolerRefusal = /unsupported startup parameter/

/** The server of a session. */
type Found = { is_read_only: boolean; server: string; different: typeof settingNames | null; role: string }

const findText = `SELECT current_setting('transaction_read_only') = 'on' AS is_read_only,
    pg_postmaster_start_time()::text || ' ' || coalesce(inet_server_addr()::text, '') AS server, current_user AS role,
    (SELECT array_agg(name) FROM unnest($1::text[], $2::text[]) AS wanted (name, value) WHERE lower(current_setting(name)) <> lower(value)) AS different`

/** The servers of a connection string. With several hosts, sessions go to one that accepts writes, or to a replica if `wanted` says so. */
export class Servers {
  readonly #wanted: Wanted
  /** One per host. */
  readonly #configs: pg.ClientConfig[]
  #at = 0
  /** Until this time, a host that did not answer is used only if all are such. */
  readonly #avoidedUntilMs: number[]
  #isPooled = false
  #keepsStatements = true

  constructor(target: Target, wanted: Wanted = 'primary') {
    this.#wanted = wanted
    this.#configs = configsOf(target)
    this.#avoidedUntilMs = this.#configs.map(() => 0)
  }

  /** The number of the host that the next session goes to. */
  get at(): number {
    return this.#at
  }

  /** False behind a pooler that loses prepared statements, as PgBouncer does before version 1.21 or without `max_prepared_statements`. */
  get keepsStatements(): boolean {
    return this.#keepsStatements
  }

  /** The configuration of a new session. */
  config(): pg.ClientConfig {
    const given = this.#configs[this.#at] as pg.ClientConfig
    const config = {
      ...given,
      types: typeParsers,
      application_name: 'callsign',
      ...(this.#isPooled ? {} : { options: [given.options, ...sessionOptions].filter(Boolean).join(' ') }),
      connectionTimeoutMillis: connectTimeoutMs,
      keepAlive: true,
      keepAliveInitialDelayMillis: 5_000,
      // Statements issued concurrently in one transaction are sent without waiting for each other's answers.
      pipeline: true,
    }
    return config as pg.ClientConfig
  }

  /** A session on this host did not start. The next one tries another host, or leaves out what a pooler refuses. Returns the error to report. */
  failed(at: number, error: Error): Error {
    if (poolerRefusal.test(error.message)) this.#isPooled = true
    else if (at === this.#at) {
      // A replica refuses at once, and one of them is the next primary. Waiting for a dead host in every round would find it late.
      if (noAnswer.test(error.message)) this.#avoidedUntilMs[at] = nowMs() + avoidedMs
      const others = this.#configs.map((_, index) => (at + 1 + index) % this.#configs.length)
      this.#at = others.find((other) => (this.#avoidedUntilMs[other] as number) <= nowMs()) ?? (others[0] as number)
    }
    return withoutTls.test(error.message) && this.#configs.length > 1 ? new DatabaseUnavailable(error.message, error) : error
  }

  /**
   * Checks a new session, and resolves with the identity of its server, which a restart or a failover changes. Rejects with
   * DatabaseUnavailable when the server is not the wanted kind, and with an error that says what to do when a pooler drops the settings.
   */
  async check(client: pg.ClientBase): Promise<string> {
    const statement = { text: findText, values: [settingNames, settingNames.map(settingValue)], query_timeout: connectTimeoutMs }
    const { rows } = await client.query<Found>(statement as pg.QueryConfig)
    const found = rows[0] as Found
    if (found.is_read_only && this.#wanted === 'primary')
      throw new DatabaseUnavailable('The database server accepts no writes: it is a replica.', null)
    if (!found.is_read_only && this.#wanted === 'replica')
      throw new DatabaseUnavailable('The database server accepts writes: it is not a replica.', null)
    if (found.different !== null) throw new Error(settingsAreLost(found))
    if (this.#isPooled) this.#keepsStatements = await keepsStatements(client)
    return found.server
  }
}

/** A connection that goes to the host whose turn it is. */
export class Session extends pg.Client {
  readonly #servers: Servers
  readonly #at: number

  constructor(servers: Servers) {
    super(servers.config())
    this.#servers = servers
    this.#at = servers.at
  }

  /** Connects and checks the server. Needs a callback, which gets an error or nothing. */
  override connect(callback?: unknown): Promise<never> {
    const done = (error?: Error) => {
      ;(callback as (error?: Error) => void)(error && this.#servers.failed(this.#at, error))
    }
    super.connect((error: Error) => (error ? done(error) : this.#check().then(() => done(), done)))
    return new Promise(() => {})
  }

  /** The identity of the server, once connected. */
  server = ''

  async #check(): Promise<void> {
    try {
      this.server = await this.#servers.check(this)
    } catch (error) {
      this.end().catch(() => {})
      throw error
    }
  }
}

const settingsAreLost = ({ different, role }: Found): string => {
  const commands = (different ?? []).map(
    (name) => `ALTER ROLE ${pg.escapeIdentifier(role)} SET ${name} = ${pg.escapeLiteral(settingValue(name))};`,
  )
  return `The connection pooler drops settings of sessions. Run ${commands.join(' ')} and RECONNECT in PgBouncer's console, then start again.`
}

/** True when the pooler keeps track of prepared statements, which shows in the names that it gives them. */
async function keepsStatements(client: pg.ClientBase): Promise<boolean> {
  const name = 'callsign-check'
  await client.query('BEGIN')
  try {
    await client.query({ name, text: 'SELECT 1' })
    const { rowCount } = await client.query('SELECT FROM pg_prepared_statements WHERE name = $1', [name])
    if (rowCount === 0) return true
    await client.query(`DEALLOCATE ${pg.escapeIdentifier(name)}`)
    return false
  } finally {
    await client.query('ROLLBACK')
  }
}

/** The configurations of `pg` for each host, in the order in which they are tried. */
export const configsOf = (target: Target): pg.ClientConfig[] =>
  targetsOf(target).flatMap((one) => ('connectionString' in one ? readParameters(one.connectionString) : [{ ...one, ssl: false }]))

/**
 * Reads the parameters that `pg` does not treat as libpq does. `options` would replace those of the session. `sslmode=prefer` is TLS with any
 * certificate, and without TLS where that fails.
 */
function readParameters(connectionString: string): pg.ClientConfig[] {
  const [start = '', query = ''] = connectionString.split(/\?(.*)/s)
  const parameters = new URLSearchParams(query)
  const options = parameters.get('options')
  const isPreferred = parameters.get('sslmode') === 'prefer'
  if (options === null && !isPreferred) return [{ connectionString }]
  parameters.delete('options')
  if (isPreferred) parameters.delete('sslmode')
  const given = { connectionString: `${start}?${parameters}`, ...(options === null ? {} : { options }) }
  return isPreferred
    ? [
        { ...given, ssl: { rejectUnauthorized: false } },
        { ...given, ssl: false },
      ]
    : [given]
}

/** A target per host. */
export const targetsOf = (target: Target): Target[] =>
  'connectionString' in target ? splitHosts(target.connectionString).map((connectionString) => ({ connectionString })) : [target]

/** One connection string per host of `postgres://user@host1:5432,host2:5432/name`, as libpq writes it. */
function splitHosts(connectionString: string): string[] {
  const [, before, hosts, after] = /^(postgres(?:ql)?:\/\/(?:[^/?#]*@)?)([^/?#@]*)(.*)$/s.exec(connectionString) ?? []
  if (before === undefined || hosts === undefined || !hosts.includes(',')) return [connectionString]
  return hosts.split(',').map((host) => `${before}${host}${after}`)
}
