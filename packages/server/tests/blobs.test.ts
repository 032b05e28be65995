// The blob stores. One set of tests runs on both, followed by the tests that only disks and only object stores need.
import { randomBytes } from 'node:crypto'
import { mkdir, mkdtemp, readdir, rm, stat, utimes, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { buffer } from 'node:stream/consumers'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { BlobMissing, type Blobs, BlobsUnavailable } from '../src/core/blobs.ts'
import { createDiskBlobs } from '../src/edges/blobs/disk.ts'
import { createEncryptedBlobs } from '../src/edges/blobs/encrypted.ts'
import { createS3Blobs, type S3Options } from '../src/edges/blobs/s3.ts'
import { S3Failure } from '../src/edges/blobs/s3-answers.ts'
import { type S3Store, startS3Store } from './harness/s3-store.ts'

const hourMs = 3_600_000
const credentials = { accessKeyId: 'AKIDEXAMPLE', secretAccessKey: 'a+secret/with=signs', sessionToken: 'session+token/=' }

let parent: string
let directory: string
let store: S3Store

beforeEach(async () => {
  parent = await mkdtemp(join(tmpdir(), 'callsign-blobs-'))
  directory = join(parent, 'not', 'there', 'yet')
  store = await startS3Store('bucket', 'eu-north-1', credentials)
})

afterEach(async () => {
  await store.close()
  await rm(parent, { recursive: true })
})

const s3 = (more: Partial<S3Options> = {}): Blobs =>
  createS3Blobs({
    bucket: 'bucket',
    prefix: 'Mail Store/v1',
    region: 'eu-north-1',
    endpoint: store.endpoint,
    pathStyle: true,
    timeoutMs: 20_000,
    ...credentials,
    ...more,
  })

const keysOf = async (blobs: Blobs, olderThanMs: number): Promise<string[]> => {
  const keys: string[] = []
  for await (const key of blobs.list(olderThanMs)) keys.push(key)
  return keys.sort()
}

const blobKeys = [{ id: 'k1', bytes: randomBytes(32) }]

describe.each([
  ['disk', () => createDiskBlobs(directory)],
  ['s3', () => s3()],
  ['encrypted disk', () => createEncryptedBlobs(createDiskBlobs(directory), blobKeys)],
  ['encrypted s3', () => createEncryptedBlobs(s3(), blobKeys)],
])('%s', (kind, create) => {
  test('a stored blob is read whole or in part, at once or as a stream', async () => {
    const blobs = create()
    const bytes = randomBytes(300_000)
    await blobs.put('raw/raw_1', bytes)
    expect((await blobs.get('raw/raw_1')).equals(bytes)).toBe(true)
    expect((await buffer(await blobs.stream('raw/raw_1'))).equals(bytes)).toBe(true)
    for (const [start, end] of [
      [0, 1],
      [0, 300_000],
      [100_000, 200_001],
      [299_999, 300_000],
      [299_999, 400_000],
      [300_000, 400_000],
      [5, 5],
      [300_000, 300_000],
    ] as const) {
      const expected = bytes.subarray(start, end)
      expect((await blobs.get('raw/raw_1', { start, end })).equals(expected), `${start}-${end}`).toBe(true)
      expect((await buffer(await blobs.stream('raw/raw_1', { start, end }))).equals(expected), `${start}-${end}`).toBe(true)
    }
  })

  test('an empty blob is stored', async () => {
    const blobs = create()
    await blobs.put('empty', Buffer.alloc(0))
    expect((await blobs.get('empty')).length).toBe(0)
    expect((await blobs.get('empty', { start: 0, end: 10 })).length).toBe(0)
    expect((await buffer(await blobs.stream('empty'))).length).toBe(0)
  })

  test('a missing blob is BlobMissing before any byte, also for empty ranges', async () => {
    const blobs = create()
    await expect(blobs.get('nothing')).rejects.toThrow(BlobMissing)
    await expect(blobs.get('nothing', { start: 0, end: 0 })).rejects.toThrow(BlobMissing)
    await expect(blobs.stream('nothing')).rejects.toThrow(BlobMissing)
    await blobs.put('there', Buffer.from('x'))
    await expect(blobs.get('there/deeper')).rejects.toThrow(BlobMissing)
  })

  test('a key may be put twice, deleted twice, and be the prefix of another', async () => {
    const blobs = create()
    const keys = ['a', 'a/b', 'a/b/c', 'a.b', 'a-b_c', '0', `${'k'.repeat(98)}/${'k'.repeat(97)}`]
    for (const key of keys) await blobs.put(key, Buffer.from(key))
    for (const key of keys) await blobs.put(key, Buffer.from(key))
    for (const key of keys) expect(String(await blobs.get(key))).toBe(key)
    expect(await keysOf(blobs, -hourMs)).toEqual(keys.toSorted())
    await blobs.delete('a/b')
    await blobs.delete('a/b')
    await expect(blobs.get('a/b')).rejects.toThrow(BlobMissing)
    expect(await keysOf(blobs, -hourMs)).toEqual(keys.filter((key) => key !== 'a/b').toSorted())
  })

  test('only old keys are listed', async () => {
    const blobs = create()
    await blobs.put('young', Buffer.from('x'))
    expect(await keysOf(blobs, hourMs)).toEqual([])
    expect(await keysOf(blobs, -hourMs)).toEqual(['young'])
  })

  test.each([
    '',
    '/',
    '/etc/passwd',
    '../up',
    'a/../../up',
    'a/..',
    '..',
    '.',
    '.hidden',
    'a/.hidden',
    'a//b',
    'a/',
    'A',
    'a b',
    'a\0b',
    'a\\b',
    'a+b',
    'ä',
    'a\n',
    '%2e%2e/a',
    'k'.repeat(201),
  ])('%j is not a key, and does not reach a store', async (key) => {
    const blobs = create()
    const attempts = [blobs.put(key, Buffer.from('x')), blobs.get(key), blobs.stream(key), blobs.delete(key)]
    for (const result of await Promise.allSettled(attempts)) {
      expect(result.status).toBe('rejected')
      expect(String((result as PromiseRejectedResult).reason)).toContain('not a blob key')
    }
    expect(store.requests).toEqual([])
    expect(await readdir(parent)).toEqual([])
  })

  test.each([
    [-1, 5],
    [5, 4],
    [0.5, 2],
    [0, Number.NaN],
    [0, Number.POSITIVE_INFINITY],
  ])('%d-%d is not a range', async (start, end) => {
    const blobs = create()
    await blobs.put('a', Buffer.from('abc'))
    await expect(blobs.get('a', { start, end })).rejects.toThrow(RangeError)
    await expect(blobs.stream('a', { start, end })).rejects.toThrow(RangeError)
  })

  test('many concurrent writes succeed', async () => {
    const blobs = create()
    const keys = Array.from({ length: 60 }, (_, index) => `raw/${index}`)
    await Promise.all(keys.map((key) => blobs.put(key, Buffer.from(key))))
    expect(await Promise.all(keys.map(async (key) => String(await blobs.get(key))))).toEqual(keys)
    expect(await keysOf(blobs, -hourMs)).toEqual(keys.toSorted())
    expect(kind.endsWith('s3') || (await readdir(join(directory, 'tmp'))).length === 0).toBe(true)
  })
})

describe('disk only', () => {
  test('an unused store has an empty list', async () => {
    expect(await keysOf(createDiskBlobs(directory), 0)).toEqual([])
  })

  test('files and folders are accessible to the owner only', async () => {
    await createDiskBlobs(directory).put('a', Buffer.from('x'))
    const files = (await readdir(directory, { recursive: true, withFileTypes: true })).map((entry) => join(entry.parentPath, entry.name))
    for (const path of [directory, ...files]) expect((await stat(path)).mode & 0o077, path).toBe(0)
  })

  test('a file that a crash left half written is not a blob, and is swept when it is old but not when it is young', async () => {
    const blobs = createDiskBlobs(directory)
    await blobs.put('a', Buffer.from('x'))
    const temporaries = join(directory, 'tmp')
    await writeFile(join(temporaries, 'old'), 'half')
    await writeFile(join(temporaries, 'young'), 'half')
    const twoHoursAgo = new Date(Date.now() - 2 * hourMs)
    await utimes(join(temporaries, 'old'), twoHoursAgo, twoHoursAgo)
    expect(await keysOf(blobs, -hourMs)).toEqual(['a'])
    expect(await readdir(temporaries)).toEqual(['young'])
  })

  test('foreign files are not touched and not listed', async () => {
    const blobs = createDiskBlobs(directory)
    await blobs.put('a', Buffer.from('x'))
    const [folder] = (await readdir(directory)).filter((name) => name !== 'tmp') as [string]
    await writeFile(join(directory, folder, 'Notes.txt'), 'x')
    await writeFile(join(directory, folder, 'b'), 'x')
    await writeFile(join(directory, 'lost+found'), 'x')
    await mkdir(join(directory, 'zz'))
    await writeFile(join(directory, 'zz', 'c'), 'x')
    expect(await keysOf(blobs, -hourMs)).toEqual(['a'])
  })

  test('errors of the file system keep their code, leave no files and are not cached', async () => {
    await writeFile(join(parent, 'not'), 'in the way')
    const blobs = createDiskBlobs(directory)
    await expect(blobs.put('a', Buffer.from('x'))).rejects.toMatchObject({ code: 'ENOTDIR' })
    await rm(join(parent, 'not'))
    await blobs.put('a', Buffer.from('x'))
    expect(String(await blobs.get('a'))).toBe('x')
    const [folder] = (await readdir(directory)).filter((name) => name !== 'tmp') as [string]
    await rm(join(directory, folder), { recursive: true })
    await mkdir(join(directory, folder, 'a'), { recursive: true })
    await expect(blobs.put('a', Buffer.from('x'))).rejects.toMatchObject({ code: 'EISDIR' })
    expect(await readdir(join(directory, 'tmp'))).toEqual([])
  })
})

describe('s3 only', () => {
  test('objects lie under the prefix, and others are not listed', async () => {
    await s3().put('raw/a', Buffer.from('x'))
    store.objects.set('Mail Store/v1/Not Ours', { bytes: Buffer.alloc(0), modifiedMs: 0 })
    store.objects.set('Mail Store/v10/b', { bytes: Buffer.alloc(0), modifiedMs: 0 })
    expect([...store.objects.keys()][0]).toBe('Mail Store/v1/raw/a')
    expect(await keysOf(s3(), -hourMs)).toEqual(['raw/a'])
    await s3({ prefix: '' }).put('raw/a', Buffer.from('x'))
    expect(store.objects.has('raw/a')).toBe(true)
  })

  test('a wrong secret or region fails with the code but not the secret, and is not retried', async () => {
    for (const wrong of [{ secretAccessKey: 'other' }, { region: 'us-east-1' }, { sessionToken: undefined }]) {
      const before = store.requests.length
      const error = await s3(wrong)
        .put('a', Buffer.from('x'))
        .catch((reason: unknown) => reason)
      expect(error).toBeInstanceOf(S3Failure)
      expect(error).toMatchObject({ status: 403, code: 'SignatureDoesNotMatch', message: 'S3 PUT failed: 403 SignatureDoesNotMatch' })
      expect(store.requests.length).toBe(before + 1)
    }
    await expect(s3({ bucket: 'other' }).get('a')).rejects.toMatchObject({ code: 'NoSuchBucket' })
  })

  test('a temporary failure is retried', async () => {
    store.faults.push(503, 'drop', 500)
    await s3().put('a', Buffer.from('abc'))
    store.faults.push('drop')
    expect(String(await s3().get('a'))).toBe('abc')
    store.faults.push('half')
    expect(String(await s3().get('a'))).toBe('abc')
    store.faults.push('hang', 429)
    await s3({ timeoutMs: 500 }).delete('a')
    expect(store.objects.size).toBe(0)
  })

  test('a permanent failure is reported', async () => {
    store.faults.push(503, 503, 503, 503)
    await expect(s3().put('a', Buffer.from('x'))).rejects.toMatchObject({
      name: 'BlobsUnavailable',
      cause: { status: 503, code: 'SlowDown' },
    })
    expect(store.requests.length).toBe(4)
    expect(store.objects.size).toBe(0)
  })

  test('a store that cannot be reached is reported as unavailable', async () => {
    await expect(s3({ endpoint: 'http://127.0.0.1:1' }).get('a')).rejects.toThrow(BlobsUnavailable)
  })

  test('a stream that breaks off ends with an error', async () => {
    await s3().put('a', randomBytes(100_000))
    store.faults.push('half')
    const stream = await s3().stream('a')
    await expect(buffer(stream)).rejects.toThrow()
  })
})
