// Requests to the servers of others: webhooks and downloads.
import type { Mutant } from '../mutant.ts'

export const mutants: Mutant[] = [
  {
    name: 'POST repeated after any failure',
    file: 'packages/server/src/edges/outbound-http/guarded-post.ts',
    find: 'if (!old || old.isAnswered || !isLost(error)) throw error',
    replace: 'if (!old || old.isAnswered) throw error',
    test: 'packages/server/tests/outbound-guard.test.ts',
    only: 'POST',
  },
  {
    name: 'POST on a new connection repeated',
    file: 'packages/server/src/edges/outbound-http/guarded-post.ts',
    find: 'if (!old || old.isAnswered || !isLost(error)) throw error',
    replace: 'if (old?.isAnswered || !isLost(error)) throw error',
    test: 'packages/server/tests/outbound-guard.test.ts',
    only: 'POST',
  },
  {
    name: 'POST on a kept connection never repeated',
    file: 'packages/server/src/edges/outbound-http/guarded-post.ts',
    find: 'if (!old || old.isAnswered || !isLost(error)) throw error',
    replace: 'throw error',
    test: 'packages/server/tests/outbound-guard.test.ts',
    only: 'POST',
  },
  {
    name: 'POST repeated after a part of an answer',
    file: 'packages/server/src/edges/outbound-http/guarded-post.ts',
    find: 'if (!old || old.isAnswered || !isLost(error)) throw error',
    replace: 'if (!old || !isLost(error)) throw error',
    test: 'packages/server/tests/outbound-guard.test.ts',
    only: 'POST',
  },
  {
    name: 'bytes behind an answer taken for the next one',
    file: 'packages/server/src/edges/outbound-http/answer-reader.ts',
    find: 'this.#isWhole = bytes.length - from === left',
    replace: 'this.#isWhole = bytes.length - from >= left',
    test: 'packages/server/src/edges/outbound-http/answer-reader.test.ts',
  },
  {
    name: 'line breaks in headers of a POST sent',
    file: 'packages/server/src/edges/outbound-http/guarded-post.ts',
    find: 'if (!fieldPattern.test(field)) throw',
    replace: 'if (field === "") throw',
    test: 'packages/server/tests/outbound-guard.test.ts',
    only: 'POST',
  },
  {
    name: 'blocked names distinguished from unknown ones',
    file: 'packages/server/src/edges/outbound-http/guarded-connection.ts',
    find: 'if (answers.length === 0 || !answers.every((address) => rules.allows(address))) throw notReachable()',
    replace: `if (answers.length === 0) throw notReachable()
  if (!answers.every((address) => rules.allows(address))) throw notPublic()`,
    test: 'packages/server/tests/outbound-guard.test.ts',
    only: 'names',
  },
  {
    name: 'a name with one public address allowed',
    file: 'packages/server/src/edges/outbound-http/guarded-connection.ts',
    find: '!answers.every((address) => rules.allows(address))',
    replace: '!answers.some((address) => rules.allows(address))',
    test: 'packages/server/tests/outbound-guard.test.ts',
    only: 'names',
  },
]
