// Every setting: name, default, check, sentence. The only file that reads the environment; docs/configuration.md is printed from it.
import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import {
  cidrList,
  databaseUrl,
  decimal,
  domainName,
  e164,
  integer,
  isPrivateHost,
  isServerAddress,
  oneOf,
  secondsList,
  signingSecret,
  url,
} from './setting-values.ts'

type Setting<T> = {
  name: string
  /** The text that stands for an absent variable; null when absent is a value of its own. */
  fallback: string | null
  /** How the default reads in the documentation, when it is computed. */
  shown?: string
  sentence: string
  /** True when the value may also come from the file named by NAME_FILE, and is never printed. */
  secret?: boolean
  /** Returns the value, or throws an Error whose message says what the value must be. */
  read: (text: string) => T
}

const setting = <T>(row: Setting<T>): Setting<T> => row

const roles = ['api', 'smtp', 'worker', 'gateway'] as const
export type Role = (typeof roles)[number]

const settings = {
  port: setting({
    name: 'CALLSIGN_PORT',
    fallback: '8080',
    sentence: 'HTTP port: API, media, and tunnels by host name. 0 means any free port, which is printed.',
    read: integer(0, 65535),
  }),
  host: setting({ name: 'CALLSIGN_HOST', fallback: '127.0.0.1', sentence: 'Address that HTTP and SMTP listen on.', read: (text) => text }),
  smtpPort: setting({
    name: 'CALLSIGN_SMTP_PORT',
    fallback: '2525',
    sentence: 'Inbound SMTP port (25 in production). 0 means any free port, which is printed; `off` means none.',
    read: (text) => (text === 'off' ? null : integer(0, 65535)(text)),
  }),
  publicUrl: setting({
    name: 'CALLSIGN_PUBLIC_URL',
    fallback: null,
    shown: 'http://localhost:<port>',
    sentence: 'The address that clients reach the server at; links are made from it.',
    read: url('http:', 'https:'),
  }),
  mailDomain: setting({
    name: 'CALLSIGN_MAIL_DOMAIN',
    fallback: 'agents.localhost',
    sentence: 'Mailboxes are <handle>@ this domain.',
    read: domainName,
  }),
  tunnelDomain: setting({
    name: 'CALLSIGN_TUNNEL_DOMAIN',
    fallback: 'tunnel.localhost',
    sentence: 'Tunnels are https://<handle>. this domain.',
    read: domainName,
  }),
  tunnelHttpsPort: setting({
    name: 'CALLSIGN_TUNNEL_HTTPS_PORT',
    fallback: 'off',
    sentence:
      'A port of its own for https:// to tunnels; 0 means any free port, which is printed; `off` means none, because a proxy in front does it.',
    read: (text) => (text === 'off' ? null : integer(0, 65535)(text)),
  }),
  tunnelTlsCertFile: setting({
    name: 'CALLSIGN_TUNNEL_TLS_CERT_FILE',
    fallback: null,
    shown: '(made by a local authority in <data>/tunnel-authority)',
    sentence: 'PEM certificate chain of that port, good for *. the tunnel domain; read again when it changes.',
    read: (text) => resolve(text),
  }),
  tunnelTlsKeyFile: setting({
    name: 'CALLSIGN_TUNNEL_TLS_KEY_FILE',
    fallback: null,
    sentence: 'PEM private key of that certificate.',
    read: (text) => resolve(text),
  }),
  tunnelConnectUrl: setting({
    name: 'CALLSIGN_TUNNEL_CONNECT_URL',
    fallback: null,
    shown: '(the address of the API)',
    sentence: 'Where clients of tunnels connect, when gateways are reached at another address than the API.',
    read: url('http:', 'https:'),
  }),
  tunnelAnswerSeconds: setting({
    name: 'CALLSIGN_TUNNEL_ANSWER_SECONDS',
    fallback: '120',
    sentence: 'How long the target of a tunnel may take to begin its answer; the answer itself may take any time.',
    read: integer(1, 86_400),
  }),
  tunnelRequestsMax: setting({
    name: 'CALLSIGN_TUNNEL_REQUESTS_PER_CLIENT',
    fallback: '1024',
    sentence: 'Requests that one connection of a tunnel client may have under way.',
    read: integer(1, 100_000),
  }),
  tunnelPerSecond: setting({
    name: 'CALLSIGN_RATE_LIMIT_TUNNEL',
    fallback: '0',
    sentence: 'Requests a second that one tunnel takes on one node (bursts of twice that); 0 means no limit.',
    read: integer(0, 1_000_000),
  }),
  tunnelPingSeconds: setting({
    name: 'CALLSIGN_TUNNEL_PING_SECONDS',
    fallback: '10',
    sentence: 'A silent tunnel client is asked after so long whether it lives, and is dead after as long again, or 10 seconds.',
    read: integer(1, 300),
  }),
  tunnelWindowMegabytes: setting({
    name: 'CALLSIGN_TUNNEL_WINDOW_MEGABYTES',
    fallback: '256',
    sentence: 'What the windows of all tunnel streams of one node may grow by together.',
    read: integer(0, 100_000),
  }),
  trustedProxies: setting({
    name: 'CALLSIGN_TRUSTED_PROXIES',
    fallback: '',
    shown: '(none)',
    sentence: 'Proxies in front of tunnels, whose X-Forwarded headers are believed and gone on with: a comma list of CIDRs.',
    read: cidrList,
  }),
  gatewayHost: setting({
    name: 'CALLSIGN_GATEWAY_HOST',
    fallback: '127.0.0.1',
    sentence: 'Address that the port for other gateway nodes listens on; used with CALLSIGN_DATABASE_URL only.',
    read: (text) => text,
  }),
  gatewayPort: setting({
    name: 'CALLSIGN_GATEWAY_PORT',
    fallback: '0',
    sentence: 'Port for other gateway nodes, encrypted with the keyring that all of them share. 0 means any free port; `off` means none.',
    read: (text) => (text === 'off' ? null : integer(0, 65535)(text)),
  }),
  gatewayAddress: setting({
    name: 'CALLSIGN_GATEWAY_ADDRESS',
    fallback: null,
    shown: 'CALLSIGN_GATEWAY_HOST and the port',
    sentence: 'Where other gateway nodes reach this one, host:port.',
    read: (text) => {
      if (!/^(\[[0-9a-f:.]+\]|[A-Za-z0-9.-]+):\d{1,5}$/.test(text)) throw new Error('must be host:port')
      return text
    },
  }),
  dataDir: setting({
    name: 'CALLSIGN_DATA_DIR',
    fallback: './data',
    sentence: 'Everything embedded lives here: database, blobs, keyring.',
    read: (text) => resolve(text),
  }),
  databaseUrl: setting({
    name: 'CALLSIGN_DATABASE_URL',
    fallback: null,
    shown: '(embedded PostgreSQL)',
    sentence: 'postgres://… switches to an external PostgreSQL, version 15 or newer.',
    secret: true,
    read: databaseUrl,
  }),
  blobs: setting({
    name: 'CALLSIGN_BLOBS',
    fallback: 'file:',
    shown: 'file:<data>/blobs',
    sentence: 'Where large bytes live: file:<folder>, or s3://bucket/prefix with the usual AWS variables and CALLSIGN_S3_ENDPOINT.',
    read: (text) => {
      if (text === 'file:') return { kind: 'file' as const, folder: null }
      if (text.startsWith('file:')) return { kind: 'file' as const, folder: resolve(text.slice(5)) }
      const s3 = /^s3:\/\/([a-z0-9][a-z0-9.-]{1,61}[a-z0-9])(?:\/([A-Za-z0-9._/-]*))?$/.exec(text)
      if (s3) return { kind: 's3' as const, bucket: s3[1] as string, prefix: (s3[2] ?? '').replace(/^\/+|\/+$/g, '') }
      throw new Error('must be file:<folder> or s3://bucket/prefix')
    },
  }),
  s3Endpoint: setting({
    name: 'CALLSIGN_S3_ENDPOINT',
    fallback: null,
    sentence: 'The S3 endpoint, when it is not AWS itself.',
    read: url('http:', 'https:'),
  }),
  roles: setting({
    name: 'CALLSIGN_ROLES',
    fallback: 'all',
    sentence: `Parts that this process runs: a comma list of ${roles.join(', ')}, or all.`,
    read: (text): Role[] => {
      if (text === 'all') return [...roles]
      return text.split(',').map((part) => oneOf(...roles)(part.trim()))
    },
  }),
  bootstrapApiKey: setting({
    name: 'CALLSIGN_BOOTSTRAP_API_KEY',
    fallback: null,
    sentence: 'A well-formed organization key that the first start installs; otherwise one is generated and printed once.',
    secret: true,
    read: (text) => text.trim(),
  }),
  mailTransport: setting({
    name: 'CALLSIGN_MAIL_TRANSPORT',
    fallback: 'simulator',
    sentence:
      "How mail leaves: simulator records it and dials nobody, relay hands it to CALLSIGN_SMTP_RELAY_URL, direct to the recipients' own mail servers. Mail between hosted agents is always delivered.",
    read: oneOf('simulator', 'relay', 'direct'),
  }),
  smtpRelayUrl: setting({
    name: 'CALLSIGN_SMTP_RELAY_URL',
    fallback: null,
    sentence: 'The relay: smtp://[user:password@]host:port, or smtps:// for TLS from the first byte.',
    secret: true,
    read: url('smtp:', 'smtps:'),
  }),
  directPort: setting({
    name: 'CALLSIGN_MAIL_DIRECT_PORT',
    fallback: '25',
    sentence: 'Port that direct delivery dials. Mail servers of the Internet listen on 25; others are for tests and closed networks.',
    read: integer(1, 65535),
  }),
  agentLoopSeconds: setting({
    name: 'CALLSIGN_AGENT_LOOP_SECONDS',
    fallback: '600',
    sentence:
      'Of more than 20 messages within this time between two agents here on one thread, the rest wait until it has passed; 0 means they never do.',
    read: integer(0, 86_400),
  }),
  mailRetrySeconds: setting({
    name: 'CALLSIGN_MAIL_RETRY_SECONDS',
    fallback: '60,300,900,1800,3600,7200,14400,14400,14400,14400,14400,14400,14400,14400,14400,14400,14400',
    shown: '1 m, 5 m, 15 m, 30 m, 1 h, 2 h, then every 4 h, 48 h in all',
    sentence:
      'Delays between attempts to deliver a message, in seconds; after the last one, or once it has waited as long as all of them together, the message has failed.',
    read: secondsList,
  }),
  webhookRetrySeconds: setting({
    name: 'CALLSIGN_WEBHOOK_RETRY_SECONDS',
    fallback: '5,300,1800,7200,18000,36000,50400,72000,86400',
    shown: '5 s, 5 m, 30 m, 2 h, 5 h, 10 h, 14 h, 20 h, 24 h',
    sentence: 'Delays between attempts to deliver an event to a webhook, in seconds; after the last one the delivery has failed.',
    read: secondsList,
  }),
  phoneProvider: setting({
    name: 'CALLSIGN_PHONE_PROVIDER',
    fallback: 'simulator',
    sentence: 'Who sells new phone numbers: simulator (numbers that nobody can dial), telnyx or twilio.',
    read: oneOf('simulator', 'telnyx', 'twilio'),
  }),
  telnyxApiKey: setting({
    name: 'CALLSIGN_TELNYX_API_KEY',
    fallback: null,
    sentence: 'An API v2 key of Telnyx.',
    secret: true,
    read: (text) => text.trim(),
  }),
  telnyxPublicKey: setting({
    name: 'CALLSIGN_TELNYX_PUBLIC_KEY',
    fallback: null,
    sentence: 'The public key by which the account signs its callbacks: 32 bytes in base64.',
    read: (text) => {
      if (Buffer.from(text, 'base64').length !== 32) throw new Error('must be 32 bytes in base64, as Mission Control shows them')
      return text
    },
  }),
  telnyxMessagingProfileId: setting({
    name: 'CALLSIGN_TELNYX_MESSAGING_PROFILE_ID',
    fallback: null,
    sentence: 'A messaging profile for Callsign alone: it sets the callback address of the profile to its own.',
    read: (text) => text.trim(),
  }),
  telnyxApiUrl: setting({
    name: 'CALLSIGN_TELNYX_API_URL',
    fallback: 'https://api.telnyx.com',
    sentence: 'The address of the Telnyx API.',
    read: url('http:', 'https:'),
  }),
  twilioAccountSid: setting({
    name: 'CALLSIGN_TWILIO_ACCOUNT_SID',
    fallback: null,
    sentence: 'The account of Twilio.',
    read: (text) => {
      if (!/^AC[0-9a-f]{32}$/i.test(text)) throw new Error('must be AC and 32 hexadecimal digits')
      return text
    },
  }),
  twilioAuthToken: setting({
    name: 'CALLSIGN_TWILIO_AUTH_TOKEN',
    fallback: null,
    sentence: 'The auth token of that account: it signs callbacks, so an API key will not do.',
    secret: true,
    read: (text) => text.trim(),
  }),
  twilioApiUrl: setting({
    name: 'CALLSIGN_TWILIO_API_URL',
    fallback: 'https://api.twilio.com',
    sentence: 'The address of the Twilio API.',
    read: url('http:', 'https:'),
  }),
  phonePollSeconds: setting({
    name: 'CALLSIGN_PHONE_POLL_SECONDS',
    fallback: '5',
    sentence: 'How often a phone provider is asked how far an order or a pending number is.',
    read: decimal(0.02, 3600),
  }),
  phoneCatchUpSeconds: setting({
    name: 'CALLSIGN_PHONE_CATCH_UP_SECONDS',
    fallback: '300',
    sentence: 'How often the list of inbound texts is read for those that no callback brought; it is read at the start as well.',
    read: decimal(0.05, 86_400),
  }),
  simSmsReadyMs: setting({
    name: 'CALLSIGN_SIM_SMS_READY_MS',
    fallback: '3000',
    sentence: 'How long a simulated phone number stays pending, in milliseconds.',
    read: integer(0, 86_400_000),
  }),
  smtpTlsCertFile: setting({
    name: 'CALLSIGN_SMTP_TLS_CERT_FILE',
    fallback: null,
    sentence: 'PEM certificate chain for STARTTLS; without it one is generated.',
    read: (text) => resolve(text),
  }),
  smtpTlsKeyFile: setting({
    name: 'CALLSIGN_SMTP_TLS_KEY_FILE',
    fallback: null,
    sentence: 'PEM private key of that certificate.',
    read: (text) => resolve(text),
  }),
  smtpConnectionsPerClient: setting({
    name: 'CALLSIGN_SMTP_CONNECTIONS_PER_CLIENT',
    fallback: '20',
    sentence: 'SMTP connections that one address may hold open; 0 means no limit. Loopback is never limited.',
    read: integer(0, 100_000),
  }),
  postmaster: setting({
    name: 'CALLSIGN_POSTMASTER',
    fallback: null,
    shown: "(the first organization's first agent)",
    sentence: 'Handle of the agent who gets mail for postmaster@ and abuse@ the mail domain.',
    read: (text) => text.replace(/^@/, '').toLowerCase(),
  }),
  outboundAllowCidrs: setting({
    name: 'CALLSIGN_OUTBOUND_ALLOW_CIDRS',
    fallback: '',
    shown: '(none)',
    sentence:
      'Ranges that fetches of caller-supplied URLs and direct mail delivery may reach in addition to public addresses: a comma list of CIDRs.',
    read: cidrList,
  }),
  dnsServers: setting({
    name: 'CALLSIGN_DNS_SERVERS',
    fallback: '',
    shown: "(the system's)",
    sentence: "Resolvers to ask instead of the system's: a comma list of addresses, each with an optional :port.",
    read: (text) => {
      const servers = text.split(',').flatMap((part) => (part.trim() ? [part.trim()] : []))
      for (const server of servers)
        if (!isServerAddress(server)) throw new Error('must be a comma list of addresses such as 127.0.0.1:5353 or [::1]:53')
      return servers
    },
  }),
  domainProvider: setting({
    name: 'CALLSIGN_DOMAIN_PROVIDER',
    fallback: 'builtin',
    sentence: 'Who serves custom domains when a request does not say: builtin is this server, resend needs CALLSIGN_RESEND_API_KEY.',
    read: oneOf('builtin', 'resend'),
  }),
  domainRecheckSeconds: setting({
    name: 'CALLSIGN_DOMAIN_RECHECK_SECONDS',
    fallback: '21600',
    shown: '21600 (6 hours)',
    sentence: 'How often a verified custom domain is looked at again; after 72 hours of wrong records it has failed.',
    read: decimal(0.05, 604_800),
  }),
  resendApiKey: setting({
    name: 'CALLSIGN_RESEND_API_KEY',
    fallback: null,
    sentence: 'Key of a Resend account, with full access; with it the domain provider resend can be used.',
    secret: true,
    read: (text) => {
      if (!/^[!-~]{8,200}$/.test(text)) throw new Error('must be a key such as re_…')
      return text
    },
  }),
  resendUrl: setting({
    name: 'CALLSIGN_RESEND_URL',
    fallback: 'https://api.resend.com',
    sentence: 'Where the API of Resend is.',
    read: url('http:', 'https:'),
  }),
  organizationKeyPerSecond: setting({
    name: 'CALLSIGN_RATE_LIMIT_ORGANIZATION_KEY',
    fallback: '20000',
    sentence: 'Requests a second that one organization key may make on one node (bursts of twice that); 0 means no limit.',
    read: integer(0, 1_000_000),
  }),
  agentKeyPerSecond: setting({
    name: 'CALLSIGN_RATE_LIMIT_AGENT_KEY',
    fallback: '500',
    sentence: 'Requests a second that one agent key may make on one node (bursts of twice that); 0 means no limit.',
    read: integer(0, 1_000_000),
  }),
  imessageProvider: setting({
    name: 'CALLSIGN_IMESSAGE_PROVIDER',
    fallback: 'simulator',
    sentence:
      'Who connects to iMessage: simulator (nobody; phones are simulated), bluebubbles (a Mac of yours) or linq. docs/operating.md tells how.',
    read: oneOf('simulator', 'bluebubbles', 'linq'),
  }),
  imessageLine: setting({
    name: 'CALLSIGN_IMESSAGE_LINE',
    fallback: null,
    shown: '(simulator: +18005550199; linq: the first of the account)',
    sentence: 'The number of the router line, E.164. BlueBubbles needs it: the number at which the Mac is reached.',
    read: e164,
  }),
  imessageDisplayName: setting({
    name: 'CALLSIGN_IMESSAGE_DISPLAY_NAME',
    fallback: 'Callsign',
    sentence: 'What the router line is called where people are shown it.',
    read: (text) => {
      if (text.length > 100) throw new Error('must have at most 100 characters')
      return text
    },
  }),
  imessageAllowCold: setting({
    name: 'CALLSIGN_IMESSAGE_ALLOW_COLD',
    fallback: 'false',
    sentence: 'true lets agents write to numbers that never connected to them.',
    read: (text) => oneOf('true', 'false')(text) === 'true',
  }),
  imessagePollSeconds: setting({
    name: 'CALLSIGN_IMESSAGE_POLL_SECONDS',
    fallback: null,
    shown: '20 (bluebubbles), 300 (linq)',
    sentence: 'How often the provider is asked for messages whose callbacks were lost.',
    read: decimal(0.05, 3600),
  }),
  imessageRetrySeconds: setting({
    name: 'CALLSIGN_IMESSAGE_RETRY_SECONDS',
    fallback: '2,10,30,120,600,1800,3600,7200,14400,28800',
    shown: '2 s, 10 s, 30 s, 2 m, 10 m, 30 m, 1 h, 2 h, 4 h, 8 h',
    sentence: 'Delays between attempts to hand a message to a provider that did not take it, in seconds; after the last one it has failed.',
    read: secondsList,
  }),
  blueBubblesUrl: setting({
    name: 'CALLSIGN_BLUEBUBBLES_URL',
    fallback: null,
    sentence: 'The BlueBubbles server. Plain http only to a private address: its password travels in every request.',
    read: url('http:', 'https:'),
  }),
  blueBubblesPassword: setting({
    name: 'CALLSIGN_BLUEBUBBLES_PASSWORD',
    fallback: null,
    sentence: 'Its server password.',
    secret: true,
    read: (text) => text,
  }),
  blueBubblesMethod: setting({
    name: 'CALLSIGN_BLUEBUBBLES_METHOD',
    fallback: 'apple-script',
    sentence: 'How the Mac sends: apple-script, or private-api where that is set up.',
    read: oneOf('apple-script', 'private-api'),
  }),
  blueBubblesSettleSeconds: setting({
    name: 'CALLSIGN_BLUEBUBBLES_SETTLE_SECONDS',
    fallback: '150,1230',
    sentence:
      'For a text and for a file: how long after a send without an answer the Mac may still send it. Only then is one that is not in its list sent again.',
    read: (text) => {
      const [textSeconds, fileSeconds, ...more] = secondsList(text)
      if (textSeconds === undefined || fileSeconds === undefined || more.length > 0)
        throw new Error('must be two numbers of seconds such as 150,1230')
      return { text: textSeconds * 1000, file: fileSeconds * 1000 }
    },
  }),
  linqApiKey: setting({
    name: 'CALLSIGN_LINQ_API_KEY',
    fallback: null,
    sentence: 'The API key of the Linq account.',
    secret: true,
    read: (text) => text.trim(),
  }),
  linqWebhookSecret: setting({
    name: 'CALLSIGN_LINQ_WEBHOOK_SECRET',
    fallback: null,
    sentence: 'The signing secret of the webhook subscription, whsec_…; without it what comes in is found by asking alone.',
    secret: true,
    read: signingSecret,
  }),
  linqUrl: setting({
    name: 'CALLSIGN_LINQ_URL',
    fallback: 'https://api.linqapp.com/api/partner',
    sentence: 'The address of the Linq API.',
    read: url('http:', 'https:'),
  }),
  databaseConnections: setting({
    name: 'CALLSIGN_DATABASE_CONNECTIONS',
    fallback: '10',
    sentence: 'Connections to the database that one process keeps.',
    read: integer(2, 200),
  }),
  drainSeconds: setting({
    name: 'CALLSIGN_DRAIN_SECONDS',
    fallback: '30',
    sentence: 'How long a stop waits for work in progress.',
    read: integer(0, 3600),
  }),
  logLevel: setting({
    name: 'CALLSIGN_LOG_LEVEL',
    fallback: 'info',
    sentence: 'Least severe log line that is written to standard error.',
    read: oneOf('debug', 'info', 'warn', 'error', 'silent'),
  }),
}

