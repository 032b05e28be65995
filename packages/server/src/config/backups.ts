// Settings of backups.
import { resolve } from 'node:path'
import { area, setting } from './setting.ts'
import { bucketUrl, integer } from './values.ts'

export const backups = area({
  title: 'Backups',
  settings: {
    backupTarget: setting({
      name: 'CALLSIGN_BACKUP_TARGET',
      fallback: null,
      sentence:
        'Place for backups on a schedule: file:<folder>, or s3://bucket/prefix with the AWS variables and `CALLSIGN_S3_ENDPOINT`. Without it, none are made.',
      read: (text) => {
        if (/^file:./.test(text)) return { kind: 'file' as const, folder: resolve(text.slice(5)) }
        const s3 = bucketUrl(text)
        if (s3) return { kind: 's3' as const, ...s3 }
        throw new Error('must be file:<folder> or s3://bucket/prefix')
      },
    }),
    backupHours: setting({
      name: 'CALLSIGN_BACKUP_HOURS',
      fallback: '24',
      sentence: 'Hours from the start of one backup to the next.',
      read: integer(1, 8760),
    }),
    backupKeep: setting({
      name: 'CALLSIGN_BACKUP_KEEP',
      fallback: '7',
      sentence: 'Number of backups that are kept. Older ones are deleted after one that succeeded.',
      read: integer(1, 1000),
    }),
    backupPassphrase: setting({
      name: 'CALLSIGN_BACKUP_PASSPHRASE',
      fallback: null,
      sentence:
        'Encrypts backups, and decrypts them when they are restored. It has at least 12 characters. Backups hold the keyring, so s3:// requires it.',
      secret: true,
      read: (text) => {
        if (text.length < 12) throw new Error('must have at least 12 characters')
        return text
      },
    }),
  },
  check: ({ backupTarget, backupPassphrase }) =>
    backupTarget?.kind === 's3' && backupPassphrase === null
      ? 'CALLSIGN_BACKUP_TARGET=s3://… needs CALLSIGN_BACKUP_PASSPHRASE, because a backup holds the keyring'
      : null,
})
