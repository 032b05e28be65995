// The disk probe. It reads the file system's figures, reports the fullest disk of several, and skips missing folders.
import { statfsSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { expect, test } from 'vitest'
import { watchFreeSpace } from '../src/edges/blobs/free-space.ts'

test('the probe reports the free space', async () => {
  const space = await watchFreeSpace([tmpdir(), '/nowhere/at/all'])
  const { bavail, bsize } = statfsSync(tmpdir())
  // Others write meanwhile.
  expect(Math.abs(space.bytes() - bavail * bsize)).toBeLessThan(2 ** 31)
  space.stop()
  const nowhere = await watchFreeSpace(['/nowhere/at/all'])
  expect(nowhere.bytes()).toBe(Number.POSITIVE_INFINITY)
  nowhere.stop()
})