type Settings = typeof settings
type Read = { [K in keyof Settings]: Settings[K] extends Setting<infer T> ? T | null : never }

/** The AWS variables, read only when blobs live in S3. */
export type AwsCredentials = { region: string; accessKeyId: string; secretAccessKey: string; sessionToken: string | null }

type Always = Exclude<
  keyof Settings,
  | 'telnyxApiKey'
  | 'telnyxPublicKey'
  | 'telnyxMessagingProfileId'
  | 'twilioAccountSid'
  | 'twilioAuthToken'
  | 'publicUrl'
  | 'databaseUrl'
  | 's3Endpoint'
  | 'bootstrapApiKey'
  | 'smtpRelayUrl'
  | 'smtpTlsCertFile'
  | 'smtpTlsKeyFile'
  | 'smtpPort'
  | 'resendApiKey'
  | 'imessageLine'
  | 'imessagePollSeconds'
  | 'blueBubblesUrl'
  | 'blueBubblesPassword'
  | 'linqApiKey'
  | 'linqWebhookSecret'
  | 'tunnelHttpsPort'
  | 'tunnelTlsCertFile'
  | 'tunnelTlsKeyFile'
  | 'tunnelConnectUrl'
  | 'gatewayPort'
  | 'gatewayAddress'
>
export type Config = { [K in Always]: NonNullable<Read[K]> } & { [K in Exclude<keyof Settings, Always>]: Read[K] } & {
  aws: AwsCredentials | null
}

