// Messages that are filed in one batch end as they would one after another.
import { createHash } from 'node:crypto'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { newId } from '../src/core/ids.ts'
import { type Filed, type Filing, fileMessages } from '../src/features/mail/stored/filing/filing.ts'
import { findThreads } from '../src/features/mail/stored/mail-store.ts'
import type { MessageRow } from '../src/features/mail/stored/model.ts'
import { type Harness, type Json, startHarness } from './harness/start.ts'

let harness: Harness
let template: MessageRow
beforeAll(async () => {
  harness = await startHarness()
  await harness.createAgent('ann')
  await harness.deliver({ from: 'eve@example.org', to: 'ann@agents.localhost', subject: 'Template', text: 'A text.' })
  const { id } = await harness.waitForMail('ann', 'Template')
  const { rows } = await harness.db.query<MessageRow>({ text: 'SELECT * FROM messages WHERE id = $1', values: [id] })
  template = { ...(rows[0] as MessageRow), extracted_text: 'A text.' }
})
afterAll(() => harness.stop())

type Mail = { id: string; inReplyTo?: string; subject?: string; bytes?: string; status?: 'received' | 'quarantined' }

const filingOf = ({ id, inReplyTo, subject = id, bytes, status = 'received' }: Mail): Filing => ({
  message: { ...template, id: newId('message'), rfc_message_id: `<${id}@example.org>`, subject, status, raw_id: newId('raw') },
  owner: { handle: 'ann', address: 'ann@agents.localhost' },
  thread: { references: { inReplyTo: inReplyTo ? [`<${inReplyTo}@example.org>`] : [], references: [] } },
  attachments: [],
  recipients: [],
  sha256: createHash('sha256')
    .update(bytes ?? id)
    .digest(),
})

/** `between` runs after the lookup of what is known. */
const fileTogether = (filings: Filing[], between: () => Promise<void> = async () => {}): Promise<Filed[]> =>
  harness.db.transact(async (tx) => {
    const raws = filings.map(({ message, sha256 }) => ({
      id: message.raw_id as string,
      organizationId: message.organization_id,
      sizeBytes: 1,
      sha256: sha256 as Buffer,
      bytes: Buffer.from('x'),
      blobKey: null,
      at: message.created_at,
    }))
    const known = await findThreads(tx, filings)
    await between()
    return fileMessages(tx, filings, known, raws)
  })
const threadOf = (filed: Filed | undefined): Promise<Json> => harness.expectApi(200, 'GET', `/mailboxes/ann/threads/${filed?.threadId}`)
const countOf = async (): Promise<number> =>
  (await harness.db.query<{ sum: number }>({ text: 'SELECT sum(count)::int AS sum FROM message_counts' })).rows[0]?.sum as number

test('two messages of one thread count as two, join, and keep the first subject', async () => {
  const before = await countOf()
  const filings = [filingOf({ id: 'a1', subject: 'First' }), filingOf({ id: 'a2', inReplyTo: 'a1', subject: 'Second' })]
  const filed = await fileTogether(filings)
  expect(filed.map((one) => [one.messageId, one.isDuplicate])).toEqual(filings.map(({ message }) => [message.id, false]))
  expect(filed[1]?.threadId).toBe(filed[0]?.threadId)
  expect(await threadOf(filed[0])).toMatchObject({ subject: 'First', message_count: 2 })
  expect(await countOf()).toBe(before + 2)
  const { rows } = await harness.db.query({
    text: 'SELECT in_reply_to_message_id FROM messages WHERE id = $1',
    values: [filed[1]?.messageId],
  })
  expect(rows).toEqual([{ in_reply_to_message_id: filed[0]?.messageId }])
})

test('an answer before its parent in the batch ends in the same thread', async () => {
  const filed = await fileTogether([filingOf({ id: 'b2', inReplyTo: 'b1' }), filingOf({ id: 'b1' })])
  expect(filed[1]?.threadId).toBe(filed[0]?.threadId)
  expect(await threadOf(filed[0])).toMatchObject({ message_count: 2 })
  // A later answer to either of them joins it.
  for (const [id, inReplyTo] of [
    ['b3', 'b1'],
    ['b4', 'b2'],
  ] as const)
    expect((await fileTogether([filingOf({ id, inReplyTo })]))[0]?.threadId).toBe(filed[0]?.threadId)
})

test('two copies are filed once, and two messages that share an id but not their bytes twice', async () => {
  const before = await countOf()
  const copies = await fileTogether([filingOf({ id: 'c1' }), filingOf({ id: 'c1' }), filingOf({ id: 'c1', bytes: 'other' })])
  expect(copies.map((one) => one.isDuplicate)).toEqual([false, true, false])
  expect(copies[1]?.messageId).toBe(copies[0]?.messageId)
  expect(copies[2]?.messageId).not.toBe(copies[0]?.messageId)
  expect(await countOf()).toBe(before + 2)
  const { rows } = await harness.db.query<{ count: number }>({
    text: `SELECT count(*)::int AS count FROM messages WHERE rfc_message_id = '<c1@example.org>'`,
  })
  expect(rows[0]?.count).toBe(2)
})

test('two copies of an answer that are filed at the same time are filed once', async () => {
  const [parent] = await fileTogether([filingOf({ id: 'f1' })])
  const copies = () => [filingOf({ id: 'f2', inReplyTo: 'f1' })]
  const looked = Promise.withResolvers<void>()
  const committed = Promise.withResolvers<void>()
  let tries = 0
  const second = fileTogether(copies(), async () => {
    if (++tries > 1) return
    looked.resolve()
    await committed.promise
  })
  await looked.promise
  const [first] = await fileTogether(copies())
  committed.resolve()
  expect(await second).toEqual([{ ...first, isDuplicate: true }])
  expect(await threadOf(parent)).toMatchObject({ message_count: 2 })
})

test('a quarantined message in the batch neither counts nor joins, and its copy that is accepted is filed', async () => {
  const before = await countOf()
  const filed = await fileTogether([
    filingOf({ id: 'd1', status: 'quarantined' }),
    filingOf({ id: 'd1' }),
    filingOf({ id: 'd2', inReplyTo: 'd1' }),
  ])
  expect(filed.map((one) => one.isDuplicate)).toEqual([false, false, false])
  expect(filed[0]?.threadId).not.toBe(filed[1]?.threadId)
  expect(filed[2]?.threadId).toBe(filed[1]?.threadId)
  expect(await countOf()).toBe(before + 2)
})

test('messages without a shared reference stay apart', async () => {
  const filed = await fileTogether([filingOf({ id: 'e1', subject: 'Same' }), filingOf({ id: 'e2', subject: 'Same' })])
  expect(filed[0]?.threadId).not.toBe(filed[1]?.threadId)
  for (const one of filed) expect(await threadOf(one)).toMatchObject({ message_count: 1 })
})
