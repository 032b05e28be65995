// Checks the blob store on a Ceph cluster of its own, and kills and partitions its S3 gateway under load: `npm run blobs`.
//
// It needs root and Debian's radosgw, ceph-mon, ceph-osd and ceph-common. --faults N changes the number of faults (0 checks the store alone), --seed N repeats a run.
import { chmodSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { createS3Blobs } from '../../packages/server/src/edges/blobs/s3.ts'
import { createChecklist, expectThat, requirePrograms } from '../harness/checklist.ts'
import { cephPrograms, startCeph } from './ceph.ts'
import { runOutages } from './outages.ts'
import { storeChecks } from './store-checks.ts'

const { values } = parseArgs({
  options: { faults: { type: 'string', default: '16' }, seed: { type: 'string', default: String(Date.now() % 1_000_000) } },
})
const bucket = 'callsign'
const faults = Number(values.faults)
const seed = Number(values.seed)
/** Time of one fault, with the work after it. */
const faultMs = 60_000
const restMs = 300_000

requirePrograms(cephPrograms)
const { check, finish } = createChecklist()
const folder = mkdtempSync(join(tmpdir(), 'callsign-ceph-'))
chmodSync(folder, 0o711)
const ceph = await startCeph(folder, bucket)
try {
  console.log(ceph.version)
  const open = (prefix: string) =>
    createS3Blobs({ bucket, prefix, region: 'us-east-1', endpoint: ceph.endpoint, pathStyle: true, ...ceph.user })
  for (const [name, run] of Object.entries(storeChecks(ceph, bucket, open))) await check(name, run)
  if (faults > 0) await check(`mail under load, ${faults} faults`, outages)
} finally {
  await ceph.stop()
  rmSync(folder, { recursive: true, force: true })
}
finish()

async function outages(): Promise<string> {
  const say = (line: string) => console.log(`      ${line}`)
  const report = await runOutages({ ceph, bucket, faults, seed, limitMs: faults * faultMs + restMs, say })
  const { accepted, verified, retried } = report
  const kinds = [...Map.groupBy(report.faults, ({ kind }) => kind)].map(([kind, all]) => `${all.length} ${kind}`)
  say(`faults: ${kinds.join(', ')}`)
  say(`acknowledged: ${accepted.smtp} SMTP messages, ${accepted.api} API sends, ${accepted.drafts} drafts`)
  say(`sent again: ${retried.api} API requests, ${retried.smtp} SMTP messages`)
  say(`verified: ${verified.inbound} inbound and ${verified.outbound} outbound messages, ${verified.blobs} blobs whole`)
  say(`sweep: ${report.sweptBlobs} orphans deleted, ${verified.orphanBlobs} left`)
  say(
    `answers: ${Object.entries(report.replies)
      .map(([name, count]) => `${name}: ${count}`)
      .join(', ')}`,
  )
  for (const problem of report.problems.slice(0, 40)) say(`PROBLEM ${problem}`)
  for (const line of report.logLines) say(line.slice(0, 400))
  expectThat(verified.blobs > 0, 'no message had a blob')
  expectThat(report.problemCount === 0, `${report.problemCount} problems, seed ${seed}`)
  return `seed ${seed}`
}
