// The parts of `npm run chaos`, in their order. A new part is one entry.
import { runBlobs } from '../blobs/run.ts'
import { runFailover } from './failover.ts'
import { runProcesses } from './processes.ts'
import { failoverLedger, type PartLedger, processesLedger } from './report.ts'
import type { ChaosOptions } from './run.ts'

export type Part = {
  /** Its name on the command line, and the script of package.json that runs it alone. */
  name: string
  /** The option that sets its length, its length when it runs alone, and its length as one of all parts. */
  option: 'faults' | 'minutes'
  alone: number
  together: number
  /** The longest time of one fault with its recovery, or of one minute. */
  unitMsMax: number
  run: (options: ChaosOptions, length: number) => Promise<PartLedger>
}

export const parts: Part[] = [
  {
    name: 'failover',
    option: 'faults',
    alone: 60,
    together: 9,
    unitMsMax: 60_000,
    run: async (options, faults) => failoverLedger(await runFailover({ ...options, faults })),
  },
  {
    name: 'processes',
    option: 'minutes',
    alone: 10,
    together: 2,
    unitMsMax: 60_000,
    run: async (options, minutes) => processesLedger(await runProcesses({ ...options, minutes })),
  },
  { name: 'blobs', option: 'faults', alone: 16, together: 4, unitMsMax: 60_000, run: runBlobs },
]
