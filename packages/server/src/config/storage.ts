// Settings of the data directory, the database and the blob store.
import { resolve } from 'node:path'
import { area, setting } from './setting.ts'
import { bucketUrl, databaseUrl, encryptionKeys, integer, replicaUrl, url } from './values.ts'

export const storage = area({
  title: 'Storage',
  settings: {
    dataDir: setting({
      name: 'CALLSIGN_DATA_DIR',
      fallback: './data',
      sentence: 'Folder for the embedded database, the blobs and the keyring.',
      read: (text) => resolve(text),
    }),
    databaseUrl: setting({
      name: 'CALLSIGN_DATABASE_URL',
      fallback: null,
      shown: '(embedded PostgreSQL)',
      sentence:
        'A postgres:// URL switches to an external PostgreSQL, version 15 or newer. It may name several hosts, as host1:5432,host2:5432.',
      secret: true,
      read: databaseUrl,
    }),
    databaseReplicaUrl: setting({
      name: 'CALLSIGN_DATABASE_REPLICA_URL',
      fallback: null,
      sentence:
        'A postgres:// URL of read replicas, several as host1:5432,host2:5432. They answer lists and searches when they have everything that the primary had. All other statements go to the primary.',
      secret: true,
      read: replicaUrl,
    }),
    databaseConnections: setting({
      name: 'CALLSIGN_DATABASE_CONNECTIONS',
      fallback: '10',
      sentence: 'Size of the database connection pool of one process. Each replica has a pool of the same size.',
      read: integer(2, 200),
    }),
    blobs: setting({
      name: 'CALLSIGN_BLOBS',
      fallback: 'file:',
      shown: 'file:<data>/blobs',
      sentence:
        'Store for large bytes: file:<folder>, or s3://bucket/prefix with the AWS variables `AWS_REGION`, `AWS_ACCESS_KEY_ID`, `AWS_SECRET_ACCESS_KEY` and `AWS_SESSION_TOKEN`.',
      read: (text) => {
        if (text === 'file:') return { kind: 'file' as const, folder: null }
        if (text.startsWith('file:')) return { kind: 'file' as const, folder: resolve(text.slice(5)) }
        const s3 = bucketUrl(text)
        if (s3) return { kind: 's3' as const, ...s3 }
        throw new Error('must be file:<folder> or s3://bucket/prefix')
      },
    }),
    blobKeys: setting({
      name: 'CALLSIGN_BLOB_KEYS',
      fallback: null,
      shown: '(not encrypted)',
      sentence:
        'Encrypts the large bytes at rest, with AES-256-GCM: `id:key` with a key of 32 bytes in base64, as `openssl rand -base64 32` prints. Further ones after commas decrypt what was stored under them.',
      secret: true,
      read: encryptionKeys,
    }),
    storageQuotaMax: setting({
      name: 'CALLSIGN_ORGANIZATION_STORAGE_MB',
      fallback: null,
      sentence:
        'Storage quota of each organization for mail, in MB of 1,000,000 bytes. An organization may set a lower one. Mail above it is answered with 452.',
      read: (text) => integer(1, 1_000_000_000)(text) * 1_000_000,
    }),
    s3Endpoint: setting({
      name: 'CALLSIGN_S3_ENDPOINT',
      fallback: null,
      sentence: 'S3 endpoint of a store other than AWS.',
      read: url('http:', 'https:'),
    }),
  },
  check: ({ databaseUrl: primary, databaseReplicaUrl: replicas }) =>
    replicas !== null && primary === null
      ? 'CALLSIGN_DATABASE_REPLICA_URL needs CALLSIGN_DATABASE_URL, because the embedded PostgreSQL has no replicas'
      : null,
})
