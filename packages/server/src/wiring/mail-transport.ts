// Builds the transport for outbound mail that the settings name.
import type { Resolver } from '@callsign/mail/dns'
import type { Config } from '../config/settings.ts'
import type { Log } from '../core/log.ts'
import { createAddressRules } from '../edges/outbound-http/address-rules.ts'
import { createDirectTransport } from '../edges/smtp/client/direct.ts'
import { createRelayTransport } from '../edges/smtp/client/relay.ts'
import { createSimulatorTransport } from '../edges/suppliers/simulator-mail.ts'
import type { MtaSts } from '../features/mail/outbound/mta-sts/operations.ts'
import type { MailTransport } from '../features/mail/outbound/provider.ts'

/** Longest backoff for an unreachable server. The first retry delay of a message applies when it is shorter. */
const backoffMsMax = 60_000

/** Opens no connection before the first message. */
export function createTransport(config: Config, resolver: Resolver, mtaSts: MtaSts, log: Log): MailTransport {
  const hostname = config.mailDomain
  switch (config.mailTransport) {
    case 'relay':
      return createRelayTransport({ url: config.smtpRelayUrl as string, hostname, log: log.child({ part: 'relay' }) })
    case 'direct':
      return createDirectTransport({
        hostname,
        resolver,
        allows: createAddressRules(config.outboundAllowCidrs).allows,
        findTlsPolicy: mtaSts.findPolicy,
        port: config.directPort,
        restMs: Math.min(backoffMsMax, (config.mailRetrySeconds[0] ?? 0) * 1000),
        log: log.child({ part: 'direct' }),
      })
    default:
      return createSimulatorTransport()
  }
}
