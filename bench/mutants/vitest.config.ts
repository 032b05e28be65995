// The pure tests that Stryker runs, beside their files and in packages/mail/tests.
import { defineConfig } from 'vitest/config'

export default defineConfig({
  test: {
    pool: 'forks',
    include: ['packages/{mail,server}/src/**/*.test.ts', 'packages/mail/tests/**/*.test.ts'],
    exclude: ['**/node_modules/**', '**/*-hostile.test.ts', '**/*-oracle.test.ts'],
    setupFiles: ['bench/mutants/steady-clock.ts'],
    testTimeout: 6_000,
  },
})
