// Three test projects: the rules of the repository, pure tests, and whole-server tests against one PostgreSQL.
import { join } from 'node:path'
import { defineConfig } from 'vitest/config'
import { BaseSequencer, type TestSpecification } from 'vitest/node'
import { SkippedTestsReporter } from './bin/skipped-tests.ts'

/** Files that take ten seconds or more, longest first, so that no worker starts one of them while the other has nothing left to do. */
const slowest = [
  'docs-snippets',
  'start',
  'backup',
  'hostile-server',
  'forged-authors',
  'host-commands',
  'package-readmes',
  'imessage-crash',
  'phone-crash',
  'host-setup',
  'vault',
  'channel-screens',
  'domains-model',
  'packages',
  'postgres',
  'mail-worker',
  'attachment-bombs',
  'console',
  'vault-keys',
  'crash',
  'tunnels-nodes',
  'hostile-mail',
  'events',
  'database-outage',
  'first-contact',
  'start-terminal',
  'webhooks-fairness',
  'event-socket',
  'compat-agentmail',
  'phone-providers',
  'scope-walk',
  'calls',
  'listen-exec',
  'filters-large',
  'domains-resend',
  'drafts-sending',
  'imessage-providers',
  'batch-crash',
  'browser',
  'console-commands',
  'attachment-text',
  'draining',
  'tunnels-hostile',
  'docs-browser',
  'domains',
  'scheduled-backup',
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

/** Read the repository and nothing else. `npm run check` runs them. */
const rules = ['architecture', 'documents', 'flows', 'sizes', 'style'].map((name) => `tests/${name}.test.ts`)
/** Need neither a server nor a database. */
const pure = ['bench/harness/*.test.ts', 'packages/*/src/**/*.test.ts', 'packages/mail/tests/**/*.test.ts']

export default defineConfig({
  test: {
    pool: 'forks',
    // One more than the two processors that the run is made for, because a third of its time is spent on waiting.
    maxWorkers: 3,
    sequence: { sequencer: SlowestFirst },
    reporters: ['default', ...(process.env.GITHUB_ACTIONS ? ['github-actions' as const] : []), new SkippedTestsReporter()],
    // Our commands start three times as fast with what another start compiled. bin/run uses the same folder.
    env: { NODE_COMPILE_CACHE: join(import.meta.dirname, 'node_modules', '.cache', 'callsign') },
    // Ends what hangs. A limit near the usual time of a test would fail on a slower machine.
    testTimeout: 300_000,
    hookTimeout: 300_000,
    // A second, which is the default, is short for what a server does on a machine with other work.
    expect: { poll: { timeout: 20_000 } },
    projects: [
      { extends: true, test: { name: 'rules', include: rules } },
      { extends: true, test: { name: 'pure', include: pure, isolate: false } },
      {
        extends: true,
        test: {
          name: 'server',
          include: ['packages/*/tests/**/*.test.ts', 'tests/**/*.test.ts'],
          exclude: ['**/node_modules/**', ...rules, ...pure],
          // A worker imports the server once and not for each file, which is a fifth of the run. Every file starts servers and databases of its own.
          isolate: false,
          // Runs only when a test of this project runs, so that the other two start no database.
          globalSetup: ['packages/server/tests/harness/database.ts'],
        },
      },
    ],
  },
})
