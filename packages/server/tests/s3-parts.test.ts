// Large objects of an S3 store, which are uploaded in parts, and checksums.
import { randomBytes } from 'node:crypto'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { type Blobs, BlobsUnavailable } from '../src/core/blobs.ts'
import { toApiError } from '../src/edges/api/failure.ts'
import { createS3Blobs } from '../src/edges/blobs/s3.ts'
import { partBytes } from '../src/edges/blobs/s3-multipart.ts'
import { type S3Store, startS3Store } from './harness/s3-store.ts'

const hourMs = 3_600_000
const credentials = { accessKeyId: 'AKIDEXAMPLE', secretAccessKey: 'secret' }
let store: S3Store

beforeEach(async () => {
  store = await startS3Store('bucket', 'eu-north-1', credentials)
})
afterEach(() => store.close())

const s3 = (): Blobs =>
  createS3Blobs({
    bucket: 'bucket',
    prefix: 'Mail Store/v1',
    region: 'eu-north-1',
    endpoint: store.endpoint,
    pathStyle: true,
    ...credentials,
  })

test('a large blob is uploaded in parts, one of which may be repeated, and is read again', async () => {
  const bytes = randomBytes(2 * partBytes + 12_345)
  store.faults.push(503, 'drop')
  await s3().put('large', bytes)
  expect(store.requests.filter((one) => one.includes('partNumber=')).length).toBeGreaterThanOrEqual(3)
  expect((await s3().get('large')).equals(bytes)).toBe(true)
  expect(store.uploads.size).toBe(0)
})

test('an upload in parts that fails leaves no object and no parts, and one of a killed process is swept', async () => {
  const bytes = randomBytes(partBytes + 1)
  const { uploads } = store
  const set = uploads.set.bind(uploads)
  // The start succeeds, then both parts fail for good.
  uploads.set = (id, upload) => {
    store.faults.push(...Array.from({ length: 8 }, () => 500 as const))
    return set(id, upload)
  }
  await expect(s3().put('large', bytes)).rejects.toThrow(BlobsUnavailable)
  uploads.set = set
  expect([store.uploads.size, store.objects.size]).toEqual([0, 0])

  const upload = { parts: new Map([[1, bytes]]) }
  store.uploads.set('old', { ...upload, key: 'Mail Store/v1/raw/a', begunMs: Date.now() - 25 * hourMs })
  store.uploads.set('young', { ...upload, key: 'Mail Store/v1/raw/b', begunMs: Date.now() - hourMs })
  store.uploads.set('foreign', { ...upload, key: 'Other/raw/a', begunMs: 0 })
  for await (const key of s3().list(0)) expect(key).toBe('none')
  expect([...store.uploads.keys()].toSorted()).toEqual(['foreign', 'young'])
})

test('an upload whose end was answered too late is not uploaded again', async () => {
  const bytes = randomBytes(partBytes + 1)
  const { objects } = store
  const set = objects.set.bind(objects)
  // The store puts the parts together, and the connection breaks before its answer: the next attempt finds no upload.
  objects.set = (key, object) => {
    store.cutNext = true
    return set(key, object)
  }
  await s3().put('large', bytes)
  expect((await s3().get('large')).equals(bytes)).toBe(true)
  expect(store.requests.filter((one) => one.startsWith('HEAD ')).length).toBe(1)
})

test('an object is stored with its checksum, and one that changed is an error', async () => {
  await s3().put('raw/a', Buffer.from('intact'))
  const stored = store.objects.get('Mail Store/v1/raw/a')
  expect(stored?.checksum).toBe('DMstgA==')
  store.objects.set('Mail Store/v1/raw/a', { ...stored!, bytes: Buffer.from('Intact') })
  await expect(s3().get('raw/a')).rejects.toThrow('differ from the checksum')
})

test('while the store is unavailable, clients are asked to repeat their request', () => {
  expect(toApiError(new BlobsUnavailable('gone'))).toMatchObject({ status: 503, code: 'unavailable' })
})
