// The way on which mail leaves, as the settings name it.
import type { Resolver } from '@callsign/mail/dns'
import type { Config } from '../config/settings.ts'
import type { Log } from '../core/log.ts'
import { createAddressRules } from '../edges/outbound-http/address-rules.ts'
import { createDirectTransport } from '../edges/smtp/client/direct.ts'
import { createRelayTransport } from '../edges/smtp/client/relay.ts'
import { createSimulatorTransport } from '../edges/suppliers/simulator-mail.ts'
import type { MtaSts } from '../features/mail/outbound/mta-sts/operations.ts'
import type { MailTransport } from '../features/mail/outbound/provider.ts'

/** A server that cannot be reached is left alone this long, or as long as its first message waits anyway. */
const restMsMax = 60_000

/** Nothing is dialled before the first message. */
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
        restMs: Math.min(restMsMax, (config.mailRetrySeconds[0] ?? 0) * 1000),
        log: log.child({ part: 'direct' }),
      })
    default:
      return createSimulatorTransport()
  }
}
