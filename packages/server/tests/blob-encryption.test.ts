// Encryption of blobs at rest: secrecy, every kind of damage, keys that change, and blobs that were stored before.
import { randomBytes } from 'node:crypto'
import { mkdtemp, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { buffer } from 'node:stream/consumers'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { readConfig } from '../src/config/settings.ts'
import { BlobMissing, type Blobs } from '../src/core/blobs.ts'
import { createDiskBlobs } from '../src/edges/blobs/disk.ts'
import { type BlobKey, createEncryptedBlobs } from '../src/edges/blobs/encrypted.ts'
import { reencryptBlobs } from '../src/host/reencrypt.ts'
import { createBlobs } from '../src/wiring/parts.ts'

const chunkBytes = 65_536
const [first, second] = ['first', 'second'].map((id): BlobKey => ({ id, bytes: randomBytes(32) })) as [BlobKey, BlobKey]
let directory: string
let disk: Blobs

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'callsign-encrypted-'))
  disk = createDiskBlobs(directory)
})
afterEach(() => rm(directory, { recursive: true }))

const under = (...keys: BlobKey[]) => createEncryptedBlobs(disk, keys)
const namesOf = async (): Promise<string[]> =>
  (await readdir(directory, { recursive: true, withFileTypes: true }))
    .filter((one) => one.isFile())
    .map((one) => join(one.parentPath, one.name))
const keysOf = async (blobs: Blobs): Promise<string[]> => {
  const keys: string[] = []
  for await (const key of blobs.list(-1000)) keys.push(key)
  return keys.toSorted()
}

test.each([0, 1, chunkBytes - 1, chunkBytes, chunkBytes + 1, 3 * chunkBytes])(
  '%d bytes are stored unreadably and read in every part',
  async (size) => {
    const plain = Buffer.alloc(size, 'secret sentence ')
    const blobs = under(first)
    await blobs.put('raw/a', plain)
    const [file = ''] = await namesOf()
    expect((await readFile(file)).includes('secret')).toBe(false)
    const edges = [...new Set([0, 1, chunkBytes - 1, chunkBytes, chunkBytes + 1, size - 1, size, size + 5])].filter((at) => at >= 0)
    for (const start of edges)
      for (const end of edges.filter((at) => at >= start)) {
        expect((await blobs.get('raw/a', { start, end })).equals(plain.subarray(start, end)), `${start}-${end}`).toBe(true)
      }
    expect((await blobs.get('raw/a')).equals(plain)).toBe(true)
    expect((await buffer(await blobs.stream('raw/a'))).equals(plain)).toBe(true)
  },
)

test('the same bytes are stored differently each time', async () => {
  const blobs = under(first)
  for (const key of ['a', 'b']) await blobs.put(key, Buffer.alloc(100))
  const [a, b] = await Promise.all((await namesOf()).map((name) => readFile(name)))
  expect(a?.subarray(24).equals(b!.subarray(24))).toBe(false)
})

test('a blob that was changed, cut, extended or renamed is an error and yields no bytes', async () => {
  const blobs = under(first)
  await blobs.put('raw/a', randomBytes(2 * chunkBytes + 100))
  const [file = ''] = await namesOf()
  const intact = await readFile(file)
  const damages: [string, Buffer][] = [
    ...[0, 5, 30, 60, 63, 64, 64 + chunkBytes, intact.length - 1].map((at): [string, Buffer] => {
      const bytes = Buffer.from(intact)
      bytes[at]! ^= 1
      return [`byte ${at}`, bytes]
    }),
    ['cut at a chunk', intact.subarray(0, 64 + 2 * (chunkBytes + 16))],
    ['cut in a chunk', intact.subarray(0, -50)],
    ['cut in the header', intact.subarray(0, 40)],
    ['extended', Buffer.concat([intact, Buffer.alloc(20)])],
    [
      'chunks exchanged',
      Buffer.concat([
        intact.subarray(0, 64),
        intact.subarray(64 + chunkBytes + 16, 64 + 2 * (chunkBytes + 16)),
        intact.subarray(64, 64 + chunkBytes + 16),
        intact.subarray(64 + 2 * (chunkBytes + 16)),
      ]),
    ],
  ]
  for (const [name, bytes] of damages) {
    await writeFile(file, bytes)
    await expect(blobs.get('raw/a'), name).rejects.toThrow(/damaged|CALLSIGN_BLOB_KEYS/)
  }
  await writeFile(file, intact)
  await blobs.put('raw/b', Buffer.from('other'))
  const other = (await namesOf()).find((name) => name !== file) as string
  await rename(file, other)
  await expect(blobs.get('raw/b')).rejects.toThrow('damaged')
  await expect(blobs.get('raw/b', { start: 0, end: 5 })).rejects.toThrow('damaged')
})

