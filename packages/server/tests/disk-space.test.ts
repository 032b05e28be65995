// The probe of the disks: what the file system says, the fullest of several, and no word about folders that are not there.
import { statfsSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { expect, test } from 'vitest'
import { watchFreeSpace } from '../src/edges/blobs/free-space.ts'

test('the room that is left', async () => {
  const space = await watchFreeSpace([tmpdir(), '/nowhere/at/all'])
  const { bavail, bsize } = statfsSync(tmpdir())
  // Others write meanwhile.
  expect(Math.abs(space.bytes() - bavail * bsize)).toBeLessThan(2 ** 31)
  space.stop()
  const nowhere = await watchFreeSpace(['/nowhere/at/all'])
  expect(nowhere.bytes()).toBe(Number.POSITIVE_INFINITY)
  nowhere.stop()
})
