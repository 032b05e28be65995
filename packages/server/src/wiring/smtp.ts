// Builds the SMTP server on the parts that take its mail.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { createSecureContext } from 'node:tls'
import { messageBytesMax } from '@callsign/contract/attachments'
import { BadSetting, type Config } from '../config/settings.ts'
import type { Log } from '../core/log.ts'
import type { FreeSpace } from '../edges/blobs/free-space.ts'
import { createSmtpServer, type SmtpServer } from '../edges/smtp/server/listener.ts'
import { createSmtpIntake } from '../features/mail/inbound/smtp-intake.ts'
import { createReturnIntake } from '../features/mail/returned/smtp-intake.ts'
import type { ServerParts } from './server.ts'

/** The SMTP server, or null in a process that takes no mail. */
export function createSmtp(config: Config, log: Log, parts: ServerParts, space: FreeSpace): SmtpServer | null {
  if (!config.roles.includes('smtp') || config.smtpPort === null) return null
  return createSmtpServer(
    {
      host: config.host,
      port: config.smtpPort,
      hostname: config.mailDomain,
      sizeBytesMax: messageBytesMax,
      ...smtpOptions(config, space),
      log: log.child({ part: 'smtp' }),
      limits: { connectionsPerAddressMax: config.smtpConnectionsPerClient, isLoopbackLimited: false },
    },
    createReturnIntake(parts.returnedMail, createSmtpIntake(parts.inboundMail)),
  )
}

/** Options that every SMTP listener of the process shares. */
export const smtpOptions = (config: Config, space: FreeSpace) => ({
  tls: readCertificate(config),
  freeBytes: space.bytes,
  spoolFolder: join(config.dataDir, 'smtp-incoming'),
})

/** Throws BadSetting when a file cannot be read or the key does not match the certificate. */
function readCertificate(config: Config) {
  if (!config.smtpTlsCertFile || !config.smtpTlsKeyFile) return 'generate' as const
  try {
    const pair = { cert: readFileSync(config.smtpTlsCertFile, 'utf8'), key: readFileSync(config.smtpTlsKeyFile, 'utf8') }
    createSecureContext(pair)
    return pair
  } catch (error) {
    throw new BadSetting(`CALLSIGN_SMTP_TLS_CERT_FILE and CALLSIGN_SMTP_TLS_KEY_FILE cannot be used: ${(error as Error).message}`)
  }
}
