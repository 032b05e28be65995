// A short durability test. A real server is killed under load a few times, and no answered message is lost or duplicated. `npm run crash` is the long
// run.
import { expect, test } from 'vitest'
import { hadWork, inFlightShareMin, runCrash } from '../../../bench/crash/run.ts'

/** Below the time limit of tests, with a minute for cleanup. The run takes half a minute, and several times as long on slow disks. */
const limitMs = 240_000

test.skipIf(process.platform !== 'linux')(
  'messages answered 250, 200 or 201 are there exactly once after kills, and queued ones are delivered',
  async () => {
    const report = await runCrash({
      kills: 5,
      seed: 20_260,
      apiClients: 4,
      draftClients: 3,
      smtpClients: 4,
      samples: 20,
      limitMs,
      acceptedMin: 6,
      say: () => {},
    })
    expect(report.problems, report.serverLines.join('\n')).toEqual([])

    const counted = report.kills.filter((kill) => !kill.isDuringStart)
    expect(new Set(counted.map((kill) => kill.victim))).toEqual(new Set(['server', 'postgres', 'both']))
    expect(counted.filter(hadWork).length).toBeGreaterThanOrEqual(counted.length * inFlightShareMin)
    // The run must cover both incoming and both outgoing paths, and work that was cut off and repeated.
    const { accepted, retried, verified } = report
    expect(
      Math.min(accepted.api, accepted.drafts, accepted.smtp, verified?.hostedCopies ?? 0, verified?.relayTransactions ?? 0),
    ).toBeGreaterThan(5)
    expect(retried.api + retried.smtp).toBeGreaterThan(0)
    expect(Math.min(verified?.rawsCompared ?? 0, verified?.attachmentsCompared ?? 0)).toBeGreaterThan(5)
  },
)
