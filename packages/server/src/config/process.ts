// Settings of the server process.
import { area, setting } from './setting.ts'
import { integer, oneOf } from './values.ts'

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
    logLevel: setting({
      name: 'CALLSIGN_LOG_LEVEL',
      fallback: 'info',
      sentence: 'Least severe level of the log lines written to standard error.',
      read: oneOf('debug', 'info', 'warn', 'error', 'silent'),
    }),
  },
})
