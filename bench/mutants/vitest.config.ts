// The pure tests, beside their files and in packages/mail/tests, in one process with the runner that plants mutants.
import { defineConfig } from 'vitest/config'
import { freshState } from './fresh-state.ts'

export default defineConfig({
  plugins: [freshState()],
  test: {
    // A thread ends with its process, also in an endless loop.
    pool: 'threads',
    isolate: false,
    maxWorkers: 1,
    runner: 'bench/mutants/mutant-runner.ts',
    reporters: [],
    include: ['packages/{mail,server}/src/**/*.test.ts', 'packages/mail/tests/**/*.test.ts'],
    exclude: ['**/node_modules/**', '**/*-hostile.test.ts', '**/*-oracle.test.ts'],
    setupFiles: ['bench/mutants/skip-timing.ts'],
    testTimeout: 10_000,
  },
})
