// Builds the SMTP server on the parts that take its mail.
import { join } from 'node:path'
import { messageBytesMax } from '@callsign/contract/attachments'
import type { Config } from '../config/settings.ts'
import type { BusinessEvents } from '../core/business-events.ts'
import type { Log } from '../core/log.ts'
import type { FreeSpace } from '../edges/blobs/free-space.ts'
import { createSmtpServer, type SmtpServer } from '../edges/smtp/server/listener.ts'
import { createMailReceiver } from '../edges/smtp/server/mail-receiver.ts'
import { createMailboxIntake } from '../features/mail/inbound/operations.ts'
import { createReportIntake } from '../features/mail/reports/operations.ts'
import { createReturnIntake } from '../features/mail/returned/operations.ts'
import type { Certificates } from './certificates.ts'
import type { ServerParts } from './server.ts'

/** The SMTP server, or null in a process that takes no mail. */
export function createSmtp(
  config: Config,
  log: Log,
  parts: ServerParts,
  space: FreeSpace,
  businessEvents: BusinessEvents,
): SmtpServer | null {
  if (!config.roles.includes('smtp') || config.smtpPort === null) return null
  return createSmtpServer(
    {
      host: config.host,
      port: config.smtpPort,
      hostname: config.mailDomain,
      sizeBytesMax: messageBytesMax,
      ...smtpOptions(config, parts.certificates, space),
      log: log.child({ part: 'smtp' }),
      onRefusal: (session_id, reply_code) => businessEvents.mailRefused({ listener: 'smtp', session_id, reply_code }),
      limits: { connectionsPerAddressMax: config.smtpConnectionsPerClient, isLoopbackLimited: false },
    },
    createMailReceiver([
      createReturnIntake(parts.returnedMail),
      createReportIntake(parts.domainReports),
      createMailboxIntake(parts.inboundMail),
    ]),
  )
}

/** Options that every SMTP listener of the process shares. */
export const smtpOptions = (config: Config, { smtp: tls }: Certificates, space: FreeSpace) => ({
  tls: tls.contextFor,
  freeBytes: space.bytes,
  spoolFolder: join(config.dataDir, 'smtp-incoming'),
})
