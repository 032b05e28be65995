// Leases, lost answers, batches and repeated requests.
import type { Mutant } from '../mutant.ts'

export const mutants: Mutant[] = [
  {
    name: 'lease of a running job never renewed',
    file: 'packages/server/src/edges/jobs/runner.ts',
    find: 'if (renewals-- > 0) queue.renew(job, leaseMs).catch(() => {})',
    replace: 'if (renewals-- > 1e9) queue.renew(job, leaseMs).catch(() => {})',
    test: 'packages/server/tests/jobs.test.ts',
    only: 'two workers',
  },
  {
    name: 'lease of a running job renewed without end',
    file: 'packages/server/src/edges/jobs/runner.ts',
    find: 'if (renewals-- > 0) queue.renew',
    replace: 'if (renewals-- > -1e9) queue.renew',
    test: 'packages/server/tests/jobs.test.ts',
    only: 'two workers',
  },
  {
    name: 'lease renewed without its token',
    file: 'packages/server/src/edges/postgres/queue.ts',
    find: `SET run_at = now() + $3 * interval '1 millisecond' WHERE id = $1 AND lease_token = $2\`

const giveBackText`,
    replace: `SET run_at = now() + $3 * interval '1 millisecond' WHERE id = $1 AND $2::text IS NOT NULL\`

const giveBackText`,
    test: 'packages/server/tests/jobs.test.ts',
    only: 'two workers',
  },
  {
    name: 'job released without its token',
    file: 'packages/server/src/edges/postgres/queue.ts',
    find: "const releaseText = `UPDATE jobs SET lease_token = NULL, run_at = now() + $3 * interval '1 millisecond' WHERE id = $1 AND lease_token = $2`",
    replace:
      "const releaseText = `UPDATE jobs SET lease_token = NULL, run_at = now() + $3 * interval '1 millisecond' WHERE id = $1 AND $2::text IS NOT NULL`",
    test: 'packages/server/tests/jobs.test.ts',
    only: 'expired lease',
  },
  {
    name: 'lost claims not remembered',
    file: 'packages/server/src/edges/postgres/queue.ts',
    find: `        lostClaims = [...lostClaims, token]
`,
    replace: '',
    test: 'packages/server/tests/jobs.test.ts',
    only: 'lost',
  },
  {
    name: 'lost claims given back again and again',
    file: 'packages/server/src/edges/postgres/queue.ts',
    find: `    lostClaims = lostClaims.filter((token) => !tokens.includes(token))
`,
    replace: '',
    test: 'packages/server/tests/jobs.test.ts',
    only: 'lost',
  },
  {
    name: 'failed releases not remembered',
    file: 'packages/server/src/edges/postgres/queue.ts',
    find: `        unreturned = [...unreturned, job]
`,
    replace: '',
    test: 'packages/server/tests/jobs.test.ts',
    only: 'lost',
  },
  {
    name: 'failed releases given back without their token',
    file: 'packages/server/src/edges/postgres/queue.ts',
    find: 'OR (id, lease_token) IN (SELECT * FROM unnest($2::text[], $3::text[]))',
    replace: 'OR (id = ANY($2::text[]) AND $3::text[] IS NOT NULL)',
    test: 'packages/server/tests/jobs.test.ts',
    only: 'lost',
  },
  {
    name: 'jobs ended without their token',
    file: 'packages/server/src/edges/postgres/queue.ts',
    find: "const held = 'id = ANY($1::text[]) AND lease_token = ($2::text[])[array_position($1, id)]'",
    replace: "const held = 'id = ANY($1::text[]) AND $2::text[] IS NOT NULL'",
    test: 'packages/server/tests/jobs.test.ts',
  },
  {
    name: 'delivery ended without the lease token',
    file: 'packages/server/src/features/events/webhooks/delivery-store.ts',
    find: 'WHERE d.webhook_id = e.webhook_id AND d.id = e.id AND d.lease_token = e.token RETURNING d.id',
    replace: 'WHERE d.webhook_id = e.webhook_id AND d.id = e.id RETURNING d.id',
    test: 'packages/server/tests/webhook-leases.test.ts',
  },
  {
    name: 'delivery released without the lease token',
    file: 'packages/server/src/features/events/webhooks/delivery-store.ts',
    find: 'WHERE d.webhook_id = held.webhook_id AND d.id = held.id AND d.lease_token = held.token',
    replace: 'WHERE d.webhook_id = held.webhook_id AND d.id = held.id',
    test: 'packages/server/tests/webhook-leases.test.ts',
  },
  {
    name: 'delivery claimed while another holds it',
    file: 'packages/server/src/features/events/webhooks/delivery-store.ts',
    find: 'AND due_at <= now() AND (leased_until IS NULL OR leased_until < now())',
    replace: 'AND due_at <= now()',
    test: 'packages/server/tests/webhook-leases.test.ts',
  },
  {
    name: 'lease of a dead process never ends',
    file: 'packages/server/src/features/events/webhooks/delivery-store.ts',
    find: 'AND due_at <= now() AND (leased_until IS NULL OR leased_until < now())',
    replace: 'AND due_at <= now() AND leased_until IS NULL',
    test: 'packages/server/tests/webhook-leases.test.ts',
  },
  {
    name: 'taken after a lost answer drops the number and buys a second one',
    file: 'packages/server/src/features/phone/jobs.ts',
    find: 'return isCertain ? drop(row, phoneNumber) : again(pollMs)',
    replace: 'return drop(row, phoneNumber)',
    test: 'packages/server/tests/phone-orders.test.ts',
  },
  {
    name: 'taken by another customer never drops the number',
    file: 'packages/server/src/features/phone/jobs.ts',
    find: 'return isCertain ? drop(row, phoneNumber) : again(pollMs)',
    replace: 'return again(pollMs)',
    test: 'packages/server/tests/phone-orders.test.ts',
  },
  {
    name: 'lost answer to an order not remembered',
    file: 'packages/server/src/features/phone/jobs.ts',
    find: `        await store.markUncertain(db, row.id)
`,
    replace: '',
    test: 'packages/server/tests/phone-orders.test.ts',
  },
  {
    name: 'own Message-ID counted as an answer',
    file: 'packages/server/src/features/mail/messages/filing.ts',
    find: 'lookupOrder({ ...keysOf(filing), messageId: null })',
    replace: 'lookupOrder({ ...keysOf(filing) })',
    test: 'packages/server/src/features/mail/messages/filing.test.ts',
  },
  {
    name: 'thread without own messages counted as answered',
    file: 'packages/server/src/features/mail/messages/filing.ts',
    find: 'hasOutbound ? [threadId] : []',
    replace: '[threadId]',
    test: 'packages/server/src/features/mail/messages/filing.test.ts',
  },
  {
    name: 'copies within a batch filed twice',
    file: 'packages/server/src/features/mail/messages/filing.ts',
    find: '(name === null ? undefined : together.get(name))',
    replace: 'undefined',
    test: 'packages/server/tests/filing-batches.test.ts',
  },
  {
    name: 'messages of one thread in a batch counted once',
    file: 'packages/server/src/features/mail/messages/filing.ts',
    find: 'count: (known?.count ?? 0) + (isQuarantined',
    replace: 'count: (isQuarantined',
    test: 'packages/server/tests/filing-batches.test.ts',
  },
  {
    name: 'subject of the last message of a batch',
    file: 'packages/server/src/features/mail/messages/filing.ts',
    find: 'subject: known && known.count > 0 ? known.subject : row.subject',
    replace: 'subject: row.subject',
    test: 'packages/server/tests/filing-batches.test.ts',
  },
  {
    name: 'mailbox counter of a batch counts one',
    file: 'packages/server/src/features/mail/messages/count-store.ts',
    find: 'count.delta++',
    replace: 'count.delta = 1',
    test: 'packages/server/tests/filing-batches.test.ts',
  },
  {
    name: 'quarantined messages counted',
    file: 'packages/server/src/features/mail/messages/count-store.ts',
    find: "if (row.status !== 'quarantined') count.delta++",
    replace: 'count.delta++',
    test: 'packages/server/tests/filing-batches.test.ts',
  },
  {
    name: 'quarantined copy suppresses the accepted one',
    file: 'packages/server/src/features/mail/messages/filing.ts',
    find: "message.rfc_message_id, message.status === 'quarantined', sha256",
    replace: 'message.rfc_message_id, sha256',
    test: 'packages/server/tests/filing-batches.test.ts',
  },
  {
    name: 'copies recognised by Message-ID alone',
    file: 'packages/server/src/features/mail/messages/filing.ts',
    find: ", sha256.toString('base64')])",
    replace: '])',
    test: 'packages/server/tests/filing-batches.test.ts',
  },
  {
    name: 'references of a batch not seen by its next message',
    file: 'packages/server/src/features/mail/messages/threading.ts',
    find: `  for (const id of unknownReferences) known.set(id, { threadId, messageId: null, hasOutbound, isQuarantined: false })
`,
    replace: '',
    test: 'packages/server/tests/filing-batches.test.ts',
  },
  {
    name: 'own id of a message of a batch not recorded',
    file: 'packages/server/src/features/mail/messages/threading.ts',
    find: 'if (own && own.messageId === null) own.messageId = messageId',
    replace: "if (own && own.messageId === '') own.messageId = messageId",
    test: 'packages/server/tests/filing-batches.test.ts',
  },
  {
    name: 'no early 409',
    file: 'packages/server/src/edges/api/idempotency.ts',
    find: `    if (running.has(name)) throw inProgress()
`,
    replace: '',
    test: 'packages/server/tests/idempotency.test.ts',
  },
  {
    name: 'running requests never forgotten',
    file: 'packages/server/src/edges/api/idempotency.ts',
    find: `      running.delete(name)
`,
    replace: '',
    test: 'packages/server/tests/idempotency.test.ts',
  },
]
