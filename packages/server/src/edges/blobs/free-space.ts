// Free disk space, measured every few seconds. SMTP needs it for each message and must not wait for a disk.
import { statfs } from 'node:fs/promises'

export type FreeSpace = {
  /** Octets that ordinary users may still write on the fullest disk, as last measured. Infinite when unknown. */
  bytes: () => number
  stop: () => void
}

const everyMs = 5_000

/** The space of a folder's disk. Free is what ordinary users may still write. */
export async function readDisk(folder: string): Promise<{ freeBytes: number; sizeBytes: number }> {
  const { bavail, blocks, bsize } = await statfs(folder)
  return { freeBytes: bavail * bsize, sizeBytes: blocks * bsize }
}

/** Watches the disks of these folders. A missing folder, or a file system without this information, counts as having enough space. */
export async function watchFreeSpace(folders: string[]): Promise<FreeSpace> {
  let bytes = Number.POSITIVE_INFINITY
  const look = async () => {
    const rooms = await Promise.all(
      folders.map((folder) =>
        readDisk(folder).then(
          ({ freeBytes }) => freeBytes,
          () => Number.POSITIVE_INFINITY,
        ),
      ),
    )
    bytes = Math.min(Number.POSITIVE_INFINITY, ...rooms)
  }
  await look()
  const timer = setInterval(() => void look(), everyMs)
  timer.unref()
  return { bytes: () => bytes, stop: () => clearInterval(timer) }
}
