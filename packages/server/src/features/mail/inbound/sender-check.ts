// The checks of a sender, and putting off its message while DNS cannot say who wrote it.
import type { Verdicts } from '@callsign/mail/authentication/sender-checks'
import type { ResolverHealth } from '@callsign/mail/dns'
import { inMs, now, nowMs } from '../../../core/clock.ts'
import type { Database } from '../../../core/sql.ts'
import type { MailboxOwner } from '../../account/identities/model.ts'
import { type Arrival, deferralKey, hostedVerdicts, isUndecided } from './model.ts'
import type { MailReader } from './provider.ts'
import * as store from './store.ts'

/** The checks of the sender. `isUnverified`: the DNS servers answered nothing, so that they say nothing. */
export type Checked = { verdicts: Verdicts; sha256: Buffer; isUnverified: boolean }

type Parts = { db: Database; reader: MailReader; resolverHealth: ResolverHealth }

export interface SenderCheck {
  /** Checks the sender of a message for these mailboxes. Returns `later` with the author's domain while the sender has to come again. */
  check(arrival: Arrival, owners: MailboxOwner[]): Promise<Checked | { later: string | null }>
  /** The checks of mail from an agent on this server, whose key was checked. */
  ofHosted(raw: Buffer): Promise<Checked>
  /** Forgets messages that were put off and have not come for a week. Returns their number. */
  sweep(): Promise<number>
}

/** How long a message whose DMARC verdict is missing is answered 451 before it is quarantined. */
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