/** A setting that stops the start, with the sentence to print. */
export class BadSetting extends Error {
  override name = 'BadSetting'
}

/** Reads every setting. Throws BadSetting for a bad value, an unknown CALLSIGN_ name, or settings that need one another. */
export function readConfig(environment: Record<string, string | undefined> = process.env): Config {
  const rows = Object.entries(settings) as [keyof Settings, Setting<unknown>][]
  const known = new Set(rows.flatMap(([, row]) => (row.secret ? [row.name, `${row.name}_FILE`] : [row.name])))
  for (const name of Object.keys(environment)) {
    if (name.startsWith('CALLSIGN_') && !name.startsWith('CALLSIGN_TEST_') && !clientNames.has(name) && !known.has(name)) {
      throw new BadSetting(`${name} is not a setting of callsignd; see docs/configuration.md`)
    }
  }
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
  checkImessage(config)
  if (config.mailTransport === 'relay' && !config.smtpRelayUrl)
    throw new BadSetting('CALLSIGN_MAIL_TRANSPORT=relay needs CALLSIGN_SMTP_RELAY_URL')
  if (config.domainProvider === 'resend' && config.resendApiKey === null)
    throw new BadSetting('CALLSIGN_DOMAIN_PROVIDER=resend needs CALLSIGN_RESEND_API_KEY')
  if (!config.smtpTlsCertFile !== !config.smtpTlsKeyFile)
    throw new BadSetting('CALLSIGN_SMTP_TLS_CERT_FILE and CALLSIGN_SMTP_TLS_KEY_FILE go together')
  const isTelnyx = Boolean(config.telnyxApiKey && config.telnyxPublicKey && config.telnyxMessagingProfileId)
  if (config.phoneProvider === 'telnyx' && !isTelnyx) {
    throw new BadSetting(
      'CALLSIGN_PHONE_PROVIDER=telnyx needs CALLSIGN_TELNYX_API_KEY, CALLSIGN_TELNYX_PUBLIC_KEY and CALLSIGN_TELNYX_MESSAGING_PROFILE_ID',
    )
  }
  if (config.phoneProvider === 'twilio' && !(config.twilioAccountSid && config.twilioAuthToken))
    throw new BadSetting('CALLSIGN_PHONE_PROVIDER=twilio needs CALLSIGN_TWILIO_ACCOUNT_SID and CALLSIGN_TWILIO_AUTH_TOKEN')
  if (!config.tunnelTlsCertFile !== !config.tunnelTlsKeyFile)
    throw new BadSetting('CALLSIGN_TUNNEL_TLS_CERT_FILE and CALLSIGN_TUNNEL_TLS_KEY_FILE go together')
  if (config.blobs.kind === 's3') config.aws = readAws(environment)
  return config
}

