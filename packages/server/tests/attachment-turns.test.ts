// Owners of attachments take turns on the threads that read them: slow files of one owner do not delay those of another.
import { afterEach, describe, expect, test } from 'vitest'
import { createLog } from '../src/core/log.ts'
import { createFileReader, type FileReaderSettings } from '../src/edges/mail-worker/file-reader.ts'
import { makeOffice, toBombEntry } from './harness/sample-files.ts'

const readers: ReturnType<typeof createFileReader>[] = []
function open(settings: Partial<FileReaderSettings> = {}) {
  const reader = createFileReader({ log: createLog('silent'), taskMsMax: 120_000, ownerMsMax: 120_000, ...settings })
  readers.push(reader)
  const ended: string[] = []
  const read = async (owner: string, bytes: Buffer) => {
    const found = await reader.read({ bytes, filename: 'file', contentType: '', charactersMax: 1000, owner })
    const end = 'failure' in found ? found.failure : found.isTruncated ? 'truncated' : found.text
    ended.push(`${owner}: ${end}`)
    return end
  }
  return { reader, read, ended }
}
afterEach(async () => {
  await Promise.all(readers.splice(0).map((reader) => reader.close()))
})

const slow = makeOffice('docx', {}, [
  toBombEntry('word/document.xml', {
    before: '<w:document><w:p><w:r><w:t>',
    piece: 'a'.repeat(1024 * 1024),
    times: 400,
    after: '</w:t></w:r></w:p></w:document>',
  }),
])
const short = Buffer.from('short')

describe('slow files of one owner', () => {
  test('leave a thread free for another owner', async () => {
    const { read, ended } = open({ threadsMax: 2 })
    // Both threads run before the race, because a thread starts slowly on a machine with other work.
    await Promise.all([read('slow', short), read('other', short)])
    ended.length = 0
    const files = [read('slow', slow), read('slow', slow), read('slow', slow)]
    expect(await read('other', short)).toBe('short')
    expect(ended).toEqual(['other: short'])
    expect(await Promise.all(files)).toEqual(['truncated', 'truncated', 'truncated'])
  })

  test('take turns with those of another owner on one thread', async () => {
    const { read, ended } = open({ threadsMax: 1 })
    await Promise.all([read('slow', slow), read('slow', slow), read('slow', slow), read('other', short)])
    expect(ended).toEqual(['slow: truncated', 'other: short', 'slow: truncated', 'slow: truncated'])
  })

  test('end when the time of their owner is used up and another owner waits', async () => {
    const { read, ended } = open({ threadsMax: 1, ownerMsMax: 10, ownerTaskMsMin: 10 })
    await Promise.all([read('slow', slow), read('other', short)])
    expect(ended).toEqual(['slow: busy', 'other: short'])
  })

  test('are read to their end while no other owner waits', async () => {
    const { read } = open({ threadsMax: 1, ownerMsMax: 10, ownerTaskMsMin: 10 })
    expect(await Promise.all([read('slow', slow), read('slow', short)])).toEqual(['truncated', 'short'])
  })

  test('of many owners do not fill the queue of another', async () => {
    const { read } = open({ threadsMax: 1, filesMax: 4, filesPerOwnerMax: 2 })
    const owners = ['a', 'a', 'b', 'b', 'c', 'c']
    expect(await Promise.all(owners.map((owner) => read(owner, short)))).toEqual(['short', 'short', 'short', 'short', 'short', 'busy'])
  })
})
