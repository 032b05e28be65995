// Free disk space, measured every few seconds. SMTP needs it for each message and must not wait for a disk.
import { statfs } from 'node:fs/promises'

export type FreeSpace = {
  /** Octets that ordinary users may still write on the fullest disk, as last measured. Infinite when unknown. */
  bytes: () => number
  stop: () => void
}

const everyMs = 5_000

/** Watches the disks of these folders. A missing folder, or a file system without this information, counts as having enough space. */
export async function watchFreeSpace(folders: string[]): Promise<FreeSpace> {
  let bytes = Number.POSITIVE_INFINITY
  const look = async () => {
    const rooms = await Promise.all(
      folders.map((folder) =>
        statfs(folder).then(
          ({ bavail, bsize }) => bavail * bsize,
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
