// The parts that every area is built with, and those that host commands open without a server.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Resolver } from '@callsign/mail/dns'
import type { Config } from '../config/settings.ts'
import type { Blobs } from '../core/blobs.ts'
import type { BusinessEvents } from '../core/business-events.ts'
import type { Enqueue, HastenJobs, JobHandler, LocalWorker } from '../core/job.ts'
import type { Log } from '../core/log.ts'
import type { Sealing } from '../core/replay.ts'
import type { Route } from '../core/route.ts'
import { openSecret, sealSecret } from '../core/secret-seal.ts'
import type { Database } from '../core/sql.ts'
import { createTunnelUrls, type TunnelUrls } from '../core/tunnel-urls.ts'
import { createDiskBlobs } from '../edges/blobs/disk.ts'
import { createEncryptedBlobs, type EncryptedBlobs } from '../edges/blobs/encrypted.ts'
import { createS3Blobs } from '../edges/blobs/s3.ts'
import { createDnsResolver } from '../edges/dns/resolver.ts'
import type { ScheduledTask } from '../edges/jobs/scheduled-tasks.ts'
import type { Keyring } from '../edges/keyring/keyring.ts'
import { createWeb, type GuardedWeb } from '../edges/outbound-http/guarded-fetch.ts'
import { createHostLookup } from '../edges/outbound-http/host-lookup.ts'
import { createEnqueue, createHastenJobs } from '../edges/postgres/job-maker.ts'
import { createFindAgent } from '../features/account/identities/operations.ts'
import { createKeys, type FindAgent, type Keys } from '../features/account/keys/operations.ts'
import { type Accounts, createAccounts } from '../features/account/organizations/operations.ts'

export const version: string = JSON.parse(readFileSync(join(import.meta.dirname, '..', '..', 'package.json'), 'utf8')).version

/** Filled in while the server starts: its worker, and the public URL once the HTTP listener has its port. */
export type Running = { worker: LocalWorker | null; publicUrl: string }

export type ServerNeeds = {
  config: Config
  db: Database
  keyring: Keyring
  log: Log
  businessEvents: BusinessEvents
  running: Running
}

export type SharedParts = Omit<ServerNeeds, 'running'> & {
  blobs: Blobs
  dns: Resolver
  /** The guarded HTTP client for URLs that callers supply. */
  web: GuardedWeb
  enqueue: Enqueue
  hastenJobs: HastenJobs
  publicUrl: () => string
  tunnelUrls: TunnelUrls
  userAgent: string
}

/** The parts that an area adds to the server. */
export type Area = {
  routes?: Route[]
  handlers?: JobHandler[]
  scheduledTasks?: ScheduledTask[]
  /** Closes the connections to the outside that the area keeps open. */
  close?: () => Promise<void>
}

export const hourMs = 3_600_000
export const dayMs = 24 * hourMs

export function createSharedParts({ running, ...given }: ServerNeeds): SharedParts {
  const { config } = given
  const userAgent = `Callsign/${version}`
  return {
    ...given,
    blobs: createBlobs(config),
    dns: createDnsResolver({ servers: config.dnsServers }),
    web: createWeb({
      allowCidrs: config.outboundAllowCidrs,
      userAgent,
      ...(config.dnsServers.length > 0 ? { lookup: createHostLookup(config.dnsServers) } : {}),
    }),
    enqueue: createEnqueue(() => running.worker),
    hastenJobs: createHastenJobs(() => running.worker),
    publicUrl: () => running.publicUrl,
    tunnelUrls: createTunnelUrls(config.tunnelDomain, hasTunnelCertificate(config), () => running.publicUrl),
    userAgent,
  }
}

/** True where tunnels have a certificate that browsers accept. A public URL of https means one here, or a proxy with one in front. */
const hasTunnelCertificate = ({ publicUrl, tunnelTlsCertFile }: Config): boolean =>
  publicUrl?.startsWith('https:') === true || tunnelTlsCertFile !== null

export type Credentials = { accounts: Accounts; keys: Keys; findAgent: FindAgent }

/** Organizations and keys on an open database. Host commands use them too. */
export function createCredentials(db: Database): Credentials {
  const accounts = createAccounts(db)
  const findAgent = createFindAgent(db)
  return { accounts, keys: createKeys(db, accounts, findAgent), findAgent }
}

/** The store for large bytes that the settings name. */
export function createBlobs(config: Config): EncryptedBlobs {
  const { blobs } = config
  const store = blobs.kind === 'file' ? createDiskBlobs(blobs.folder ?? join(config.dataDir, 'blobs')) : createBucket(config, blobs)
  return createEncryptedBlobs(store, config.blobKeys ?? [])
}

/** A bucket of the S3 store that the settings name. Throws a sentence without credentials. */
export function createBucket({ aws, s3Endpoint }: Config, { bucket, prefix }: { bucket: string; prefix: string }): Blobs {
  if (aws === null) throw new Error('an s3:// address needs AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY')
  const { region, accessKeyId, secretAccessKey, sessionToken } = aws
  // AWS names the bucket in the host. Other servers usually have one host name for all buckets.
  return createS3Blobs({
    bucket,
    prefix,
    region,
    accessKeyId,
    secretAccessKey,
    sessionToken: sessionToken ?? undefined,
    endpoint: s3Endpoint ?? undefined,
    pathStyle: s3Endpoint !== null,
  })
}

/** Seals texts that may hold a secret, such as the stored response to an idempotent request that created a key. */
export const sealingOf = (key: Buffer): Sealing => ({
  seal: (scope, text) => sealSecret(key, scope, Buffer.from(text)).toString('base64'),
  open: (scope, sealed) => openSecret(key, scope, Buffer.from(sealed, 'base64')).toString(),
})
