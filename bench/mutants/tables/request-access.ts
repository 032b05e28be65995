// Defects of what a request may contain, what a key may read, and which addresses a message may name.
import type { Mutant } from '../mutant.ts'

const server = 'packages/server/src'
const requestValues = 'packages/server/tests/request-values.test.ts'

export const mutants: Mutant[] = [
  {
    name: 'integers of a query in any notation',
    file: `${server}/edges/api/validation.ts`,
    find: "if (typeof text === 'string' && !/^-?[0-9]+$/.test(text)) return refuse(name, 'must be a whole number')",
    replace: '',
    test: requestValues,
    only: 'an integer in a query',
  },
  {
    name: 'path parameters of a wrong form answered 400',
    file: 'packages/contract/src/schema.ts',
    find: '    description: `The id of ',
    replace: '    maxLength: 40,\n    description: `The id of ',
    test: requestValues,
    only: 'body or query',
  },
  {
    name: 'an unknown vault key deleted with 200',
    file: `${server}/features/vault/operations.ts`,
    find: "else if (!(await keyStore.wasKeyDeleted(tx, vault.organization_id, id))) throw notFound('vault key')",
    replace: '',
    test: requestValues,
    only: 'in the path',
  },
  {
    name: 'control characters of an entry removed',
    file: 'packages/mail/src/mail-address.ts',
    find: '[\\p{Cc}\\p{Cf}\\p{Zl}\\p{Zp}]',
    replace: '[\\p{Cf}\\p{Zl}\\p{Zp}]',
    test: `${server}/features/mail/rules/model.test.ts`,
  },
  {
    name: 'tabs and line breaks of a domain removed',
    file: 'packages/mail/src/mail-address.ts',
    find: ' && !/\\p{Cc}/u.test(text) ?',
    replace: ' ?',
    test: 'packages/mail/src/mail-address.test.ts',
  },
  {
    name: 'quarantined mail read without the scope',
    file: `${server}/features/mail/messages/operations.ts`,
    find: "if (row.status === 'quarantined') requireScope(caller, 'quarantine:read')",
    replace: '',
    test: 'packages/server/tests/quarantine.test.ts',
    only: 'a message that a rule blocks',
  },
  {
    name: 'a new key replayed to another key',
    file: `${server}/edges/api/idempotency.ts`,
    find: 'shape.hasSecretReply ? accessIdOf(caller) : ',
    replace: '',
    test: 'packages/server/tests/repeated-requests.test.ts',
    only: 'a new key or webhook secret',
  },
  {
    name: 'reply_to and receipt headers outside the rules',
    file: `${server}/features/mail/rules/operations.ts`,
    find: '...decide(replyAddresses).refusals',
    replace: '',
    test: 'packages/server/tests/mail-rules.test.ts',
    only: 'outbound',
  },
  {
    name: 'inspected bodies stored in the clear',
    file: `${server}/features/tunnels/request-sealing.ts`,
    find: 'body && sealSecret(sealKey, name, body)',
    replace: 'body && Buffer.from(body)',
    test: 'packages/server/tests/tunnels-inspector.test.ts',
    only: 'encrypted in the database',
  },
]
