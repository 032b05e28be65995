// Settings of the server process and its metrics.
import { area, setting } from './setting.ts'
import { integer, oneOf, optionalPort } from './values.ts'

const roles = ['api', 'smtp', 'worker', 'gateway'] as const
type Role = (typeof roles)[number]

export const serverProcess = area({
  title: 'Process',
  settings: {
    roles: setting({
      name: 'CALLSIGN_ROLES',
      fallback: 'all',
      sentence: `Parts that this process runs, as a comma list of ${roles.join(', ')}, or all.`,
      read: (text): Role[] => {
        if (text === 'all') return [...roles]
        return text.split(',').map((part) => oneOf(...roles)(part.trim()))
      },
    }),
    drainSeconds: setting({
      name: 'CALLSIGN_DRAIN_SECONDS',
      fallback: '30',
      sentence: 'Seconds that a stop waits for work in progress.',
      read: integer(0, 3600),
    }),
    metricsPort: setting({
      name: 'CALLSIGN_METRICS_PORT',
      fallback: '9464',
      sentence:
        'Port of /metrics, for Prometheus. 0 picks a free port and prints it. `off` disables it. Each process on a machine needs its own.',
      read: optionalPort,
    }),
    metricsHost: setting({
      name: 'CALLSIGN_METRICS_HOST',
      fallback: '127.0.0.1',
      sentence: 'Address that /metrics listens on. Metrics need no key, so expose them to a private network only.',
      read: (text) => text,
    }),
    logLevel: setting({
      name: 'CALLSIGN_LOG_LEVEL',
      fallback: 'info',
      sentence: 'Least severe level of the log lines written to standard error.',
      read: oneOf('debug', 'info', 'warn', 'error', 'silent'),
    }),
  },
})
