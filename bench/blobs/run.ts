// The blob store on a Ceph cluster of its own: checks of every operation, and faults under load.
import { chmodSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createS3Blobs } from '../../packages/server/src/edges/blobs/s3.ts'
import { ledgerOf, type PartLedger } from '../chaos/report.ts'
import type { ChaosOptions } from '../chaos/run.ts'
import { findMissing } from '../harness/checklist.ts'
import { type Ceph, cephPrograms, startCeph } from './ceph.ts'
import { runOutages } from './outages.ts'
import { storeChecks } from './store-checks.ts'

const bucket = 'callsign'

/** Throws when Debian's packages of Ceph are missing. Without faults, only the store is checked. */
export async function runBlobs(options: ChaosOptions, faults: number): Promise<PartLedger> {
  const missing = findMissing(cephPrograms)
  if (missing !== null) throw new Error(missing)
  const folder = mkdtempSync(join(tmpdir(), 'callsign-ceph-'))
  chmodSync(folder, 0o711)
  const ceph = await startCeph(folder, bucket)
  try {
    const { rows, problems } = await checkStore(ceph)
    const checks = { server: ceph.version, ...rows }
    if (faults === 0) return { title: 'blobs', rows: checks, problems, problemCount: problems.length, logLines: [] }
    const report = await runOutages({ ...options, ceph, bucket, faults })
    const kinds = [...Map.groupBy(report.faults, ({ kind }) => kind)].map(([kind, all]) => `${all.length} ${kind}`)
    const facts = {
      ...checks,
      faults: `${faults}: ${kinds.join(', ')}`,
      'orphans after the faults': `${report.sweptBlobs} deleted by the sweep, ${report.verified.orphanBlobs} left`,
    }
    if (report.verified.blobs === 0) problems.push('no message had a blob')
    const { problems: more, problemCount, ...ledger } = ledgerOf('blobs', report, facts)
    return { ...ledger, problems: [...problems, ...more], problemCount: problems.length + problemCount }
  } finally {
    await ceph.stop()
    rmSync(folder, { recursive: true, force: true })
  }
}

async function checkStore(ceph: Ceph): Promise<{ rows: Record<string, string>; problems: string[] }> {
  const open = (prefix: string) =>
    createS3Blobs({ bucket, prefix, region: 'us-east-1', endpoint: ceph.endpoint, pathStyle: true, ...ceph.user })
  const rows: Record<string, string> = {}
  const problems: string[] = []
  for (const [name, check] of Object.entries(storeChecks(ceph, bucket, open)))
    try {
      rows[name] = await check()
    } catch (error) {
      rows[name] = 'FAILED'
      problems.push(`${name}: ${(error as Error).message}`)
    }
  return { rows, problems }
}
