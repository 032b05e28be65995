// Files that only their owner can read.
import { chmod, open } from 'node:fs/promises'

/** Writes a file that only its owner can read. With `wx` it never overwrites a file. */
export async function writePrivate(file: string, content: string, flag: 'w' | 'wx'): Promise<void> {
  const handle = await open(file, flag, 0o600)
  try {
    await chmod(file, 0o600)
    await handle.writeFile(content)
    await handle.sync()
  } finally {
    await handle.close()
  }
}
