// Drafts and messages that are deleted with their files while these are searched for a send.
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { type S3Store, startS3Store } from './harness/s3-store.ts'
import { type Harness, type Json, startHarness } from './harness/start.ts'
import { waitFor } from './harness/wait.ts'

let harness: Harness
let store: S3Store
beforeAll(async () => {
  store = await startS3Store('bucket', 'eu-north-1', { accessKeyId: 'AKIDEXAMPLE', secretAccessKey: 'secret' })
  harness = await startHarness({
    CALLSIGN_BLOBS: 's3://bucket/mail',
    CALLSIGN_S3_ENDPOINT: store.endpoint,
    AWS_REGION: 'eu-north-1',
    AWS_ACCESS_KEY_ID: 'AKIDEXAMPLE',
    AWS_SECRET_ACCESS_KEY: 'secret',
  })
  await harness.createAgent('ann')
})
beforeEach(() => {
  store.beforeGet = null
})
afterAll(async () => {
  await harness.stop()
  await store.close()
})

const drafts = '/mailboxes/ann/drafts'
/** Large enough for a blob. */
const attachments = [{ filename: 'large.txt', content: Buffer.alloc(60_000, 'Large. ').toString('base64') }]
const draft = async (body: Json): Promise<string> =>
  (await harness.expectApi(201, 'POST', drafts, { body: { to: 'x@example.com', ...body } })).id
const original = async (): Promise<string> => {
  const body = { to: ['x@example.com'], text: 'a', subject: 'Original', attachments }
  return (await harness.expectApi(201, 'POST', '/mailboxes/ann/messages', { body })).id
}
const sent = async (): Promise<string[]> =>
  (await harness.expectApi(200, 'GET', '/mailboxes/ann/messages?direction=outbound')).data.map(({ id }: Json) => id)

/** Sends, runs `change` when the first file is read, and continues with the read when all objects that `change` deletes are gone. */
async function sendDuring(path: string, body: Json | undefined, change: () => Promise<unknown>): Promise<[number, string | undefined]> {
  const reading = Promise.withResolvers<string>()
  const changed = Promise.withResolvers<void>()
  store.beforeGet = (key) => {
    reading.resolve(key)
    return changed.promise
  }
  const answer = harness.api('POST', path, { body })
  const key = await reading.promise
  await change()
  await waitFor('the object to be deleted', () => !store.objects.has(key))
  changed.resolve()
  const { status, body: reply } = await answer
  return [status, reply.error?.code]
}

test('a draft that is deleted is not found, and nothing is sent', async () => {
  const id = await draft({ text: 'a', attachments })
  const before = await sent()
  const remove = () => harness.expectApi(200, 'DELETE', `${drafts}/${id}`)
  expect(await sendDuring(`${drafts}/${id}/send`, undefined, remove)).toEqual([404, 'not_found'])
  expect(await sent()).toEqual(before)
})

test('a file that is replaced is searched and sent in its new form', async () => {
  const id = await draft({ text: 'a', attachments })
  const [file] = (await harness.expectApi(200, 'GET', `${drafts}/${id}`)).attachments
  const body = {
    add_attachments: [{ filename: 'other.txt', content: Buffer.alloc(60_000, 'Other. ').toString('base64') }],
    remove_attachments: [file.id],
  }
  const replace = () => harness.expectApi(200, 'PATCH', `${drafts}/${id}`, { body })
  expect(await sendDuring(`${drafts}/${id}/send`, undefined, replace)).toEqual([201, undefined])
  const [latest] = await sent()
  expect((await harness.getMessage('ann', latest as string)).attachments).toMatchObject([{ filename: 'other.txt' }])
})

test.each(['draft', 'message'])('a forward as a %s is refused when its original is deleted, and nothing is sent', async (kind) => {
  const message = await original()
  const before = await sent()
  const path = kind === 'draft' ? `${drafts}/${await draft({ forward_of: message })}/send` : `/mailboxes/ann/messages/${message}/forward`
  const remove = () => harness.expectApi(200, 'DELETE', `/mailboxes/ann/messages/${message}`)
  expect(await sendDuring(path, kind === 'draft' ? undefined : { to: 'x@example.com' }, remove)).toEqual([409, 'conflict'])
  expect(await sent()).toEqual(before.filter((id) => id !== message))
})

test('a file that is lost without a deletion is an error of the server', async () => {
  const id = await draft({ text: 'a', attachments })
  const before = await sent()
  const lose = async () => store.objects.clear()
  const [status] = await sendDuring(`${drafts}/${id}/send`, undefined, lose)
  expect(status).toBeGreaterThanOrEqual(500)
  expect(await sent()).toEqual(before)
})
