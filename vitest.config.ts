// How the tests run: pure tests beside their files, whole-server tests against one real PostgreSQL.
import { defineConfig } from 'vitest/config'
import { BaseSequencer, type TestSpecification } from 'vitest/node'

/** Files that take ten seconds and more, longest first: the last worker to finish is not to have begun one of these at the end. */
const slowest = [
  'backup',
  'package-readmes',
  'start',
  'imessage-crash',
  'postgres',
  'host-setup',
  'hostile-server',
  'phone-crash',
  'mail-worker',
  'vault',
  'events',
  'domains-model',
  'phone-providers',
  'domains-resend',
  'host-commands',
  'crash',
  'tunnels-nodes',
  'argon2',
  'imessage-providers',
  'readme-tour',
  'packages',
  'parse-hostile',
  'drafts-sending',
  'phones',
  'draining',
]

class SlowestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const rank = ({ moduleId }: TestSpecification) => {
      const place = slowest.findIndex((name) => moduleId.endsWith(`/${name}.test.ts`))
      return place < 0 ? slowest.length : place
    }
    return (await super.sort(files)).toSorted((a, b) => rank(a) - rank(b))
  }
}

export default defineConfig({
  test: {
    include: ['packages/*/src/**/*.test.ts', 'packages/*/tests/**/*.test.ts', 'tests/**/*.test.ts'],
    globalSetup: ['packages/server/tests/harness/database.ts'],
    pool: 'forks',
    maxWorkers: 2,
    sequence: { sequencer: SlowestFirst },
    testTimeout: 30_000,
    hookTimeout: 60_000,
  },
})
