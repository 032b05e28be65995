// `npm run mutants` measures how many deliberate defects the tests find. Hand-made mutants first, and then Stryker's over the pure code. Takes
// --hand or --stryker for one of the two. A further argument selects rows that contain it, or files below that path. --exclude leaves out tests.
// --sample plants that many of Stryker's mutants, always the same ones.
import { parseArgs } from 'node:util'
import { runHandMade } from './hand-made.ts'
import { runStryker } from './stryker.ts'

const { values, positionals } = parseArgs({
  options: {
    hand: { type: 'boolean', default: false },
    stryker: { type: 'boolean', default: false },
    exclude: { type: 'string', multiple: true, default: [] },
    sample: { type: 'string', default: 'Infinity' },
  },
  allowPositionals: true,
})
const wanted = positionals[0] ?? ''
const isHandRun = values.hand || !values.stryker
const isStrykerRun = values.stryker || !values.hand
const isStrong = [
  isHandRun ? await runHandMade(wanted) : true,
  isStrykerRun ? await runStryker(wanted, { sample: Number(values.sample), excluded: values.exclude }) : true,
]
if (isStrong.includes(false)) process.exitCode = 1
