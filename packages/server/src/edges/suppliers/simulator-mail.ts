// The built-in simulated mail transport, without network access. Its answers are recorded with the recipient, as for every transport.
import type { MailTransport } from '../../features/mail/outbound/provider.ts'

/** Accepts every message for every external recipient. The status stays `sent`, because nothing is delivered. */
export const createSimulatorTransport = (): MailTransport => ({
  name: 'simulator',
  deliver: async (envelope) =>
    envelope.recipients.map(() => ({
      kind: 'delivered',
      answer: '250 2.0.0 Recorded by the simulator, not sent.',
      final: false,
      hop: { host: 'simulator', tls: null },
    })),
  close: async () => {},
})
