// Settings of organizations and their keys.
import { area, setting } from './setting.ts'
import { integer } from './values.ts'

export const account = area({
  title: 'Accounts and keys',
  settings: {
    bootstrapApiKey: setting({
      name: 'CALLSIGN_BOOTSTRAP_API_KEY',
      fallback: null,
      sentence:
        'A well-formed organization key that the first start installs. Without it, the first start generates a key and prints it once.',
      secret: true,
      read: (text) => text.trim(),
    }),
    organizationKeyPerSecond: setting({
      name: 'CALLSIGN_RATE_LIMIT_ORGANIZATION_KEY',
      fallback: '20000',
      sentence: 'Requests per second for one organization key on one node, with bursts of twice that. 0 means no limit.',
      read: integer(0, 1_000_000),
    }),
    agentKeyPerSecond: setting({
      name: 'CALLSIGN_RATE_LIMIT_AGENT_KEY',
      fallback: '500',
      sentence: 'Requests per second for one agent key on one node, with bursts of twice that. 0 means no limit.',
      read: integer(0, 1_000_000),
    }),
    requestLogDays: setting({
      name: 'CALLSIGN_REQUEST_LOG_DAYS',
      fallback: '30',
      sentence: 'Days that the log of API requests is kept. 0 turns the log off.',
      read: integer(0, 3650),
    }),
  },
})
