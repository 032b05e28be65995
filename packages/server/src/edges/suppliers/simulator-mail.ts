// The mail transport that ships: it dials nobody. What it took is recorded where every transport's answer is, at the recipient.
import type { MailTransport } from '../../features/mail/outbound/provider.ts'

/** Takes every message for every recipient outside. The status stays `sent`: nothing was delivered to anybody. */
export const createSimulatorTransport = (): MailTransport => ({
  name: 'simulator',
  deliver: async (envelope) =>
    envelope.recipients.map(() => ({
      kind: 'delivered',
      answer: '250 2.0.0 Recorded by the simulator; nothing left this machine.',
      final: false,
      hop: { host: 'simulator', tls: null },
    })),
  close: async () => {},
})
