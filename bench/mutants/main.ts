// `npm run mutants` measures how many deliberate defects in the pure code the tests find. An argument selects files below that path. --exclude leaves
// out tests. --sample plants that many mutants, always the same ones.
import { parseArgs } from 'node:util'
import { runStryker } from './stryker.ts'

const { values, positionals } = parseArgs({
  options: {
    exclude: { type: 'string', multiple: true, default: [] },
    sample: { type: 'string', default: 'Infinity' },
  },
  allowPositionals: true,
})
if (!(await runStryker(positionals[0] ?? '', { sample: Number(values.sample), excluded: values.exclude }))) process.exitCode = 1
