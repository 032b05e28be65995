// Authenticates senders, and defers messages with a 451 reply while DNS failures leave the author unknown.
import type { Verdicts } from '@callsign/mail/authentication/sender-checks'
import type { ResolverHealth } from '@callsign/mail/dns'
import { inMs, now, nowMs } from '../../../core/clock.ts'
import type { Database } from '../../../core/sql.ts'
import type { MailboxOwner } from '../../account/identities/model.ts'
import { type Arrival, deferralKey, hostedVerdicts, isUndecided } from './model.ts'
import type { MailReader } from './provider.ts'
import * as store from './store.ts'

/** The results of sender authentication. `isUnverified` when DNS was down, so that the results prove nothing. */
export type Checked = { verdicts: Verdicts; sha256: Buffer; isUnverified: boolean }

type Parts = { db: Database; reader: MailReader; resolverHealth: ResolverHealth }

export interface SenderCheck {
  /** Authenticates the sender of a message for these mailboxes. Returns `later` with the author's domain while the message is deferred. */
  check(arrival: Arrival, owners: MailboxOwner[]): Promise<Checked | { later: string | null }>
  /** The results for mail of an agent on this server, which was authenticated by its key. */
  ofHosted(raw: Buffer): Promise<Checked>
  /** Deletes records of deferred messages after 7 days without a retry. Returns their number. */
  sweep(): Promise<number>
}

/** Time for which a message without a DMARC verdict is answered with 451. Later retries are quarantined. */
const deferMsMax = 3_600_000
/** Senders retry for days. */
const deferralKeptMs = 7 * 24 * 3_600_000

export function createSenderCheck({ db, reader, resolverHealth }: Parts): SenderCheck {
  const ofHosted = async (raw: Buffer): Promise<Checked> => ({
    verdicts: hostedVerdicts(null),
    sha256: await reader.digest(raw),
    isUnverified: false,
  })

  return {
    ofHosted,

    async check({ client, from, raw }, owners) {
      if (!client) return ofHosted(raw)
      const { verdicts, sha256, isMade } = await reader.check(from, client, raw)
      const hasAllowlist = owners.some((owner) => owner.inboundMode === 'allowlist')
      if (!isUndecided(verdicts, hasAllowlist)) return { verdicts, sha256, isUnverified: false }
      if (isMade && !(await resolverHealth.isAnswering())) return { verdicts, sha256, isUnverified: true }
      const firstAt = await store.noteDeferral(db, deferralKey(verdicts.dmarc?.domain ?? null, from, raw, sha256), now())
      if (nowMs() - firstAt.getTime() < deferMsMax) return { later: verdicts.dmarc?.domain ?? null }
      return { verdicts, sha256, isUnverified: false }
    },

    sweep: () => store.sweepDeferrals(db, inMs(-deferralKeptMs)),
  }
}
