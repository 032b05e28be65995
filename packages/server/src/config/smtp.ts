// Settings of the inbound SMTP server.
import { resolve } from 'node:path'
import { area, setting } from './setting.ts'
import { integer, optionalPort } from './values.ts'

export const smtp = area({
  title: 'Inbound SMTP',
  settings: {
    smtpPort: setting({
      name: 'CALLSIGN_SMTP_PORT',
      fallback: '2525',
      sentence: 'Inbound SMTP port, 25 in production. 0 picks a free port and prints it. `off` disables inbound SMTP.',
      read: optionalPort,
    }),
    submissionPort: setting({
      name: 'CALLSIGN_SUBMISSION_PORT',
      fallback: 'off',
      sentence:
        'Port where mail programs send as an agent after STARTTLS, 587 in production. The user name is an address of the agent, and the password an API key. 0 picks a free port.',
      read: optionalPort,
    }),
    submissionsPort: setting({
      name: 'CALLSIGN_SUBMISSIONS_PORT',
      fallback: 'off',
      sentence: 'The same with TLS from the first byte, 465 in production.',
      read: optionalPort,
    }),
    smtpTlsCertFile: setting({
      name: 'CALLSIGN_SMTP_TLS_CERT_FILE',
      fallback: null,
      sentence:
        'PEM certificate chain for STARTTLS and submission. The file is read again when it changes. Without it, the certificate comes over ACME, or is generated at each start.',
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
      sentence: 'Open SMTP connections per client address. 0 means no limit. Loopback is not limited.',
      read: integer(0, 100_000),
    }),
  },
  check({ smtpTlsCertFile, smtpTlsKeyFile }) {
    if (!smtpTlsCertFile !== !smtpTlsKeyFile) return 'CALLSIGN_SMTP_TLS_CERT_FILE and CALLSIGN_SMTP_TLS_KEY_FILE go together'
    return null
  },
})
