// `npm run blobs` checks the blob store on a Ceph cluster of its own, and kills and partitions its S3 gateway under load.
//
// It needs root and Debian's radosgw, ceph-mon, ceph-osd and ceph-common. --faults N changes the number of faults (0 checks the store alone), and --seed N
// repeats a run.
import { parseArgs } from 'node:util'
import { printLedger } from '../chaos/report.ts'
import { runBlobs } from './run.ts'

const { values } = parseArgs({
  options: { faults: { type: 'string', default: '16' }, seed: { type: 'string', default: String(Date.now() % 1_000_000) } },
})
const faults = Number(values.faults)
/** Time of one fault with the work after it, and of the start and the comparison. */
const [faultMs, restMs] = [60_000, 300_000]

try {
  const options = { seed: Number(values.seed), limitMs: faults * faultMs + restMs, say: (line: string) => console.log(line) }
  const ledger = await runBlobs(options, faults)
  printLedger(ledger)
  process.exitCode = ledger.problemCount === 0 ? 0 : 1
} catch (error) {
  console.error((error as Error).message)
  process.exitCode = 1
}