function checkImessage(config: Config): void {
  if (config.imessageProvider === 'bluebubbles') {
    if (!config.blueBubblesUrl || !config.blueBubblesPassword || !config.imessageLine)
      throw new BadSetting(
        'CALLSIGN_IMESSAGE_PROVIDER=bluebubbles needs CALLSIGN_BLUEBUBBLES_URL, CALLSIGN_BLUEBUBBLES_PASSWORD and CALLSIGN_IMESSAGE_LINE',
      )
    if (config.blueBubblesUrl.startsWith('http:') && !isPrivateHost(new URL(config.blueBubblesUrl).hostname))
      throw new BadSetting('CALLSIGN_BLUEBUBBLES_URL may be http:// to localhost or a private address only; use https://, or a VPN')
  }
  if (config.imessageProvider === 'linq' && !config.linqApiKey)
    throw new BadSetting('CALLSIGN_IMESSAGE_PROVIDER=linq needs CALLSIGN_LINQ_API_KEY')
}

/** Names of the clients' own settings: they may stand in the same environment. */
const clientNames = new Set([
  'CALLSIGN_URL',
  'CALLSIGN_API_KEY',
  'CALLSIGN_VAULT_KEY',
  'CALLSIGN_NEW_VAULT_KEY',
  'CALLSIGN_RECOVERY_CODE',
  'CALLSIGN_CLIENT_DIR',
])

