// Opens the access log, and reopens its file on SIGHUP, as after a rotation.
import { type AccessLog, createAccessLog } from '../edges/api/logs/access-log.ts'
import type { SharedParts } from './parts.ts'

/** Null when the access log is off. */
export function openAccessLog({ config, log }: Pick<SharedParts, 'config' | 'log'>): AccessLog | null {
  const { accessLog: target, accessLogFormat: format, trustedProxies } = config
  if (target === null) return null
  const accessLog = createAccessLog({ target, format }, trustedProxies)
  const reopen = () => {
    try {
      accessLog.reopen()
    } catch (err) {
      log.error({ err }, 'the access log cannot be opened again')
    }
  }
  process.on('SIGHUP', reopen)
  return {
    ...accessLog,
    close() {
      process.off('SIGHUP', reopen)
      accessLog.close()
    },
  }
}