test('a range whose own chunks were changed is an error', async () => {
  const blobs = under(first)
  await blobs.put('raw/a', randomBytes(3 * chunkBytes))
  const [file = ''] = await namesOf()
  const bytes = await readFile(file)
  bytes[64 + chunkBytes + 16 + 5]! ^= 1
  await writeFile(file, bytes)
  expect((await blobs.get('raw/a', { start: 0, end: 10 })).length).toBe(10)
  await expect(blobs.get('raw/a', { start: chunkBytes + 100, end: chunkBytes + 110 })).rejects.toThrow('damaged')
  await expect(buffer(await blobs.stream('raw/a'))).rejects.toThrow('damaged')
})

test('keys change: earlier blobs stay readable, and reencrypt moves them and plain ones to the new key, also twice', async () => {
  await disk.put('plain', Buffer.from('before encryption'))
  await under(first).put('old', Buffer.from('under the first key'))
  const both = under(second, first)
  await both.put('new', Buffer.from('under the second key'))
  expect(await keysOf(both)).toEqual(['new', 'old', 'plain'])
  expect(String(await both.get('old'))).toBe('under the first key')
  expect(String(await both.get('plain', { start: 0, end: 6 }))).toBe('before')
  await expect(under(second).get('old')).rejects.toThrow('encrypted under the key "first": add that key to CALLSIGN_BLOB_KEYS')
  expect(await reencryptBlobs(both)).toMatch('encrypted 2 of')
  expect(await reencryptBlobs(both)).toBe('encrypted 0 of 3 files. The others were encrypted under this key already.')
  const onlySecond = under(second)
  expect(await Promise.all(['new', 'old', 'plain'].map(async (key) => String(await onlySecond.get(key))))).toEqual([
    'under the second key',
    'under the first key',
    'before encryption',
  ])
  await expect(disk.get('plain')).rejects.toThrow(BlobMissing)
})

test('without keys, encrypted blobs keep their names for the sweep, are not read as they are, and can be deleted', async () => {
  await under(first).put('raw/a', Buffer.from('x'))
  const none = under()
  expect(await keysOf(none)).toEqual(['raw/a'])
  await expect(none.get('raw/a')).rejects.toThrow('add that key to CALLSIGN_BLOB_KEYS')
  await expect(none.reencrypt('raw/a')).rejects.toThrow('CALLSIGN_BLOB_KEYS is required')
  await none.delete('raw/a')
  expect(await namesOf()).toEqual([])
})

test('plain bytes that imitate the header are read as they were stored', async () => {
  const imitation = Buffer.concat([Buffer.from('CSE1first'), randomBytes(100)])
  await under().put('raw/a', imitation)
  for (const blobs of [under(), under(first)]) expect((await blobs.get('raw/a')).equals(imitation)).toBe(true)
})

test('a blob under another key of the same id is an error, and a deleted one is not encrypted again', async () => {
  await under(first).put('raw/a', Buffer.from('x'))
  await expect(under({ id: 'first', bytes: randomBytes(32) }).get('raw/a')).rejects.toThrow('the key of its id')
  expect(await under(first).reencrypt('gone')).toBe(false)
})

test('the setting: keys of 32 bytes with ids of their own, of which the first one encrypts', async () => {
  const key = (bytes: number) => randomBytes(bytes).toString('base64')
  for (const wrong of [key(32), `a:${key(16)}`, `a:${key(33)}`, `:${key(32)}`, `ä:${key(32)}`, `${'k'.repeat(21)}:${key(32)}`])
    expect(() => readConfig({ CALLSIGN_BLOB_KEYS: wrong }), wrong).toThrow('CALLSIGN_BLOB_KEYS must be id:key')
  const one = `a:${key(32)}`
  expect(() => readConfig({ CALLSIGN_BLOB_KEYS: `${one},${one}` })).toThrow('a different id for each key')
  const config = readConfig({ CALLSIGN_BLOB_KEYS: `2026-11:${key(32)}, ${one}`, CALLSIGN_BLOBS: `file:${directory}` })
  await createBlobs(config).put('raw/a', Buffer.from('x'))
  const [file = ''] = await namesOf()
  expect(await readFile(file, 'latin1')).toMatch(/^CSE12026-11\0/)
})