function readText(row: Setting<unknown>, environment: Record<string, string | undefined>): string | undefined {
  const text = environment[row.name]
  const file = row.secret ? environment[`${row.name}_FILE`] : undefined
  if (file === undefined) return text === '' ? undefined : text
  if (text) throw new BadSetting(`${row.name} and ${row.name}_FILE are both given; keep one`)
  try {
    return readFileSync(file, 'utf8').trim()
  } catch {
    throw new BadSetting(`${row.name}_FILE names a file that cannot be read`)
  }
}

function readAws(environment: Record<string, string | undefined>): AwsCredentials {
  const region = environment.AWS_REGION ?? environment.AWS_DEFAULT_REGION ?? 'us-east-1'
  const { AWS_ACCESS_KEY_ID: accessKeyId, AWS_SECRET_ACCESS_KEY: secretAccessKey, AWS_SESSION_TOKEN: sessionToken } = environment
  if (!accessKeyId || !secretAccessKey) throw new BadSetting('CALLSIGN_BLOBS=s3://… needs AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY')
  return { region, accessKeyId, secretAccessKey, sessionToken: sessionToken ?? null }
}

/** The settings table as Markdown: the text of docs/configuration.md. */
export function configurationTable(): string {
  const cell = (text: string) => text.replaceAll('|', '\\|').replaceAll('<', '&lt;')
  const lines = Object.values(settings).map((row) => {
    const fallback = 'shown' in row ? row.shown : row.fallback === null ? '–' : row.fallback
    const file = 'secret' in row && row.secret ? ` Also \`${row.name}_FILE\`.` : ''
    return `| \`${row.name}\` | ${cell(String(fallback))} | ${cell(row.sentence)}${file} |`
  })
  return ['| variable | default | meaning |', '|---|---|---|', ...lines].join('\n')
}

/** Every setting with its value in force, secrets shown as `(set)`, for `callsignd config`. */
export function describeConfig(config: Config): string[] {
  return (Object.entries(settings) as [keyof Settings, Setting<unknown>][]).map(([key, row]) => {
    const value = config[key]
    const shown = value === null ? '' : row.secret ? '(set)' : typeof value === 'object' ? JSON.stringify(value) : String(value)
    return `${row.name}=${shown}`
  })
}
