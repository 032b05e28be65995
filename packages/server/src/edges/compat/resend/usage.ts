// Usage of the account. Callsign has no quotas, so a limit is that of the organization for sending, or null.
import { listDomains } from '@callsign/contract/domains'
import { getOrganization } from '@callsign/contract/organization'
import { listUsage } from '@callsign/contract/usage'
import { now } from '../../../core/clock.ts'
import type { ResendRoute } from './route.ts'

/** A feature that Callsign does not have. */
const none = { used: 0, limit: 0 }

export const usageRoutes: ResendRoute[] = [
  {
    method: 'GET',
    path: '/usage',
    async run({ call }) {
      const at = now()
      const [year, month, day] = [at.getUTCFullYear(), at.getUTCMonth(), at.getUTCDate()]
      const today = at.toISOString().slice(0, 10)
      const [{ data: days }, { sending_limits: limits }, { data: domains }] = await Promise.all([
        call(listUsage, { query: { start_date: `${today.slice(0, 8)}01`, end_date: today, limit: 31 } }),
        call(getOrganization),
        call(listDomains),
      ])
      // An email counts from the moment when it is accepted for sending.
      const counted = (dates: typeof days) => {
        const sent = dates.reduce((sum, { messages }) => sum + messages.queued, 0)
        const received = dates.reduce((sum, { messages }) => sum + messages.received, 0)
        return { used: sent + received, sent, received }
      }
      const nextMonth = new Date(Date.UTC(year, month + 1)).toISOString()
      const tomorrow = new Date(Date.UTC(year, month, day + 1)).toISOString()
      return {
        object: 'usage',
        emails: {
          daily: { ...counted(days.filter(({ date }) => date === today)), limit: limits.messages_per_day, resets_at: tomorrow },
          monthly: { ...counted(days), limit: null, resets_at: nextMonth },
        },
        contacts: none,
        segments: none,
        broadcasts: { used: 0, limit: null },
        ai_credits: { ...none, next_increase_at: null },
        automation_runs: { ...none, resets_at: nextMonth },
        domains: { used: domains.length, limit: null },
        rate_limit: { limit: null, duration: '1s' },
      }
    },
  },
]
