// Checks the blob store against an S3 server that others wrote: every operation, parts, checksums and encryption.
import { createHash, randomBytes } from 'node:crypto'
import { buffer } from 'node:stream/consumers'
import { BlobMissing, type Blobs } from '../../packages/server/src/core/blobs.ts'
import { createEncryptedBlobs } from '../../packages/server/src/edges/blobs/encrypted.ts'
import type { Ceph } from './ceph.ts'

/** Objects of one list, more than the 1,000 of a page. */
const listed = 1_050
const large = 50_000_000

const hashOf = (bytes: Buffer): string => createHash('sha256').update(bytes).digest('hex')

/** Each check throws when the store fails it. */
export const storeChecks = (ceph: Ceph, bucket: string, open: (prefix: string) => Blobs): Record<string, () => Promise<string>> => ({
  'put, get, ranges, streams, delete': async () => {
    const blobs = open('basic')
    const bytes = randomBytes(300_000)
    await blobs.put('raw/a', bytes)
    await blobs.put('raw/a', bytes)
    await blobs.put('empty', Buffer.alloc(0))
    same(await blobs.get('raw/a'), bytes)
    same(await buffer(await blobs.stream('raw/a')), bytes)
    for (const [start, end] of [
      [0, 1],
      [100, 70_000],
      [299_999, 400_000],
      [300_000, 400_000],
      [5, 5],
    ] as const)
      same(await blobs.get('raw/a', { start, end }), bytes.subarray(start, end))
    same(await blobs.get('empty'), Buffer.alloc(0))
    await blobs.delete('raw/a')
    await blobs.delete('raw/a')
    for (const range of [undefined, { start: 0, end: 0 }]) {
      const error = await blobs.get('raw/a', range).catch((reason: unknown) => reason)
      if (!(error instanceof BlobMissing)) throw new Error(`a missing blob was answered ${error}`)
    }
    return 'whole, 5 ranges, missing, deleted twice'
  },

  'a list of several pages': async () => {
    const blobs = open('many')
    const keys = Array.from({ length: listed }, (_, index) => `raw/${index}`)
    for (let at = 0; at < listed; at += 50) await Promise.all(keys.slice(at, at + 50).map((key) => blobs.put(key, Buffer.from(key))))
    const found: string[] = []
    for await (const key of blobs.list(-60_000)) found.push(key)
    if (found.toSorted().join() !== keys.toSorted().join()) throw new Error(`${found.length} of ${listed} keys were listed`)
    for await (const key of blobs.list(3_600_000)) throw new Error(`${key} was listed as old`)
    return `${listed} objects`
  },

  'a large blob in parts': async () => {
    const blobs = open('large')
    const bytes = randomBytes(large)
    await blobs.put('raw/large', bytes)
    if (hashOf(await blobs.get('raw/large')) !== hashOf(bytes)) throw new Error('the bytes differ')
    same(await blobs.get('raw/large', { start: 8_388_600, end: 8_388_620 }), bytes.subarray(8_388_600, 8_388_620))
    const head = await ceph.request('HEAD', `/${bucket}/large/raw/large`)
    if (!/-\d+"$/.test(head.headers.get('etag') ?? '')) throw new Error(`it was not stored in parts: ${head.headers.get('etag')}`)
    const uploads = await (await ceph.request('GET', `/${bucket}?uploads`)).text()
    if (uploads.includes('<UploadId>')) throw new Error('an upload was left')
    return `${large} bytes, ETag ${head.headers.get('etag')}`
  },

  'damaged bytes are refused': async () => {
    const wrong = createHash('sha256').update('other').digest('hex')
    const answer = await ceph.request('PUT', `/${bucket}/damaged`, { 'x-amz-content-sha256': wrong }, Buffer.from('bytes'))
    if (answer.status !== 400 && answer.status !== 403) throw new Error(`answered ${answer.status}`)
    const there = await ceph.request('HEAD', `/${bucket}/damaged`)
    if (there.status !== 404) throw new Error('the object was stored')
    return `answered ${answer.status}`
  },

  'the checksum in CRC-32': async () => {
    await open('sum').put('raw/a', Buffer.from('bytes'))
    const answer = await ceph.request('GET', `/${bucket}/sum/raw/a`, { 'x-amz-checksum-mode': 'ENABLED' })
    return answer.headers.has('x-amz-checksum-crc32') ? 'kept by the store' : 'ignored by this version. SHA-256 of each request is verified'
  },

  'encryption and a new key': async () => {
    const [first, second] = ['first', 'second'].map((id) => ({ id, bytes: randomBytes(32) })) as [Key, Key]
    const inner = open('encrypted')
    const bytes = Buffer.alloc(10_000_000, 'a secret sentence ')
    await createEncryptedBlobs(inner, [first]).put('raw/a', bytes)
    if ((await inner.get('raw/a.enc')).includes('secret')) throw new Error('the stored bytes are readable')
    const both = createEncryptedBlobs(inner, [second, first])
    same(await both.get('raw/a', { start: 9_000_000, end: 9_000_100 }), bytes.subarray(9_000_000, 9_000_100))
    if (!(await both.reencrypt('raw/a'))) throw new Error('it was not encrypted under the new key')
    same(await createEncryptedBlobs(inner, [second]).get('raw/a'), bytes)
    return `${bytes.length} bytes, re-encrypted`
  },
})

type Key = { id: string; bytes: Buffer }

function same(found: Buffer, expected: Buffer): void {
  if (!found.equals(expected)) throw new Error(`${found.length} bytes were read, which are not the ${expected.length} stored ones`)
}
