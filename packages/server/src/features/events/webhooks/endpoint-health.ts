// Records when the failures of a webhook began, and disables a webhook that is gone or has failed for days.
import { nowMs } from '../../../core/clock.ts'
import type { Database } from '../../../core/sql.ts'
import type { Accounts } from '../../account/organizations/operations.ts'
import { failingMsMax, type Verdict } from './model.ts'
import * as store from './store.ts'

type Target = Pick<store.EndpointRow, 'id' | 'organization_id' | 'failing_since'>
type Attempted = { target: Target; verdict: Verdict }

export function createEndpointHealth(db: Database, accounts: Accounts) {
  async function disable(target: Target, reason: string, failingLongerThanMs: number | null): Promise<void> {
    await db.transact(async (tx) => {
      if (!(await store.disableWebhook(tx, target.id, reason, failingLongerThanMs))) return
      await accounts.audit(tx, target.organization_id, { type: 'host' }, 'webhook.disabled', target.id, { reason })
    })
  }

  return {
    /** Judges webhooks by a group of attempts that ended together. */
    async judge(group: Attempted[]): Promise<void> {
      const byWebhook = Map.groupBy(group, (one) => one.target.id)
      const well: string[] = []
      const failing: string[] = []
      for (const [id, attempted] of byWebhook) {
        const { target } = attempted[0] as Attempted
        if (attempted.some((one) => one.verdict.isGone)) await disable(target, 'The endpoint answered 410 Gone.', null)
        else if (attempted.some((one) => one.verdict.isSuccess)) {
          if (target.failing_since) well.push(id)
        } else if (!target.failing_since) failing.push(id)
        else if (nowMs() - target.failing_since.getTime() > failingMsMax)
          await disable(target, 'Every delivery of the last five days failed.', failingMsMax)
      }
      if (well.length > 0) await store.clearFailing(db, well)
      if (failing.length > 0) await store.startFailing(db, failing)
    },
  }
}
