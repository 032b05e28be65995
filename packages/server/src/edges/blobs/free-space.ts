// How much room the disks have left, looked at every few seconds: SMTP asks at each message and must not wait for a disk.
import { statfs } from 'node:fs/promises'

export type FreeSpace = {
  /** Octets that ordinary users may still write on the fullest of the disks, as last looked at; infinite when nobody could say. */
  bytes: () => number
  stop: () => void
}

const everyMs = 5_000

/** Watches the disks that hold these folders. A folder that is not there yet, or whose file system does not tell, counts as roomy. */
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
